use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::thread;

use rusqlite::Connection;
use tower_outcome_core::ledger::{Answer, EntryKey, Event, Ledger, State};
use tower_outcome_core::{Code, IdempotencyKey};
use tower_outcome_sqlite::SqliteLedger;

use crate::support::Dir;

#[test]
fn a_path_that_cannot_be_opened_is_refused() {
    let dir = Dir::new();
    refused(
        &dir.path().join("missing/ledger.sqlite"),
        "cannot be opened",
    );
    refused(dir.path(), "cannot be opened");
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let dir = Dir::new();
    let text = "order,amount\n7,20\n".repeat(100);
    fs::write(dir.file(), &text).unwrap();
    refused(&dir.file(), "no SQLite database");
    assert_eq!(fs::read_to_string(dir.file()).unwrap(), text);
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let dir = Dir::new();
    for claim_it in [
        "CREATE TABLE notes (text TEXT)",
        "PRAGMA application_id = 42",
        "PRAGMA user_version = 1",
    ] {
        let _ = fs::remove_file(dir.file());
        Connection::open(dir.file())
            .unwrap()
            .execute_batch(claim_it)
            .unwrap();
        let before = fs::read(dir.file()).unwrap();
        refused(&dir.file(), "another program");
        assert_eq!(fs::read(dir.file()).unwrap(), before, "{claim_it}");
    }
}

#[tokio::test]
async fn a_file_of_the_version_before_is_taken_over_whole() {
    let dir = Dir::new();
    let former = Connection::open(dir.file()).unwrap();
    former
        .execute_batch(include_str!("../data/version_2.sql"))
        .unwrap();
    drop(former);
    let ledger = SqliteLedger::open(dir.file()).unwrap();
    let entry = async |number| {
        let mut key = [0; 32];
        key[31] = number;
        let key = EntryKey {
            scope: "acme".into(),
            key: IdempotencyKey::from_bytes(key),
        };
        ledger.read(&key).await.unwrap().unwrap()
    };
    let done = entry(1).await;
    assert_eq!((done.state, done.alias_of), (State::Done, None));
    assert_eq!(done.result.as_deref(), Some(b"{}".as_slice()));
    assert_eq!(done.fingerprint.names().collect::<Vec<_>>(), ["body"]);
    let doubt = entry(2).await;
    assert_eq!((doubt.state, doubt.generation), (State::Unknown, 1));
    assert_eq!((doubt.looks, &*doubt.writes[0].wire_key), (3, "k-2"));

    // The same file learns a second key of what it knew.
    let alias = EntryKey {
        scope: "acme".into(),
        key: IdempotencyKey::from_bytes([9; 32]),
    };
    let (of, shared) = (done.key.key, false);
    let event = Event::Alias { of, shared };
    let answer = ledger.apply(&alias, event).await.unwrap();
    assert_eq!(answer, Answer::Applied);
    let led = ledger.read(&alias).await.unwrap().unwrap();
    assert_eq!(led.leads_to(), Some(done.key));
}

#[test]
fn a_newer_schema_is_refused() {
    let dir = Dir::new();
    drop(SqliteLedger::open(dir.file()).unwrap());
    let other = Connection::open(dir.file()).unwrap();
    other.pragma_update(None, "user_version", 6).unwrap();
    refused(&dir.file(), "newer version");
}

#[test]
fn a_file_whose_columns_are_not_ours_is_refused() {
    let dir = Dir::new();
    drop(SqliteLedger::open(dir.file()).unwrap());
    let other = Connection::open(dir.file()).unwrap();
    other
        .execute_batch("DROP VIEW outcomes; DROP TABLE entries;")
        .unwrap();
    refused(&dir.file(), "damaged");
}

#[test]
fn an_empty_file_becomes_a_ledger() {
    let dir = Dir::new();
    fs::write(dir.file(), "").unwrap();
    drop(SqliteLedger::open(dir.file()).unwrap());
    drop(SqliteLedger::open(dir.file()).unwrap());
}

#[test]
fn all_who_open_a_new_file_at_once_get_it() {
    for _ in 0..60 {
        let dir = Dir::new();
        let start = Barrier::new(12);
        thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    start.wait();
                    SqliteLedger::open(dir.file()).unwrap();
                });
            }
        });
    }
}

#[test]
fn a_path_that_looks_like_a_uri_is_a_path() {
    let dir = Dir::new();
    let path = dir.path().join("file:ledger?mode=memory");
    drop(SqliteLedger::open(&path).unwrap());
    assert!(path.exists());
}

#[test]
fn a_commit_is_on_the_disk_and_readers_do_not_wait() {
    let dir = Dir::new();
    drop(SqliteLedger::open(dir.file()).unwrap());
    let other = Connection::open(dir.file()).unwrap();
    let mode: String = other
        .query_row("PRAGMA journal_mode", [], |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
    let application: i32 = other
        .query_row("PRAGMA application_id", [], |row| row.get(0))
        .unwrap();
    assert_eq!(application.to_be_bytes(), *b"tOut");
}

fn refused(path: &Path, because: &str) {
    let error = SqliteLedger::open(path).unwrap_err();
    assert!(error.to_string().contains(because), "{error}");
    assert_eq!(error.code(), Code::StoreUnavailable);
}
