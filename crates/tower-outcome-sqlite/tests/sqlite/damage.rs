use rusqlite::Connection;
use tower_outcome_core::ledger::{Entry, Filter, Ledger};
use tower_outcome_sqlite::SqliteLedger;
use tower_outcome_store_tests::damage::{DISPLACED, displaced_rows_are_named_and_stay};

use crate::support::{Dir, in_doubt, key};

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

#[tokio::test]
async fn a_row_whose_scope_is_no_text_is_named_and_hides_no_other() {
    let dir = Dir::new();
    let ledger = SqliteLedger::open(dir.file()).unwrap();
    for order in 1..=2 {
        in_doubt(&ledger, order).await;
    }
    let other = Connection::open(dir.file()).unwrap();
    let harm = "UPDATE entries SET scope = CAST(x'61ff' AS TEXT), created_at = 1, updated_at = 1,
        look_at = 1 WHERE key = ?1";
    other.execute(harm, [key(1).key.as_bytes()]).unwrap();

    let keys = |entries: Vec<Entry>| entries.into_iter().map(|it| it.key).collect::<Vec<_>>();
    let mut harmed = key(1);
    harmed.scope = "a\u{fffd}".into();
    for listing in [ledger.due(1).await, ledger.unresolved(1).await] {
        let listing = listing.unwrap();
        assert_eq!(keys(listing.entries), [key(2)]);
        assert_eq!(listing.unreadable, [harmed.clone()]);
    }
    let mut filter = Filter::new(1);
    let first = ledger.page(&filter).await.unwrap();
    assert_eq!(keys(first.entries), [key(2)]);
    assert_eq!(first.unreadable, [harmed]);
    if let Some(next) = first.next {
        filter.after = Some(next);
        let page = ledger.page(&filter).await.unwrap();
        assert_eq!((page.entries, page.unreadable), (vec![], vec![]));
    }
    assert_eq!(ledger.counts().await.unwrap().total(), 2);
}
