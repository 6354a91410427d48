//! One wish has one key, and two wishes have two.

use serde_json::{Value, json};
use tower_outcome_core::rule::{decimal, exact, id};
use tower_outcome_core::{IdempotencyKey, Intent, IntentRules, KeyFormat};

const SCOPE: &str = "acme/eu";

fn refund(arguments: &Value) -> Intent {
    Intent::new(SCOPE, "refund", arguments).unwrap()
}

/// Computed by other code from the parts behind their lengths; keys in ledgers depend on it.
#[test]
fn keys_are_hashed_as_they_always_were() {
    let arguments = json!({ "order": "A-1001", "amount": 20 });
    let plain = refund(&arguments);
    let rules = IntentRules::new("refund");
    let versioned = rules.clone().with_version("2026-12");
    let secret = rules.with_secret(b"0123456789abcdef");
    let golden = [
        (
            plain.clone(),
            "bf3dcadf361631693c3fd3082b4d41e52fee4e5eb90481c73564529a3a575ff4",
        ),
        (
            plain.with_occurrence(1),
            "a121520607af6b685d1abb31c5df77cc676aa623b533c14013e2ed811b021a8d",
        ),
        (
            versioned.intent(SCOPE, &arguments).unwrap(),
            "0516d1a503ad9294028c2fc787728a383b765ecc7ba66f28d03145d42d3efffc",
        ),
        (
            secret.intent(SCOPE, &arguments).unwrap(),
            "b4e5e563618ddc26a3c93afd902cd90af1c90b26f6aeed3ed93ea9511322f11f",
        ),
        (
            Intent::explicit(SCOPE, "refund", "order-7").unwrap(),
            "cede39f63ef3e87d63a691589d364d4df10b6eef22947be9ac7abec23aa13ff8",
        ),
        (
            Intent::raw(SCOPE, "refund", "order-7").unwrap(),
            "2c66e10c2fb14306201cd69403eaf99d7a239d98c78b0a016718cdef98dfb084",
        ),
    ];
    for (intent, expected) in golden {
        assert_eq!(hex(intent.key()), expected);
    }
}

#[test]
fn order_spelling_and_source_of_the_arguments_do_not_count() {
    let text = r#"{ "amount": 2e1, "order": "\u0041-1001" }"#;
    let rules = IntentRules::new("refund");
    let from_text = rules.intent_from_str(SCOPE, text).unwrap();
    let from_value = refund(&json!({ "order": "A-1001", "amount": 20.0 }));
    assert_eq!(from_text.key(), from_value.key());
}

#[test]
fn scope_tool_arguments_and_occurrence_count() {
    let arguments = json!({ "order": 7 });
    let wishes = [
        refund(&arguments),
        refund(&json!({ "order": 8 })),
        refund(&arguments).with_occurrence(1),
        refund(&arguments).with_occurrence(2),
        Intent::new("acme/us", "refund", &arguments).unwrap(),
        Intent::new(SCOPE, "cancel", &arguments).unwrap(),
        Intent::new("acme/eur", "efund", &arguments).unwrap(),
        Intent::new("acme/eu\0refund", "x", &arguments).unwrap(),
        Intent::new("acme/eu", "refund\0x", &arguments).unwrap(),
    ];
    for (at, one) in wishes.iter().enumerate() {
        for other in &wishes[at + 1..] {
            assert_ne!(one.key(), other.key(), "{one:?} and {other:?}");
        }
    }
}

#[test]
fn the_first_time_is_occurrence_zero() {
    let intent = refund(&json!({}));
    assert_eq!(intent.occurrence(), 0);
    assert_eq!(intent.clone().with_occurrence(3).occurrence(), 3);
    assert_eq!(
        intent.clone().with_occurrence(3).with_occurrence(0).key(),
        intent.key()
    );
}

