//! Nothing that a call carries comes to be read where it should not.

use std::fs;

use rusqlite::Connection;
use tower_outcome_core::Code;
use tower_outcome_core::ledger::conformance::{MARKER, carry_secrets, holds_marker};
use tower_outcome_core::ledger::{AesGcmSiv, EncryptedLedger, Event, Ledger};
use tower_outcome_sqlite::SqliteLedger;

use crate::support::{Dir, granted, key};

#[tokio::test]
async fn no_byte_of_the_files_holds_what_an_encrypted_ledger_was_given() {
    let dir = Dir::new();
    let ledger = SqliteLedger::open(dir.file()).unwrap();
    let ledger = EncryptedLedger::new(ledger, AesGcmSiv::new(1, [7; 32]));
    let shown = carry_secrets(&ledger).await;
    assert!(!holds_marker(shown.as_bytes()), "{shown}");
    let mut read = 0;
    for file in fs::read_dir(dir.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        read += bytes.len();
        assert!(!holds_marker(&bytes), "{}", path.display());
    }
    assert!(read > 4096, "the rows were read");
}

#[tokio::test]
async fn a_ledger_that_does_not_encrypt_keeps_results_and_shows_none() {
    let dir = Dir::new();
    let ledger = SqliteLedger::open(dir.file()).unwrap();
    let shown = carry_secrets(&ledger).await;
    assert!(!holds_marker(shown.as_bytes()), "{shown}");
    // What is looked for can be found at all.
    let log = fs::read(dir.path().join("ledger.sqlite-wal")).unwrap();
    assert!(holds_marker(&log));
}

#[tokio::test]
async fn an_error_of_the_file_shows_nothing_of_the_row() {
    let dir = Dir::new();
    let ledger = SqliteLedger::open(dir.file()).unwrap();
    granted(&ledger, 1).await;
    let other = Connection::open(dir.file()).unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE UPDATE ON entries BEGIN
        SELECT RAISE(ABORT, 'refused'); END";
    other.execute_batch(refuse).unwrap();
    let result = Some(MARKER.as_bytes().into());
    let error = ledger.apply(&key(1), Event::Find { result }).await;
    let error = error.unwrap_err();
    assert_eq!(error.code(), Code::StoreUnavailable);
    assert!(!holds_marker(format!("{error:?} {error:#?}").as_bytes()));
}
