//! The `Idempotency-Key` header is read as the structured field that it is (RFC 9651).

use serde_json::Value;
use tower_outcome_core::key::sf::{self, Item};

/// Files of the working group's test suite.
macro_rules! suite {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("data/structured-field-tests/", $name, ".json")))),*]
    };
}

#[test]
fn items_are_read_as_the_test_suite_has_them() {
    let files = suite!(
        "binary" "boolean" "date" "display-string" "item" "number" "number-generated" "param-list"
        "string" "string-generated" "token" "token-generated"
    );
    let mut read = 0;
    for (file, text) in files {
        for case in cases(text) {
            let lines = case["raw"].as_array().unwrap();
            let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
            let about = format!("{file}: {}: {lines:?}", case["name"]);

            // A list of one member is read as that member, and no list as an Item is more than it.
            let list = case["header_type"] == "list";
            let expected = if list {
                &case["expected"][0]
            } else {
                &case["expected"]
            };
            let many = list
                && case["expected"]
                    .as_array()
                    .is_some_and(|list| list.len() != 1);
            let item = sf::item(&lines);
            if case["must_fail"] == true || many {
                assert!(item.is_err(), "{about}: {item:?}");
            } else if case["can_fail"] != true {
                assert_eq!(item.expect(&about), kind(&expected[0]), "{about}");
            }
            read += 1;
        }
    }
    assert!(read > 800, "only {read} cases");
}

#[test]
fn what_the_suite_lets_a_reader_refuse_is_decided() {
    assert_eq!(
        sf::item([":aGVsbG8:"]).unwrap(),
        Item::Binary,
        "padding may be missing"
    );
    assert_eq!(
        sf::item([":iZ==:"]).unwrap(),
        Item::Binary,
        "pad bits are not looked at"
    );
    assert_eq!(sf::item([":aG:"]).unwrap(), Item::Binary);
    assert!(sf::item([":a:"]).is_err(), "six bits are no byte");
    assert_eq!(sf::item(["@999999999999999"]).unwrap(), Item::Date);
    assert!(
        sf::item(["\"foo", "bar\""]).is_err(),
        "two lines are two fields"
    );
}

#[test]
fn strings_are_written_as_the_test_suite_has_them() {
    let text = include_str!("data/structured-field-tests/string-serialisation.json");
    for case in cases(text) {
        let string = case["expected"][0].as_str().unwrap();
        if case["must_fail"] == true {
            assert!(sf::string(string).is_err(), "{string:?}");
        } else {
            assert_eq!(
                sf::string(string).unwrap(),
                case["canonical"][0].as_str().unwrap()
            );
        }
    }
    for case in cases(include_str!(
        "data/structured-field-tests/string-generated.json"
    )) {
        if let Some(string) = case["expected"][0].as_str() {
            let written = sf::string(string).unwrap();
            assert_eq!(
                sf::item([written]).unwrap(),
                Item::String(string.to_owned())
            );
        }
    }
}

#[test]
fn a_quoted_key_is_read_without_its_quotes_and_parameters() {
    let keys = [
        ("\"8e03978e-40d5\"", "8e03978e-40d5"),
        ("  \"k\"  ", "k"),
        ("\"k\";v=1", "k"),
        ("\"k\"; v=\"x;y\";flag;n=-1.5", "k"),
        ("\"a,b\"", "a,b"),
        ("\"a\\\"b\\\\c\"", "a\"b\\c"),
    ];
    for (line, key) in keys {
        assert_eq!(sf::idempotency_key([line]).unwrap(), key, "{line}");
        assert_eq!(
            sf::idempotency_key([line.as_bytes()]).unwrap(),
            key,
            "{line}"
        );
    }
}

#[test]
fn what_is_no_key_is_refused() {
    let refused = [
        "",
        " ",
        "\"\"",
        "\"  \"",
        "abc",
        "8e03978e",
        "*k",
        "12",
        "1.5",
        "@1",
        "?1",
        ":aGk=:",
        "%\"k\"",
        "'k'",
        "\"k",
        "k\"",
        "\"k\" x",
        "\"k\" ;v=1",
        "\"k\";",
        "\"k\";V=1",
        "\"k\";v=",
        "\"k\"\t",
        "\t\"k\"",
        "\"k\", \"k\"",
        "\"a\\nb\"",
        "\"k\\",
        "\"\u{fc}\"",
        "\"\u{7f}\"",
        "\"\0\"",
        "(\"k\")",
    ];
    for line in refused {
        assert!(sf::idempotency_key([line]).is_err(), "{line:?}");
    }
    assert!(sf::idempotency_key::<&str>([]).is_err(), "absent");
    assert!(sf::idempotency_key(["\"k\"", "\"k\""]).is_err(), "twice");
    assert!(
        sf::idempotency_key(["\"a", "b\""]).is_err(),
        "a key that joining would make"
    );
}

#[test]
fn a_refusal_shows_nothing_of_the_key() {
    for line in ["secret-key", "\"secret-key", "\"secret-key\", x"] {
        let error = sf::idempotency_key([line]).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}

fn cases(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

/// The kind of a bare item in the suite's notation.
fn kind(expected: &Value) -> Item {
    match expected {
        Value::Bool(_) => Item::Boolean,
        Value::Number(number) if number.is_f64() => Item::Decimal,
        Value::Number(_) => Item::Integer,
        Value::String(text) => Item::String(text.clone()),
        other => match other["__type"].as_str() {
            Some("binary") => Item::Binary,
            Some("date") => Item::Date,
            Some("displaystring") => Item::DisplayString,
            Some("token") => Item::Token,
            _ => panic!("{other} is no bare item"),
        },
    }
}
