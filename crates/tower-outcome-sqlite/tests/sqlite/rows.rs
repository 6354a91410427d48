use std::fs;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::json;
use tower_outcome_core::ledger::{Claim, EntryKey, Event, Filter, Ledger, Owner, Timestamp};
use tower_outcome_core::{Code, Intent};
use tower_outcome_sqlite::SqliteLedger;

use crate::support::{Dir, claim, granted, in_doubt, others_are_listed, send};

#[tokio::test]
async fn no_byte_of_an_argument_is_in_the_file() {
    let dir = Dir::new();
    let ledger = SqliteLedger::open(dir.file()).unwrap();
    let intent = Intent::new(
        "acme",
        "refund",
        &json!({ "iban": CANARY, CANARY: [CANARY] }),
    )
    .unwrap()
    .with_part("body", CANARY.as_bytes());
    let key = EntryKey::of(&intent);
    let lease = Duration::from_secs(30);
    let claim = Claim::new(&intent, Owner::random(), lease);
    ledger.apply(&key, Event::Claim(claim)).await.unwrap();
    ledger.apply(&key, send(1)).await.unwrap();

    for file in fs::read_dir(dir.path()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        let found = bytes
            .windows(CANARY.len())
            .any(|part| part == CANARY.as_bytes());
        assert!(!found, "an argument is on the disk");
    }
    // What is looked for can be found at all.
    let log = fs::read(dir.path().join("ledger.sqlite-wal")).unwrap();
    assert!(log.windows(8).any(|part| part == b"refunds\""));
}

#[tokio::test]
async fn people_read_keys_in_hex_and_times_in_iso_8601() {
    let dir = Dir::new();
    let ledger =
        SqliteLedger::open_with_clock(dir.file(), || Timestamp(1_750_000_000_123)).unwrap();
    let grant = granted(&ledger, 7).await;
    let release = Event::Release {
        epoch: grant.epoch,
        code: Code::ConnectFailed,
    };
    let key = crate::support::key(7);
    ledger.apply(&key, release).await.unwrap();

    let other = Connection::open(dir.file()).unwrap();
    let row: (String, String, String, String) = other
        .query_row(
            "SELECT key, state, code, created_at FROM outcomes WHERE scope = 'acme'",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .unwrap();
    assert!(row.0.len() == 64 && row.0.starts_with(&key.key.short()));
    assert_eq!(row.1, "free");
    assert_eq!(row.2, "connect_failed");
    assert_eq!(row.3, "2025-06-15T15:06:40.123Z");
}

#[tokio::test]
async fn the_schema_explains_every_column() {
    let dir = Dir::new();
    drop(SqliteLedger::open(dir.file()).unwrap());
    let other = Connection::open(dir.file()).unwrap();
    let (sql, columns): (String, u32) = other
        .query_row(
            "SELECT sql, (SELECT count(*) FROM pragma_table_info('entries'))
             FROM sqlite_schema WHERE name = 'entries'",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    let explained = sql.matches(" -- ").count() + sql.matches("/* ").count();
    assert_eq!(explained, columns as usize);
}

#[tokio::test]
async fn what_is_unresolved_is_found_by_its_own_index() {
    let dir = Dir::new();
    drop(SqliteLedger::open(dir.file()).unwrap());
    let other = Connection::open(dir.file()).unwrap();
    let plan: String = other
        .query_row(
            "EXPLAIN QUERY PLAN SELECT * FROM entries
             WHERE (state = 'claimed' OR state = 'dispatching' OR state = 'unknown')
             ORDER BY updated_at, scope, key",
            [],
            |row| row.get("detail"),
        )
        .unwrap();
    assert!(plan.contains("USING INDEX unresolved"), "{plan}");
    let partial: bool = other
        .query_row(
            "SELECT partial FROM pragma_index_list('entries') WHERE name = 'unresolved'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert!(partial, "what has ended costs the index nothing");
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_an_error_of_its_own_key_alone() {
    let dir = Dir::new();
    let ledger = SqliteLedger::open(dir.file()).unwrap();
    granted(&ledger, 1).await;
    let other = Connection::open(dir.file()).unwrap();
    for damage in [
        "state = 'paid'",
        "epoch = -1",
        "writes = '{'",
        "code = 'fine'",
    ] {
        other
            .execute_batch(&format!(
                "SAVEPOINT s; UPDATE entries SET {damage}; RELEASE s;"
            ))
            .unwrap();
        let (key, unharmed) = (crate::support::key(1), crate::support::key(2));
        let (damaged, read) = tokio::join!(ledger.read(&key), ledger.read(&unharmed));
        assert_eq!(
            damaged.unwrap_err().code(),
            Code::StoreUnavailable,
            "{damage}"
        );
        assert_eq!(read.unwrap(), None);
        other
            .execute_batch(
                "UPDATE entries SET state = 'free', epoch = 1, writes = '[]', code = NULL",
            )
            .unwrap();
    }
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_named_and_hides_no_other() {
    let dir = Dir::new();
    let ledger = SqliteLedger::open(dir.file()).unwrap();
    for order in 1..=4 {
        in_doubt(&ledger, order).await;
    }
    let other = Connection::open(dir.file()).unwrap();
    for damage in ["epoch = -1", "writes = '{'", "code = 'fine'"] {
        for (harmed, time) in [(1, 1), (3, 3)] {
            let harm =
                format!("UPDATE entries SET {damage}, look_at = {time}, updated_at = {time}");
            let bytes = crate::support::key(harmed).key;
            let harm = format!("{harm} WHERE key = ?1");
            other.execute(&harm, [bytes.as_bytes()]).unwrap();
        }
        others_are_listed(&ledger, [1, 3].map(crate::support::key), [2, 4]).await;
        let counts = ledger.counts().await.unwrap();
        assert_eq!(
            (counts.total(), counts.unreadable),
            (4, 0),
            "by their state"
        );
        let again = ledger.apply(&crate::support::key(3), claim(3)).await;
        assert_eq!(again.unwrap_err().code(), Code::StoreUnavailable);
        let heal = "UPDATE entries SET epoch = 1, writes = '[]', code = NULL";
        other.execute_batch(heal).unwrap();
    }
    let later = "UPDATE entries SET state = 'later' WHERE look_at < 9";
    other.execute_batch(later).unwrap();
    let counts = ledger.counts().await.unwrap();
    assert_eq!((counts.total(), counts.unreadable), (4, 2));
    assert_eq!(
        ledger.page(&Filter::new(9)).await.unwrap().unreadable.len(),
        2
    );
}

const CANARY: &str = "canary-4929-1182-7731";
