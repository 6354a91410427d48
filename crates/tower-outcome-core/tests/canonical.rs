//! The canonical form has the bytes of RFC 8785, and refuses what those would merge.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tower_outcome_core::canonical::{self, Canonicalizer};

/// The vectors of the RFC's author (github.com/cyberphone/json-canonicalization).
macro_rules! vectors {
    ($($name:ident)*) => {
        [$((
            stringify!($name),
            include_str!(concat!("data/jcs/input/", stringify!($name), ".json")),
            include_str!(concat!("data/jcs/output/", stringify!($name), ".json")),
        )),*]
    };
}

#[test]
fn the_published_vectors_come_out_byte_for_byte() {
    for (name, input, output) in vectors!(arrays french structures unicode values weird) {
        let mut canonicalizer = Canonicalizer::rounding();
        let from_text = canonicalizer.text(input).unwrap().to_vec();
        assert_eq!(
            String::from_utf8(from_text).unwrap(),
            output,
            "{name}, text"
        );

        let value: Value = serde_json::from_str(input).unwrap();
        assert_eq!(
            canonicalizer.value(&value).unwrap(),
            output.as_bytes(),
            "{name}, value"
        );
    }
}

#[test]
fn the_vectors_without_huge_numbers_need_no_rounding() {
    for (name, input, output) in vectors!(arrays french structures unicode weird) {
        assert_eq!(
            canonical::from_str(input).unwrap(),
            output.as_bytes(),
            "{name}"
        );
    }
    let (_, values, _) = vectors!(values)[0];
    let error = canonical::from_str(values).unwrap_err();
    assert_eq!(
        error.field(),
        "/numbers/1",
        "1E30 has neighbours of the same spelling"
    );
}

/// RFC 8785 appendix B.
#[test]
fn the_numbers_of_the_rfc_are_printed_as_it_has_them() {
    let numbers = [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ];
    for (bits, text) in numbers {
        assert_eq!(printed(f64::from_bits(bits)), text, "{bits:016x}");
    }
}

/// The first 100,000 lines of the number stream that the RFC's author publishes a hash of.
#[test]
fn a_hundred_thousand_doubles_hash_to_the_published_sum() {
    let published = [
        0x2277_6e6d_4b49_fa29_4a0d_0f34_9268_e5c2,
        0x8808_fe7e_0cb2_bcbe_28f6_3894_e494_d4c7,
    ];
    assert_eq!(sum_of(published_doubles().take(100_000)), published);
}

/// Edge cases, doubles drawn at random and amounts in cents: the sum of the lines that an
/// implementation of other hands printed for them.
#[test]
fn doubles_and_amounts_hash_to_the_sum_of_other_hands() {
    let (drawn, _) = include_bytes!("data/jcs/drawn_doubles.bin").as_chunks();
    let drawn = drawn.iter().copied().map(f64::from_be_bytes);
    let amounts = (0..20_000).map(|n| f64::from(n * 7919 % 1_000_003) / 100.0);
    let all = drawn.chain(amounts);
    let other = [
        0xba0d_65ac_77d6_0dee_38b8_6886_6fba_9ef9,
        0x8f59_4c7a_5eed_069e_3e1e_7561_da4a_0d9e,
    ];
    assert_eq!(sum_of(all), other);
}

#[test]
fn amounts_keep_the_digits_that_they_are_written_with() {
    for cents in (0..20_000).map(|n| n * 79) {
        let (whole, cents) = (cents / 100, cents % 100);
        let written = format!("{whole}.{cents:02}");
        let short = written.trim_end_matches('0').trim_end_matches('.');
        assert_eq!(canonical::from_str(&written).unwrap(), short.as_bytes());
        let value: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(canonical::to_vec(&value).unwrap(), short.as_bytes());
    }
}

