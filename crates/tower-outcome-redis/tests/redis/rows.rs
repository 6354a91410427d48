//! What a row holds, for people and for those who look for secrets.

use serde_json::json;
use tower_outcome_core::Intent;
use tower_outcome_core::ledger::{Answer, Claim, EntryKey, Event, Ledger, Owner, State};
use xtask::servers::{Redis, Server as _};

use crate::support::{Place, applied, granted, key, send};

#[tokio::test]
async fn a_row_is_json_after_the_number_of_its_change() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let grant = granted(&ledger, 1).await;
    applied(&ledger, 1, send(grant.epoch)).await;
    let row: String = place.client().await.ask(&["GET", &place.entry(1)]).await;
    let json: serde_json::Value = serde_json::from_str(&row[48..]).unwrap();
    assert_eq!(json["state"], "dispatching");
    assert_eq!(json["tool"], "refund");
    assert_eq!(json["writes"][0]["route"], "POST api.example/refunds");
}

#[tokio::test]
async fn a_row_of_the_version_before_is_taken_over_and_learns_a_second_key() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let revision = "0".repeat(48);
    let owner = "0".repeat(32);
    let former = json!({
        "format": 2, "state": "unknown", "tool": "refund", "code": "timeout_after_send",
        "epoch": 2, "maybe_sent": true, "landing": "in_flight", "owner": owner,
        "lease_until": 1_750_000_030_123_u64, "created_at": 1_750_000_000_123_u64,
        "updated_at": 1_750_000_002_123_u64, "looks": 3, "look_at": 1_750_000_090_123_u64,
        "fingerprint": {}, "result": false,
        "writes": [{ "label": "refund", "route": "POST api.example/refunds", "wire_key": "k-2" }],
    });
    let row = format!("{revision}{former}");
    let stored: String = (place.client().await)
        .ask(&["SET", &place.entry(1), &row])
        .await;
    assert_eq!(stored, "OK");
    let doubt = ledger.read(&key(1)).await.unwrap().unwrap();
    assert_eq!(
        (doubt.state, doubt.epoch, doubt.looks),
        (State::Unknown, 2, 3)
    );
    assert_eq!(doubt.alias_of, None);

    let (of, shared) = (doubt.key.key, false);
    let answer = ledger.apply(&key(2), Event::Alias { of, shared }).await;
    assert_eq!(answer.unwrap(), Answer::Applied);
    let led = place.ledger().await.read(&key(2)).await.unwrap().unwrap();
    assert_eq!(led.leads_to(), Some(key(1)));
}

#[tokio::test]
async fn no_key_and_no_row_holds_an_argument() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let arguments = json!({ "card": "canary-4111" });
    let intent = Intent::new("acme", "refund", &arguments).unwrap();
    let claim = Claim::new(&intent, Owner::random(), std::time::Duration::from_secs(30));
    let key = EntryKey::of(&intent);
    ledger.apply(&key, Event::Claim(claim)).await.unwrap();
    ledger.apply(&key, send(1)).await.unwrap();
    let mut client = place.client().await;
    let pattern = format!("{{{}}}:*", place.prefix);
    let keys: Vec<String> = client.ask(&["KEYS", &pattern]).await;
    assert_eq!(keys.len(), 3);
    for key in keys {
        let dump: Vec<u8> = client.ask(&["DUMP", &key]).await;
        let shown = format!("{key} {}", String::from_utf8_lossy(&dump));
        assert!(!shown.contains("canary"), "{shown}");
    }
}

#[tokio::test]
async fn what_the_server_quotes_is_not_shown() {
    let server = Redis::start_with(&["--rename-command", "MGET", ""]).unwrap();
    let place = Place::at(server.url());
    let ledger = place.ledger().await;
    let error = ledger.read(&key(1)).await.unwrap_err();
    let shown = format!("{error:?} {error}");
    assert!(shown.contains("the server answers ERR"), "{shown}");
    assert!(!shown.contains(&place.prefix), "{shown}");
}
