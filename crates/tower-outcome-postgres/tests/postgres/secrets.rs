//! Nothing that a call carries comes to be read where it should not.

use tower_outcome_core::Code;
use tower_outcome_core::ledger::conformance::{MARKER, carry_secrets, holds_marker};
use tower_outcome_core::ledger::{AesGcmSiv, EncryptedLedger, Event, Ledger};

use crate::support::{Place, granted, key};

#[tokio::test]
async fn no_row_holds_what_an_encrypted_ledger_was_given() {
    let place = Place::new();
    let ledger = EncryptedLedger::new(place.ledger().await, AesGcmSiv::new(1, [7; 32]));
    let shown = carry_secrets(&ledger).await;
    assert!(!holds_marker(shown.as_bytes()), "{shown}");
    let rows = rows(&place).await;
    assert!(rows.len() >= 10);
    for row in rows {
        assert!(!holds_marker(row.as_bytes()), "{row}");
    }
}

#[tokio::test]
async fn a_ledger_that_does_not_encrypt_keeps_results_and_shows_none() {
    let place = Place::new();
    let shown = carry_secrets(&place.ledger().await).await;
    assert!(!holds_marker(shown.as_bytes()), "{shown}");
    // What is looked for can be found at all.
    let rows = rows(&place).await;
    assert!(rows.iter().any(|row| holds_marker(row.as_bytes())));
}

#[tokio::test]
async fn an_error_of_the_server_shows_nothing_of_the_row() {
    let place = Place::new();
    let ledger = place.ledger().await;
    granted(&ledger, 1).await;
    let client = place.client().await;
    // The server quotes the row that it refuses.
    let refuse = "ALTER TABLE entries ADD CONSTRAINT refused CHECK (result IS NULL)";
    client.batch_execute(refuse).await.unwrap();
    let result = Some(MARKER.as_bytes().into());
    let error = ledger.apply(&key(1), Event::Find { result }).await;
    let error = error.unwrap_err();
    assert_eq!(error.code(), Code::StoreUnavailable);
    let shown = format!("{error} {error:?} {error:#?}");
    assert!(!holds_marker(shown.as_bytes()), "{shown}");
}

/// All rows of all tables, as text with bytes in hex.
async fn rows(place: &Place) -> Vec<String> {
    let client = place.client().await;
    let tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()";
    let mut texts = Vec::new();
    for table in client.query(tables, &[]).await.unwrap() {
        let table: String = table.get(0);
        let rows = format!("SELECT row::text FROM {table} AS row");
        let rows = client.query(&rows, &[]).await.unwrap();
        texts.extend(rows.iter().map(|row| row.get::<_, String>(0)));
    }
    texts
}