#[test]
fn one_value_has_one_spelling() {
    let spellings = [
        (r#"{"b":1,"a":2}"#, r#"{ "a" : 2, "b" : 1 }"#),
        ("20", "2e1"),
        ("20", "20.000"),
        ("-0", "0"),
        ("-0.0", "0e9"),
        ("0.000001", "1E-6"),
        ("9007199254740991", "9007199254740991.0"),
        (r#""\u000a\/""#, r#""\n/""#),
        (r#""\ud83d\ude02""#, r#""😂""#),
        (r#"{"\u0061":1}"#, r#"{"a":1}"#),
    ];
    for (one, other) in spellings {
        let (a, b) = (
            canonical::from_str(one).unwrap(),
            canonical::from_str(other).unwrap(),
        );
        assert_eq!(a, b, "{one} and {other}");
    }
}

#[test]
fn names_are_sorted_by_utf_16_code_units() {
    let input = "{\"\u{fb33}\":1,\"\u{1f602}\":2,\"\u{ff21}\":3,\"z\":4,\"\u{20ac}\":5}";
    let sorted = "{\"z\":4,\"\u{20ac}\":5,\"\u{1f602}\":2,\"\u{fb33}\":1,\"\u{ff21}\":3}";
    assert_eq!(canonical::from_str(input).unwrap(), sorted.as_bytes());
    let value: Value = serde_json::from_str(input).unwrap();
    assert_eq!(canonical::to_vec(&value).unwrap(), sorted.as_bytes());
}

#[test]
fn what_would_be_merged_is_refused_where_it_stands() {
    let refused = [
        ("/a", r#"{"a":1,"a":2}"#),
        ("/a", r#"{"a":1,"b":0,"\u0061":1}"#),
        ("/x/1/a~1b~0", r#"{"x":[0,{"a/b~":1,"a/b~":1}]}"#),
        ("/n", r#"{"n":9007199254740992}"#),
        ("/n", r#"{"n":-9007199254740993}"#),
        ("/n", r#"{"n":9007199254740993.0}"#),
        ("/n", r#"{"n":18446744073709551616}"#),
        ("/l/2", r#"{"l":[1,2,1e16]}"#),
        ("/n", r#"{"n":1e400}"#),
    ];
    for (field, text) in refused {
        let error = canonical::from_str(text).unwrap_err();
        assert_eq!(error.field(), field, "{text}: {error}");
    }
    for value in [
        json!(9_007_199_254_740_992_u64),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1e16),
    ] {
        assert!(canonical::to_vec(&value).is_err(), "{value}");
    }
}

#[test]
fn a_rounding_writer_still_refuses_what_no_double_holds() {
    let mut canonicalizer = Canonicalizer::rounding();
    assert_eq!(
        canonicalizer.text("9007199254740993").unwrap(),
        b"9007199254740992"
    );
    assert_eq!(
        canonicalizer.value(&json!(u64::MAX)).unwrap(),
        b"18446744073709552000"
    );
    assert!(canonicalizer.text("1e400").is_err());
}

#[test]
fn text_that_is_no_json_is_refused() {
    let refused = [
        "",
        " ",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "'a'",
        "01",
        "1.",
        ".5",
        "+1",
        "-",
        "1e",
        "1e+",
        "NaN",
        "Infinity",
        "nul",
        "truefalse",
        "1 2",
        "{} x",
        "\"a",
        "\"\t\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\n\"",
        "\"\\ud800\\u0041\"",
        "\u{feff}{}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "[1 2]",
        "\"\\",
        "\"\\é",
        "//\n{}",
        "0x10",
    ];
    for text in refused {
        assert!(canonical::from_str(text).is_err(), "{text}");
        assert!(
            serde_json::from_str::<Value>(text).is_err(),
            "{text}, in serde_json's view"
        );
    }
}

#[test]
fn nesting_ends_at_127_levels() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(canonical::from_str(&nested(127)).is_ok());
    assert!(canonical::from_str(&nested(128)).is_err());

    let value = (0..128).fold(Value::Null, |inner, _| json!([inner]));
    assert!(canonical::to_vec(&value).is_err());
}

#[test]
fn a_refusal_shows_no_value() {
    let error = canonical::from_str(r#"{"card":9999999999999999}"#).unwrap_err();
    assert!(!error.to_string().contains("9999"), "{error}");
    let error = canonical::from_str(r#"{"card":"4111"secret}"#).unwrap_err();
    assert!(!error.to_string().contains("4111"), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn a_canonicalizer_forgets_a_refused_value() {
    let mut canonicalizer = Canonicalizer::new();
    assert!(canonicalizer.text(r#"{"a":{"b":[1e400"#).is_err());
    assert_eq!(
        canonicalizer.text(r#"{"b":1,"a":2}"#).unwrap(),
        br#"{"a":2,"b":1}"#
    );
}

/// The hash of the lines that stand for `doubles`, each of which is read back.
fn sum_of(doubles: impl Iterator<Item = f64>) -> [u128; 2] {
    let mut sum = Sha256::new();
    for double in doubles {
        let text = printed(double);
        sum.update(format!("{:x},{text}\n", double.to_bits()));

        let again = Canonicalizer::rounding().text(&text).unwrap().to_vec();
        assert_eq!(String::from_utf8(again).unwrap(), text, "read back");
    }
    let sum: [u8; 32] = sum.finalize().into();
    let (halves, _) = sum.as_chunks();
    [halves[0], halves[1]].map(u128::from_be_bytes)
}

fn printed(double: f64) -> String {
    let bytes = Canonicalizer::rounding()
        .value(&json!(double))
        .unwrap()
        .to_vec();
    String::from_utf8(bytes).unwrap()
}

/// The stream that `testdata/README.md` of the vectors describes: a fixed head, the smallest
/// normal doubles, and then whatever a chain of SHA-256 sums holds that is finite and not zero.
fn published_doubles() -> impl Iterator<Item = f64> {
    let head = include_str!("data/jcs/doubles.txt").lines();
    let head = head.map(|bits| u64::from_str_radix(bits, 16).unwrap());
    let smallest = (0..2000).map(|n| 0x0010_0000_0000_0000 + n);

    let mut block = [0; 32];
    let chain = std::iter::repeat_with(move || {
        block = Sha256::digest(block).into();
        block
    });
    let chain = chain.flat_map(|block| {
        let (doubles, _) = block.as_chunks::<8>();
        doubles.to_vec()
    });
    let chain = chain.map(f64::from_le_bytes);
    let chain = chain.filter(|double| *double != 0.0 && double.is_finite());
    head.chain(smallest).map(f64::from_bits).chain(chain)
}
