use rusqlite::Connection;
use tower_outcome_sqlite::SqliteLedger;
use tower_outcome_store_tests::damage::{DISPLACED, displaced_rows_are_named_and_stay};

use crate::support::{Dir, key};

#[tokio::test]
async fn a_row_that_no_order_finds_is_named_and_stays() {
    for damage in DISPLACED {
        let dir = Dir::new();
        let ledger = SqliteLedger::open(dir.file()).unwrap();
        let other = Connection::open(dir.file()).unwrap();
        displaced_rows_are_named_and_stay(&ledger, damage, async |order, damage| {
            let harm = format!("UPDATE entries SET {damage} WHERE key = ?1");
            let harmed = other.execute(&harm, [key(order).key.as_bytes()]);
            assert_eq!(harmed.unwrap(), 1);
        })
        .await;
    }
}