#[test]
fn a_key_of_the_caller_never_meets_a_derived_one() {
    let explicit = Intent::explicit(SCOPE, "refund", "{}").unwrap();
    let raw = Intent::raw(SCOPE, "refund", "{}").unwrap();
    let derived = refund(&json!({}));
    assert_ne!(explicit.key(), derived.key());
    assert_ne!(raw.key(), derived.key());
    assert_ne!(raw.key(), explicit.key());
    assert_ne!(
        explicit.key(),
        Intent::explicit("acme/us", "refund", "{}").unwrap().key()
    );
    assert_ne!(
        explicit.key(),
        Intent::explicit(SCOPE, "cancel", "{}").unwrap().key()
    );
}

#[test]
fn a_raw_key_goes_on_the_wire_as_it_is() {
    let raw = Intent::raw(SCOPE, "refund", "order-\"7\"").unwrap();
    assert_eq!(raw.render(0, KeyFormat::Uuid), "order-\"7\"");
    assert_eq!(raw.render(5, KeyFormat::Hex), "order-\"7\"");
    assert_eq!(raw.render(0, KeyFormat::Uuid.quoted()), r#""order-\"7\"""#);

    let again = raw.clone().with_occurrence(1);
    assert_eq!(
        again.key(),
        raw.key(),
        "one wire key cannot name two wishes"
    );
    assert_eq!(again.occurrence(), 0);
}

#[test]
fn other_keys_are_rendered_in_the_format_and_generation_asked_for() {
    for intent in [
        refund(&json!({})),
        Intent::explicit(SCOPE, "refund", "order-7").unwrap(),
    ] {
        let rendered = intent.render(1, KeyFormat::Base64Url);
        assert_eq!(rendered, intent.key().wire(1).render(KeyFormat::Base64Url));
        assert!(!rendered.contains("order-7"));
    }
}

#[test]
fn nameless_wishes_are_refused() {
    let refused = [
        (Intent::new("", "refund", &json!({})), "scope"),
        (Intent::new(SCOPE, "", &json!({})), "tool"),
        (Intent::explicit("", "refund", "k"), "scope"),
        (Intent::explicit(SCOPE, "", "k"), "tool"),
        (Intent::explicit(SCOPE, "refund", ""), "key"),
        (Intent::explicit(SCOPE, "refund", " \t"), "key"),
        (Intent::raw("", "refund", "k"), "scope"),
        (Intent::raw(SCOPE, "refund", ""), "key"),
        (Intent::raw(SCOPE, "refund", "a b"), "key"),
        (Intent::raw(SCOPE, "refund", "a\r\nb"), "key"),
        (Intent::raw(SCOPE, "refund", "schlüssel"), "key"),
        (Intent::raw(SCOPE, "refund", &"k".repeat(256)), "key"),
    ];
    for (intent, field) in refused {
        assert_eq!(intent.unwrap_err().field(), field);
    }
    assert!(Intent::raw(SCOPE, "refund", &"k".repeat(255)).is_ok());
}

#[test]
fn arguments_that_are_no_object_are_refused() {
    for arguments in [json!(null), json!([]), json!("{}"), json!(7), json!(true)] {
        assert!(
            Intent::new(SCOPE, "refund", &arguments).is_err(),
            "{arguments}"
        );
    }
}

#[test]
fn no_value_of_an_argument_is_shown() {
    let arguments = json!({ "card": "4111111111111111", "pin": 9_999_999_999_999_999_u64 });
    let error = Intent::new(SCOPE, "pay", &arguments).unwrap_err();
    assert_eq!(error.field(), "/pin");
    assert!(!error.to_string().contains("9999"), "{error}");

    let rules = IntentRules::new("pay")
        .matches("/pin", id())
        .with_secret(b"sixteen bytes or more");
    let shown = format!("{:?} {rules:?}", rules.intent(SCOPE, &arguments).unwrap());
    for secret in ["4111", "9999", "sixteen", "115, 105, 120"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn a_secret_changes_keys_and_fingerprints() {
    let rules = |secret: &[u8]| {
        let rules = IntentRules::new("pay").matches("/amount", decimal(2));
        let intent = rules
            .with_secret(secret)
            .intent(SCOPE, &json!({ "amount": 1 }));
        intent.unwrap()
    };
    let (one, two) = (rules(b"one secret of two"), rules(b"two secrets of two"));
    assert_ne!(one.key(), two.key());
    assert_eq!(
        one.fingerprint().differs(two.fingerprint()),
        Some("/amount")
    );

    let short = IntentRules::new("pay").with_secret(b"fifteen letters");
    assert_eq!(
        short.intent(SCOPE, &json!({})).unwrap_err().field(),
        "secret"
    );
}

#[test]
fn the_version_of_the_rules_counts_and_is_kept() {
    let rules = IntentRules::new("refund").with_version("3");
    let intent = rules.intent(SCOPE, &json!({})).unwrap();
    assert_eq!(intent.rules_version(), "3");
    assert_ne!(intent.key(), refund(&json!({})).key());
    assert_eq!(refund(&json!({})).rules_version(), "");
}

#[test]
fn a_wish_keeps_its_former_key_until_the_former_rules_are_gone() {
    let former = IntentRules::new("refund").with_version("1");
    let rules = IntentRules::new("refund")
        .with_version("2")
        .with_secret(b"sixteen bytes or more");
    let arguments = json!({ "order": 7 });
    let both = rules.clone().succeeding(former.clone());
    let [old, new, both] = [former, rules.clone(), both].map(|rules| {
        let intent = rules.intent(SCOPE, &arguments).unwrap();
        intent.with_occurrence(2).with_part("body", b"{}")
    });
    assert_eq!(
        (both.key(), both.fingerprint()),
        (old.key(), old.fingerprint())
    );
    assert_eq!(both.rules_version(), "1");
    assert_eq!(
        both.render(0, KeyFormat::Uuid),
        old.render(0, KeyFormat::Uuid)
    );
    let successor = both.successor().unwrap();
    assert_eq!(successor.key(), new.key());
    assert_eq!(successor.fingerprint(), new.fingerprint());
    assert!(old.successor().is_none() && new.successor().is_none());

    let same = rules.clone().succeeding(rules);
    let same = same.intent(SCOPE, &arguments).unwrap();
    assert!(same.successor().is_none());
}

#[test]
fn what_former_rules_refuse_has_the_new_key_alone() {
    let former = IntentRules::new("refund").key("/order", id());
    let rules = IntentRules::new("refund").with_version("2");
    let both = rules.clone().succeeding(former.clone());
    let arguments = json!({ "order": [7] });
    assert!(former.intent(SCOPE, &arguments).is_err());
    let intent = both.intent(SCOPE, &arguments).unwrap();
    assert_eq!(intent.key(), rules.intent(SCOPE, &arguments).unwrap().key());
    assert!(intent.successor().is_none());

    let others = IntentRules::new("cancel");
    let refused = rules.clone().succeeding(others).intent(SCOPE, &arguments);
    assert_eq!(refused.unwrap_err().field(), "tool");
    let flawed = IntentRules::new("refund").with_secret(b"short");
    let refused = rules.succeeding(flawed).intent(SCOPE, &arguments);
    assert_eq!(refused.unwrap_err().field(), "secret");
}

#[test]
fn rules_without_a_rule_make_the_key_that_no_rules_make() {
    let arguments = json!({ "order": 7, "reason": null });
    let intent = IntentRules::new("refund")
        .intent(SCOPE, &arguments)
        .unwrap();
    assert_eq!(intent.key(), refund(&arguments).key());
}

#[test]
fn a_part_is_compared_and_not_hashed_into_the_key() {
    let intent = Intent::explicit(SCOPE, "refund", "order-7").unwrap();
    let (one, two) = (
        intent.clone().with_part("body", b"amount=20"),
        intent.clone().with_part("body", b"amount=30"),
    );
    assert_eq!(one.key(), two.key());
    assert_eq!(one.fingerprint().differs(two.fingerprint()), Some("body"));
    assert_eq!(
        one.fingerprint().differs(intent.fingerprint()),
        Some("body")
    );
    assert_eq!(
        one.clone().with_occurrence(1).fingerprint(),
        one.fingerprint()
    );
}

#[test]
fn a_refused_call_leaves_nothing_to_the_next() {
    let rules = IntentRules::new("refund").matches("/amount", decimal(2));
    let refused = rules.intent(SCOPE, &json!({ "amount": 20, "order": { "id": 1e300 } }));
    assert_eq!(refused.unwrap_err().field(), "/order/id");
    let next = refund(&json!({ "order": 7 }));
    assert!(next.fingerprint().is_empty());
    assert_eq!(next.near_miss(&refund(&json!({ "order": 7 }))), None);
}

#[test]
fn a_near_miss_names_what_keeps_two_wishes_apart() {
    let rules = IntentRules::new("refund")
        .key("/order", id())
        .matches("/amount", decimal(2))
        .key("/a~1b", exact())
        .ignore("/reason");
    let intent = |arguments: Value| rules.intent(SCOPE, &arguments).unwrap();
    let one = intent(json!({ "order": 7, "amount": 20, "currency": "EUR", "reason": "late" }));
    let misses = [
        (
            json!({ "order": "7", "amount": "20.00", "currency": "EUR" }),
            None,
        ),
        (
            json!({ "order": 7, "amount": 25, "currency": "EUR" }),
            Some(vec!["/amount"]),
        ),
        (json!({ "order": 7, "amount": 20 }), Some(vec!["/currency"])),
        (
            json!({ "order": 7, "amount": 20, "currency": "EUR", "a/b": 1 }),
            Some(vec!["/a~1b"]),
        ),
        (
            json!({ "order": 8, "amount": 21, "currency": "EUR" }),
            Some(vec!["/order", "/amount"]),
        ),
        (json!({ "order": 8, "currency": "USD" }), None),
        (json!({}), None),
    ];
    for (arguments, expected) in misses {
        let other = intent(arguments.clone());
        let expected: Option<Vec<String>> =
            expected.map(|names| names.into_iter().map(str::to_owned).collect());
        assert_eq!(one.near_miss(&other), expected, "{arguments}");
        assert_eq!(
            other.near_miss(&one),
            expected,
            "{arguments}, the other way round"
        );
    }
    let again = one.clone().with_occurrence(1);
    assert_eq!(one.near_miss(&again), Some(vec!["occurrence".to_owned()]));

    let ping = refund(&json!({}));
    let again = ping.clone().with_occurrence(1);
    assert_eq!(ping.near_miss(&again), Some(vec!["occurrence".to_owned()]));
}

#[test]
fn wishes_of_other_tools_scopes_and_keys_are_no_near_misses() {
    let arguments = json!({ "order": 7, "amount": 20 });
    let near = json!({ "order": 7, "amount": 25 });
    let one = refund(&arguments);
    assert!(one.near_miss(&refund(&near)).is_some());
    assert_eq!(
        one.near_miss(&Intent::new("acme/us", "refund", &near).unwrap()),
        None
    );
    assert_eq!(
        one.near_miss(&Intent::new(SCOPE, "cancel", &near).unwrap()),
        None
    );
    assert_eq!(
        one.near_miss(&Intent::explicit(SCOPE, "refund", "k").unwrap()),
        None
    );
    let version = IntentRules::new("refund").with_version("2");
    assert_eq!(one.near_miss(&version.intent(SCOPE, &near).unwrap()), None);
}

fn hex(key: &IdempotencyKey) -> String {
    let (halves, _) = key.as_bytes().as_chunks();
    let [high, low] = [halves[0], halves[1]].map(u128::from_be_bytes);
    format!("{high:032x}{low:032x}")
}
