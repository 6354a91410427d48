//! A rule makes spellings of one value one, keeps other values apart, and refuses what it would
//! have to guess.

use tower_outcome_core::IntentRules;
use tower_outcome_core::rule::{
    ValueRule, bag, date, decimal, default, exact, id, instant, int, lower, nfc, set, squash, trim,
    upper,
};

use support::{derive, each_line};

#[path = "intent/support.rs"]
mod support;

/// Checks a table of values of one member, read by `rule`.
#[track_caller]
fn values(rule: &ValueRule, table: &str) {
    let rules = IntentRules::new("tool").key("/v", rule.clone());
    each_line(&rules, table, |value| format!("{{\"v\":{value}}}"));
}

#[test]
fn decimal_reads_amounts_of_so_many_places() {
    values(
        &decimal(2),
        r#"
            20 == 20.00
            "20.0" == 2e1
            " 20.00\u00a0" == 20
            "+7.5" == 7.50
            -0.00 == 0
            "-0" == 0
            "007.10" == 7.1
            -0.05 == "-.05"
            "1.5E+1" == 15
            99999999999999.99 == "99999999999999.99"
            "123456789012345678901234567890.12" != "123456789012345678901234567890.13"
            20 != -20
            20 != 2000
            20.01 != 20.1
            null != 0
            20.001 refused
            0.30000000000000004 refused
            "20,00" refused
            "1,234.50" refused
            "1 234.50" refused
            "1_000" refused
            "€20" refused
            "20 EUR" refused
            "--5" refused
            "+-5" refused
            "\u22125" refused
            "٢٠" refused
            "0x14" refused
            "" refused
            "." refused
            "1e" refused
            "1e99" refused
            1e20 refused
            9007199254740993 refused
            true refused
            [20] refused
            {"n":20} refused
        "#,
    );
}

