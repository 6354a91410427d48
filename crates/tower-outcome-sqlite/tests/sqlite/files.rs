use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::thread;

use rusqlite::Connection;
use tower_outcome_core::Code;
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

#[test]
fn a_newer_schema_is_refused() {
    let dir = Dir::new();
    drop(SqliteLedger::open(dir.file()).unwrap());
    let other = Connection::open(dir.file()).unwrap();
    other.pragma_update(None, "user_version", 3).unwrap();
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
