//! Sessions of one process that want the same entries.

use std::collections::BTreeSet;

use tokio::task::JoinSet;
use tower_outcome_core::ledger::{Answer, Ledger};

use crate::orders::{applied, claim, entry, key, release, send};

const ORDERS: u32 = 3;

const TURNS: u32 = 120;

/// Claims, sends and releases the same few entries from many ledgers, each with a session of its
/// own. Had two of them an entry at once, a step of the first would be fenced off.
///
/// # Panics
///
/// If it is, or if an epoch is granted twice or to nobody.
pub async fn whoever_holds_an_entry_holds_it_alone<L: Ledger + 'static>(ledgers: Vec<L>, then: L) {
    let mut turns = JoinSet::new();
    for ledger in ledgers {
        turns.spawn(async move {
            let mut epochs = Vec::new();
            for order in (0..ORDERS).cycle().take(TURNS as usize) {
                let answer = ledger.apply(&key(order), claim(order)).await;
                let Answer::Granted(grant) = answer.expect("a ledger that answers") else {
                    continue;
                };
                applied(&ledger, order, send(grant.epoch)).await;
                applied(&ledger, order, release(grant.epoch)).await;
                epochs.push((order, grant.epoch));
            }
            epochs
        });
    }
    let all: Vec<_> = turns.join_all().await.into_iter().flatten().collect();
    let distinct: BTreeSet<_> = all.iter().copied().collect();
    assert_eq!(distinct.len(), all.len(), "an epoch was granted twice");
    for order in 0..ORDERS {
        let granted = all.iter().filter(|(it, _)| *it == order).count();
        let epoch = entry(&then, order).await.epoch;
        assert_eq!(epoch, granted as u64, "every grant has its epoch");
    }
}
