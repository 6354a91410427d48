//! A fingerprint names what differs, keeps no value, and comes back from a store.

use tower_outcome_core::Fingerprint;

fn fingerprint(parts: &[(&str, &str)]) -> Fingerprint {
    parts
        .iter()
        .fold(Fingerprint::default(), |all, (name, bytes)| {
            all.with_part(name, bytes.as_bytes())
        })
}

#[test]
fn the_first_difference_is_named() {
    let one = fingerprint(&[("/amount", "20"), ("/to", "d"), ("body", "x")]);
    let others = [
        (
            fingerprint(&[("body", "x"), ("/to", "d"), ("/amount", "20")]),
            None,
        ),
        (
            fingerprint(&[("/amount", "21"), ("/to", "e"), ("body", "x")]),
            Some("/amount"),
        ),
        (
            fingerprint(&[("/amount", "20"), ("body", "x")]),
            Some("/to"),
        ),
        (
            fingerprint(&[("/amount", "20"), ("/in", "a"), ("/to", "d"), ("body", "x")]),
            Some("/in"),
        ),
        (
            fingerprint(&[("/amount", "20"), ("/to", "d")]),
            Some("body"),
        ),
        (Fingerprint::default(), Some("/amount")),
    ];
    for (other, expected) in others {
        assert_eq!(one.differs(&other), expected, "{other:?}");
        assert_eq!(
            other.differs(&one),
            expected,
            "{other:?}, the other way round"
        );
        assert_eq!(one == other, expected.is_none());
    }
}

#[test]
fn a_name_belongs_to_its_bytes() {
    assert_eq!(
        fingerprint(&[("a", "bc")]).differs(&fingerprint(&[("ab", "c")])),
        Some("a")
    );
    let replaced = fingerprint(&[("a", "1"), ("a", "2")]);
    assert_eq!(replaced, fingerprint(&[("a", "2")]));
}

/// Computed by other code; texts in ledgers depend on it.
#[test]
fn the_text_is_what_it_always_was() {
    let one = fingerprint(&[("/amount", "2000")]);
    assert_eq!(
        one.to_text(),
        r#"{"/amount":"0652eda73abe65482199d97a9eeb6822"}"#
    );
    assert_eq!(Fingerprint::default().to_text(), "{}");
}

#[test]
fn a_store_gives_back_what_it_was_given() {
    for one in [
        Fingerprint::default(),
        fingerprint(&[
            ("/a~1b", "1"),
            ("quote\"", "2"),
            ("ü\u{1f602}\n", "3"),
            ("", "4"),
        ]),
    ] {
        assert_eq!(Fingerprint::from_text(&one.to_text()).unwrap(), one);
    }
}

#[test]
fn other_text_is_refused() {
    let refused = [
        "",
        "null",
        "[]",
        "{",
        r#"{"a":1}"#,
        r#"{"a":"12"}"#,
        r#"{"a":"0652EDA73ABE65482199D97A9EEB6822"}"#,
        r#"{"a":"0652eda73abe65482199d97a9eeb68222"}"#,
        r#"{"a":"ü652eda73abe65482199d97a9eeb682"}"#,
    ];
    for text in refused {
        assert!(Fingerprint::from_text(text).is_err(), "{text}");
    }
}

#[test]
fn no_value_is_kept() {
    let one = fingerprint(&[("/card", "4111111111111111")]);
    assert!(!format!("{one:?}{}", one.to_text()).contains("4111"));
}
