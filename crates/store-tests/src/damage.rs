//! Rows that are not where a question looks for them: somebody damaged them, or a newer version
//! wrote them.

use tower_outcome_core::IdempotencyKey;
use tower_outcome_core::ledger::{EntryKey, Filter, Ledger};

use crate::orders::{applied, done, granted, in_doubt, key, others_are_listed, send};

/// What to set in a row, as SQL.
pub const DISPLACED: [&str; 5] = [
    "state = 'later', updated_at = 1",
    "key = substr(key, 1, 5)",
    "created_at = -1",
    "updated_at = -1",
    "look_at = -1",
];

/// Asserts that rows of a new ledger that are harmed by one of [`DISPLACED`] are named, hide no
/// other and stay. `harm` sets it in the row of an order.
///
/// # Panics
///
/// If they are not, do, or are gone.
pub async fn displaced_rows_are_named_and_stay(
    ledger: &impl Ledger,
    damage: &str,
    harm: impl AsyncFn(u32, &str),
) {
    for order in 1..=4 {
        in_doubt(ledger, order).await;
    }
    harm(1, damage).await;
    harm(3, damage).await;
    others_are_listed(ledger, [1, 3].map(|order| named(order, damage)), [2, 4]).await;
    let counts = async || {
        let counts = ledger.counts().await.expect("a count");
        (counts.total(), counts.unreadable)
    };
    assert_eq!(counts().await, (4, 2), "{damage}");

    let epoch = granted(ledger, 5).await.epoch;
    applied(ledger, 5, send(epoch)).await;
    applied(ledger, 5, done(epoch, Some(b"{}"))).await;
    harm(5, damage).await;
    // What says that it has ended is in nobody's way.
    let may_be_open = damage.starts_with("state");
    for listing in [ledger.due(9).await, ledger.unresolved(9).await] {
        let named = listing.expect("a list").unreadable.len();
        assert_eq!(named, if may_be_open { 3 } else { 2 }, "{damage}");
    }
    // Whoever forgot it would have it done again.
    assert_eq!(ledger.purge(9).await.expect("a purge"), 0, "{damage}");
    assert_eq!(counts().await, (5, 3), "{damage}");
    let page = ledger.page(&Filter::new(9)).await.expect("a page");
    assert!(page.unreadable.contains(&named(5, damage)), "{damage}");
}

/// The key that a harmed row is named by.
fn named(order: u32, damage: &str) -> EntryKey {
    let mut named = key(order);
    if damage.starts_with("key") {
        let mut cut = [0; 32];
        cut[..5].copy_from_slice(&named.key.as_bytes()[..5]);
        named.key = IdempotencyKey::from_bytes(cut);
    }
    named
}
