//! Keys keep their bytes, hide them, and travel in the form that a provider takes.

use tower_outcome_core::{IdempotencyKey, Intent, KeyFormat, KeyStyle};

/// The key of a wish whose every derived form was computed by other code.
fn key() -> IdempotencyKey {
    let arguments = serde_json::json!({ "order": "A-1001", "amount": 20 });
    *Intent::new("acme/eu", "refund", &arguments).unwrap().key()
}

#[test]
fn wire_keys_are_spelt_as_they_always_were() {
    let wire = key().wire(0);
    let spellings = [
        (KeyFormat::Base64Url, "Pb0TlvHLSXvdebFceHa0Dw"),
        (
            KeyFormat::Hex,
            "3dbd1396f1cb497bdd79b15c7876b40f05b1f93a40c12529ee651f37270d6ffa",
        ),
        (KeyFormat::Uuid, "3dbd1396-f1cb-897b-9d79-b15c7876b40f"),
        (KeyFormat::UuidV4, "3dbd1396-f1cb-497b-9d79-b15c7876b40f"),
    ];
    for (format, text) in spellings {
        assert_eq!(wire.render(format), text);
        assert_eq!(wire.render(format.quoted()), format!("\"{text}\""));
    }
    assert_eq!(KeyFormat::default(), KeyFormat::Uuid);
    assert_eq!(KeyStyle::default(), KeyStyle::from(KeyFormat::Uuid));
}

#[test]
fn every_format_fits_the_limits_it_is_meant_for() {
    for byte in 0..=255 {
        let wire = IdempotencyKey::from_bytes([byte; 32]).wire(u32::from(byte));
        let text = wire.render(KeyFormat::Base64Url);
        assert_eq!(text.len(), 22);
        assert!(
            text.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        );
        for (format, version) in [(KeyFormat::Uuid, b'8'), (KeyFormat::UuidV4, b'4')] {
            let text = wire.render(format);
            assert_eq!((text.len(), text.as_bytes()[14]), (36, version));
            assert!(
                b"89ab".contains(&text.as_bytes()[19]),
                "the variant of RFC 9562"
            );
        }
        assert_eq!(wire.render(KeyFormat::Hex).len(), 64);
    }
}

#[test]
fn a_generation_has_a_wire_key_of_its_own() {
    let render = |generation| key().wire(generation).render(KeyFormat::Hex);
    assert_eq!(render(3), render(3));
    assert_ne!(render(0), render(1));
}

#[test]
fn a_child_is_named_by_its_label_and_its_parent() {
    assert_eq!(key().child("POST /refunds"), key().child("POST /refunds"));
    assert_ne!(key().child("POST /refunds"), key().child("POST /refund"));
    assert_ne!(key().child(""), key());
    assert_eq!(key().child("POST /refunds").short(), "848e2f53");
}

#[test]
fn bytes_come_back_from_a_store() {
    assert_eq!(IdempotencyKey::from_bytes(*key().as_bytes()), key());
}

#[test]
fn a_key_is_never_shown_in_full() {
    let wire = key().wire(0);
    assert_eq!(key().short(), "bf3dcadf");
    assert!(!format!("{:?}", key()).contains("bf3dcadf3"));
    assert!(!format!("{wire:?}").contains(&wire.render(KeyFormat::Hex)[..9]));
}