#[test]
fn a_number_that_a_value_cannot_keep_is_refused_as_an_amount() {
    let rules = IntentRules::new("tool").key("/v", decimal(2));
    for amount in [99_999_999_999_999.99, 45_035_996_273_704.97] {
        let error = rules
            .intent("acme", &serde_json::json!({ "v": amount }))
            .unwrap_err();
        assert_eq!(error.field(), "/v");
    }
    let kept = rules
        .intent("acme", &serde_json::json!({ "v": 45_035_996_273_704.95 }))
        .unwrap();
    assert_eq!(
        kept.key(),
        derive(&rules, r#"{"v":"45035996273704.95"}"#)
            .unwrap()
            .key()
    );
}

#[test]
fn a_new_decimal_rule_misses_old_keys_instead_of_meeting_others() {
    let (plain, amounts) = (
        IntentRules::new("pay"),
        IntentRules::new("pay").key("/v", decimal(2)),
    );
    let cents = derive(&plain, r#"{"v":2000}"#).unwrap();
    assert_ne!(derive(&amounts, r#"{"v":20}"#).unwrap().key(), cents.key());
}

#[test]
fn int_reads_whole_numbers() {
    values(
        &int(),
        r#"
            2000 == 2000.0
            2e3 == "2000"
            2000 != 2001
            2000.5 refused
            "2,000" refused
            9007199254740992 refused
            false refused
        "#,
    );
}

#[test]
fn id_reads_numbers_by_their_digits() {
    values(
        &id(),
        r#"
            1001 == "1001"
            1001.0 == 1001
            9007199254740993 == "9007199254740993"
            9007199254740993 != 9007199254740992
            123456789012345678901234567890 == "123456789012345678901234567890"
            123456789012345678901234567890 != 123456789012345678901234567891
            "01001" != 1001
            "1001 " != 1001
            "a" != "A"
            "1001.0" != 1001
            1001.5 refused
            1e400 refused
            true refused
            [1] refused
        "#,
    );
    let rules = IntentRules::new("tool").key("/v", id());
    let value = serde_json::json!({ "v": u64::MAX });
    let text = derive(&rules, r#"{"v":"18446744073709551615"}"#).unwrap();
    assert_eq!(rules.intent("acme", &value).unwrap().key(), text.key());
    assert!(
        rules
            .intent("acme", &serde_json::json!({ "v": 1e17 }))
            .is_err(),
        "a rounded id"
    );
}

#[test]
fn text_rules_fold_what_they_say_and_no_more() {
    values(
        &trim(),
        r#"
            "A-1" == " A-1\n"
            "A-1" == "A-1\u00a0"
            "A 1" != "A  1"
            "A-1" != "a-1"
            "A-1" != "A\u20111"
            7 == 7.0
            7 != "7"
        "#,
    );
    values(
        &squash(),
        r#"
            " a  b\t" == "a b"
            "a\u00a0\n b" == "a b"
            "ab" != "a b"
        "#,
    );
    values(
        &upper(),
        r#"
            "eur" == "EUR"
            "ß" != "SS"
            "ä" != "Ä"
        "#,
    );
    values(
        &lower(),
        r#"
            "Zoe@X" == "zoe@x"
            "İ" != "i"
            "\u212a" != "k"
        "#,
    );
    values(
        &nfc(),
        r#"
            "Zoe\u0308" == "Zo\u00eb"
            "\u212b" == "\u00c5"
            "\uff21" != "A"
        "#,
    );
    values(
        &exact(),
        r#"
            "a" != "a "
            "e\u0308" != "\u00eb"
        "#,
    );
}

#[test]
fn rules_work_one_after_the_other() {
    values(
        &id().trim().upper(),
        r#"
            " a-7 " == "A-7"
            7 == " 7"
        "#,
    );
    values(
        &trim().date(),
        r#"
            " 2026-03-01" == "2026-03-01"
        "#,
    );
    values(
        &default("eur").upper(),
        r#"
            null == "EUR"
        "#,
    );
}

#[test]
fn lists_count_as_declared() {
    values(
        &set(),
        r#"
            ["a","b"] == ["b","a"]
            ["a","b","a"] == ["b","a"]
            [{"s":"b","q":1},{"s":"a","q":2}] == [{"q":2,"s":"a"},{"q":1,"s":"b"}]
            [1,10,2] == [10,2,1.0]
            [[1,2]] != [[2,1]]
            ["a"] != "a"
            [] != [null]
            ["a,b"] != ["a","b"]
        "#,
    );
    values(
        &bag(),
        r#"
            ["a","b","a"] == ["a","a","b"]
            ["a","b","a"] != ["a","b"]
        "#,
    );
    values(&exact(), "[1,2] != [2,1]");
}

#[test]
fn dates_are_dates() {
    values(
        &date(),
        r#"
            "2026-03-01" != "2026-03-02"
            "2024-02-29" != "2024-03-01"
            "2026-02-29" refused
            "1900-02-29" refused
            "2026-04-31" refused
            "2026-13-01" refused
            "2026-00-01" refused
            "2026-3-1" refused
            "01/03/2026" refused
            "20260301" refused
            "2026-03-01T00:00:00Z" refused
            "2026-03-01 " refused
            20260301 refused
            true refused
            ["2026-03-01"] refused
        "#,
    );
    values(
        &date(),
        r#"
            "2000-02-29" != "2000-02-28"
            "0000-02-29" != null
        "#,
    );
}

#[test]
fn instants_are_one_in_every_zone() {
    values(
        &instant(),
        r#"
            "2026-03-01T13:00:00+01:00" == "2026-03-01T12:00:00Z"
            "2026-03-01t12:00:00z" == "2026-03-01T12:00:00Z"
            "2026-03-01T12:00:00.000Z" == "2026-03-01T12:00:00Z"
            "2026-03-01T12:00:00.120Z" == "2026-03-01T12:00:00.12Z"
            "2026-03-01T12:00:00-00:00" == "2026-03-01T12:00:00Z"
            "2026-02-28T23:30:00-12:30" == "2026-03-01T12:00:00Z"
            "2026-03-02T11:59:00+23:59" == "2026-03-01T12:00:00Z"
            "2025-01-01T00:30:00+01:00" == "2024-12-31T23:30:00Z"
            "2024-02-29T23:59:60Z" == "2024-03-01T00:59:60+01:00"
            "2024-02-29T23:59:60Z" != "2024-03-01T00:00:00Z"
            "2026-03-01T12:00:00.1Z" != "2026-03-01T12:00:00Z"
            "2026-03-01T12:00:01Z" != "2026-03-01T12:00:00Z"
            "2026-03-01T12:00:00+01:00" != "2026-03-01T12:00:00Z"
            "2026-03-01T12:00:00" refused
            "2026-03-01" refused
            "2026-03-01 12:00:00Z" refused
            "2026-03-01T12:00Z" refused
            "2026-03-01T24:00:00Z" refused
            "2026-03-01T12:60:00Z" refused
            "2026-03-01T12:00:60Z" refused
            "2026-03-01T12:00:00.Z" refused
            "2026-03-01T12:00:00+0100" refused
            "2026-03-01T12:00:00+24:00" refused
            "2026-03-01T12:00:00ZZ" refused
            "2026-02-30T12:00:00Z" refused
            "0000-01-01T00:00:00+00:01" refused
            "9999-12-31T23:59:00-00:01" refused
            "01/03/2026" refused
            "" refused
            1772366400 refused
        "#,
    );
}

#[test]
fn a_refusal_names_place_rule_and_kind_and_never_the_value() {
    let rules = IntentRules::new("pay")
        .key("/amount", decimal(2))
        .key("/at", instant())
        .key("/who", id());
    let refused = [
        (
            r#"{"amount":"secret"}"#,
            ["/amount", "decimal(2)", "a string"],
        ),
        (
            r#"{"amount":73.123}"#,
            ["/amount", "decimal(2)", "a number"],
        ),
        (
            r#"{"amount":{"secret":73}}"#,
            ["/amount", "decimal(2)", "an object"],
        ),
        (
            r#"{"at":"73 o'clock, secret"}"#,
            ["/at", "instant", "a string"],
        ),
        (r#"{"who":true}"#, ["/who", "id", "a boolean"]),
        (r#"{"who":["secret"]}"#, ["/who", "id", "an array"]),
    ];
    for (text, parts) in refused {
        let error = derive(&rules, text).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{error}");
        }
        assert!(
            !error.contains("secret") && !error.contains("73"),
            "{error}"
        );
    }
}
