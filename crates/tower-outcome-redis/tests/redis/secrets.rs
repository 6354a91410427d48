//! Nothing that a call carries comes to be read where it should not.

use tower_outcome_core::ledger::conformance::{carry_secrets, holds_marker};
use tower_outcome_core::ledger::{AesGcmSiv, EncryptedLedger};

use crate::support::Place;

#[tokio::test]
async fn no_value_holds_what_an_encrypted_ledger_was_given() {
    let place = Place::new();
    let ledger = EncryptedLedger::new(place.ledger().await, AesGcmSiv::new(1, [7; 32]));
    let shown = carry_secrets(&ledger).await;
    assert!(!holds_marker(shown.as_bytes()), "{shown}");
    let values = values(&place).await;
    assert!(values.len() >= 10);
    for (name, value) in values {
        assert!(!holds_marker(name.as_bytes()), "{name}");
        assert!(!holds_marker(&value), "{name}");
    }
}

#[tokio::test]
async fn a_ledger_that_does_not_encrypt_keeps_results_and_shows_none() {
    let place = Place::new();
    let shown = carry_secrets(&place.ledger().await).await;
    assert!(!holds_marker(shown.as_bytes()), "{shown}");
    // What is looked for can be found at all.
    let values = values(&place).await;
    assert!(values.iter().any(|(_, value)| holds_marker(value)));
}

/// All that stands under the ledger's prefix. A dump is compressed where that makes it shorter, so
/// that what is no set is read as it is.
async fn values(place: &Place) -> Vec<(String, Vec<u8>)> {
    let mut client = place.client().await;
    let pattern = format!("{{{}}}:*", place.prefix);
    let names: Vec<String> = client.ask(&["KEYS", &pattern]).await;
    let mut values = Vec::new();
    for name in names {
        let kind: String = client.ask(&["TYPE", &name]).await;
        let words: &[&str] = match &*kind {
            "string" => &["GET", &name],
            "zset" => &["ZRANGE", &name, "0", "-1"],
            other => panic!("{name} is a {other}"),
        };
        let value: Vec<Vec<u8>> = match words.len() {
            2 => vec![client.ask(words).await],
            _ => client.ask(words).await,
        };
        values.push((name, value.concat()));
    }
    values
}
