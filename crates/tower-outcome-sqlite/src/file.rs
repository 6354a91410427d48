//! Opening the file: whose it is, which version it has, how it is kept.

use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use tower_outcome_core::ledger::LedgerError;

use crate::rows;

/// Opens the ledger at `path`, or makes a new one. Nothing is written to a file that is not ours.
pub(crate) fn open(path: &Path) -> Result<Connection, LedgerError> {
    // No URI: a path that holds a question mark is a path.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut store = Connection::open_with_flags(path, flags).map_err(refused)?;
    store.busy_timeout(BUSY_TIMEOUT).map_err(refused)?;

    let owned = identify(&store)?;
    if store.is_readonly("main").map_err(refused)? {
        return Err(LedgerError::unusable(
            "the ledger's file may only be read; the process needs to write it and its directory",
            None,
        ));
    }
    configure(&store)?;
    if owned != Owned::Us(VERSION) {
        migrate(&mut store)?;
    }
    rows::prepare(&store).map_err(refused)?;
    Ok(store)
}

/// Whose file it is.
#[derive(Eq, PartialEq)]
enum Owned {
    Nobody,
    /// By the schema that it has.
    Us(i32),
}

fn identify(store: &Connection) -> Result<Owned, LedgerError> {
    let (application, version, objects): (i32, i32, u32) = store
        .query_row(
            "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
             FROM pragma_application_id, pragma_user_version",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .map_err(refused)?;
    match (application, version, objects) {
        (0, 0, 0) => Ok(Owned::Nobody),
        (APPLICATION_ID, version @ 1..=VERSION, _) => Ok(Owned::Us(version)),
        (APPLICATION_ID, newer, _) if newer > VERSION => Err(LedgerError::unusable(
            format!(
                "the ledger's file has schema {newer}, written by a newer version of \
                 tower-outcome-sqlite; this one knows {VERSION}"
            ),
            None,
        )),
        _ => Err(LedgerError::unusable(
            "the file is a database of another program; the ledger needs a file of its own",
            None,
        )),
    }
}

/// A commit is on the disk before it is answered, and readers do not wait for it.
fn configure(store: &Connection) -> Result<(), LedgerError> {
    let mode = write_ahead(store).map_err(refused)?;
    if mode != "wal" {
        return Err(LedgerError::unusable(
            "the ledger's file cannot have a write-ahead log where it lies; it needs a local disk",
            None,
        ));
    }
    // Where the system's flush stops at the drive's cache (macOS), go further.
    store
        .execute_batch("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;")
        .map_err(refused)
}

/// Switches the log on. SQLite does not wait by itself for a process that does the same.
fn write_ahead(store: &Connection) -> rusqlite::Result<String> {
    let switch = || store.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
    for _ in 0..SWITCH_ATTEMPTS {
        match switch() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                thread::sleep(SWITCH_PAUSE);
            }
            switched => return switched,
        }
    }
    switch()
}

fn migrate(store: &mut Connection) -> Result<(), LedgerError> {
    let transaction = store
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(refused)?;
    // Looked at again: another process may have been quicker.
    let version = match identify(&transaction)? {
        Owned::Nobody => 0,
        Owned::Us(version) => version,
    };
    for (_, migration) in (1..).zip(MIGRATIONS).filter(|(it, _)| *it > version) {
        transaction.execute_batch(migration).map_err(refused)?;
    }
    transaction
        .pragma_update(None, "application_id", APPLICATION_ID)
        .map_err(refused)?;
    transaction
        .pragma_update(None, "user_version", VERSION)
        .map_err(refused)?;
    transaction.commit().map_err(refused)
}

fn refused(error: rusqlite::Error) -> LedgerError {
    let reason = match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            "the ledger's file cannot be opened; its directory has to exist and be writable"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "the ledger's file is held by another process that does not let go of it"
        }
        Some(ErrorCode::NotADatabase) => "the file is no SQLite database",
        _ => "the ledger's file is damaged or cannot be used",
    };
    LedgerError::unusable(reason, Some(error.into()))
}

/// In the header of every file, for tools that tell files apart: the letters `tOut`.
const APPLICATION_ID: i32 = 0x744f_7574;

/// The schema that this version reads and writes.
const VERSION: i32 = 5;

/// One at a time, and none is ever changed once it is released.
const MIGRATIONS: [&str; 5] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
];

/// For how long a transaction waits for another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

const SWITCH_ATTEMPTS: u32 = 250;

const SWITCH_PAUSE: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_commit_waits_for_the_disk() {
        let path = std::env::temp_dir().join(format!("tower-outcome-file-{}", std::process::id()));
        let store = open(&path).unwrap();
        let setting = |name| -> i32 {
            let value = store.pragma_query_value(None, name, |row| row.get(0));
            value.unwrap()
        };
        assert_eq!(setting("synchronous"), 2);
        assert_eq!(setting("fullfsync"), 1);
        drop(store);
        std::fs::remove_file(path).unwrap();
    }
}
