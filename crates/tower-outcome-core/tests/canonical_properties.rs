//! The canonical form agrees with an implementation of other hands, and its reader with serde's.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Map, Number, Value};
use tower_outcome_core::canonical::{self, Canonicalizer};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_equal_those_of_another_implementation(value in value()) {
        let theirs = serde_json_canonicalizer::to_vec(&value).unwrap();
        prop_assert_eq!(&canonical::to_vec(&value).unwrap(), &theirs);
        prop_assert_eq!(&canonical::from_str(&value.to_string()).unwrap(), &theirs);
    }

    #[test]
    fn rounded_bytes_equal_those_of_another_implementation(bits in any::<u64>()) {
        let numbers = [
            Number::from_f64(f64::from_bits(bits)).unwrap_or(Number::from(0)),
            Number::from(bits),
            Number::from(bits.cast_signed()),
        ];
        for number in numbers {
            let value = Value::Number(number);
            let theirs = serde_json_canonicalizer::to_vec(&value).unwrap();
            let mut ours = Canonicalizer::rounding();
            prop_assert_eq!(ours.value(&value).unwrap(), &theirs);
        }
    }

    #[test]
    fn layout_and_order_of_members_do_not_count(value in value(), seed in any::<u64>()) {
        let mut text = String::new();
        print_shuffled(&value, &mut Chance(seed), &mut text);
        prop_assert_eq!(canonical::from_str(&text).unwrap(), canonical::to_vec(&value).unwrap());
    }

    #[test]
    fn the_canonical_form_of_a_canonical_form_is_itself(value in value()) {
        let bytes = canonical::to_vec(&value).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        prop_assert_eq!(canonical::from_str(&text).unwrap(), bytes);
    }

    #[test]
    fn damaged_text_is_read_as_serde_reads_it(
        value in value(),
        at in any::<prop::sample::Index>(),
        piece in prop::sample::select(PIECES),
        removed in 0..3_usize,
    ) {
        let mut text: Vec<char> = value.to_string().chars().collect();
        let at = at.index(text.len());
        let end = (at + removed).min(text.len());
        text.splice(at..end, piece.chars());
        let text: String = text.into_iter().collect();

        let ours = Canonicalizer::rounding().text(&text).map(<[u8]>::to_vec);
        match serde_json::from_str::<Value>(&text) {
            Ok(value) => match (ours, Canonicalizer::rounding().value(&value)) {
                (Ok(ours), _) => {
                    prop_assert_eq!(ours, serde_json_canonicalizer::to_vec(&value).unwrap());
                }
                (Err(error), Ok(_)) => {
                    prop_assert!(error.to_string().contains("twice"), "{}: {}", text, error);
                }
                (Err(_), Err(_)) => {}
            },
            Err(_) => prop_assert!(ours.is_err(), "{}", text),
        }
    }
}

/// A value that RFC 8785 keeps apart from all others.
fn value() -> impl Strategy<Value = Value> {
    let safe = (1_i64 << 53) - 1;
    let number = prop_oneof![
        (-safe..=safe).prop_map(Number::from),
        any::<f64>()
            .prop_filter("kept by a double", move |n| n.abs()
                < 9_007_199_254_740_992.0)
            .prop_filter_map("finite", Number::from_f64),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number.prop_map(Value::Number),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::vec((text(), inner), 0..8)
                .prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

/// Text of the characters in which the sort orders and the escapes differ, and of any others.
fn text() -> impl Strategy<Value = String> {
    let letter = prop_oneof![
        prop::sample::select(vec![
            'a', 'b', '"', '\\', '/', '\u{7f}', '\u{2028}', '\u{d7ff}'
        ]),
        prop::sample::select(vec![
            '\u{e000}',
            '\u{fb33}',
            '\u{ffff}',
            '\u{10000}',
            '\u{1f602}'
        ]),
        (0..0x20_u8).prop_map(char::from),
        any::<char>(),
    ];
    prop::collection::vec(letter, 0..6).prop_map(String::from_iter)
}

/// Prints members in an order of chance, with white space, and some letters as escapes.
fn print_shuffled(value: &Value, chance: &mut Chance, out: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            for end in (1..members.len()).rev() {
                members.swap(end, chance.below(end + 1));
            }
            out.push_str("{ ");
            for (at, (name, value)) in members.into_iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "\n,\t" });
                print_escaped(name, chance, out);
                out.push_str(" : ");
                print_shuffled(value, chance, out);
            }
            out.push('}');
        }
        Value::Array(elements) => {
            out.push('[');
            for (at, value) in elements.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { " ,\r\n" });
                print_shuffled(value, chance, out);
            }
            out.push_str(" ]");
        }
        Value::String(text) => print_escaped(text, chance, out),
        other => out.push_str(&other.to_string()),
    }
}

fn print_escaped(text: &str, chance: &mut Chance, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        if letter < ' ' || matches!(letter, '"' | '\\') || chance.below(4) == 0 {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04X}").unwrap();
            }
        } else {
            out.push(letter);
        }
    }
    out.push('"');
}

/// Numbers that look random and come from a seed (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// What damages a text in ways that a reader may overlook.
const PIECES: &[&str] = &[
    "", " ", ",", ":", "[", "]", "{", "}", "\"", "\\", "\\u", "\\ud800", "\\udc00", "\\u0000", "0",
    "-", "+", ".", "e", "E9", "1e400", "null", "true", "\"a\":1,", "\u{1}", "\u{feff}", "é", "/",
];
