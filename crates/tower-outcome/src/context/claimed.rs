//! The claim that a call runs under.

use std::fmt;

use tower_outcome_core::Intent;
use tower_outcome_core::ledger::{Entry, EntryKey, Ledger, LedgerError, Owner};

use super::Context;

/// The claim that a call runs under: what a client inside it need not claim once more.
#[derive(Clone, Copy)]
pub struct Claimed<'a> {
    /// Where the row is.
    pub ledger: &'a dyn Ledger,
    /// The row's key there.
    pub key: &'a EntryKey,
    /// Who claimed it.
    pub owner: Owner,
    /// The claim's epoch.
    pub epoch: u64,
}

impl Claimed<'_> {
    /// Whether `entry`, read under [`key`](Self::key) in whichever ledger, is the claimed row.
    #[must_use]
    pub fn is(&self, entry: &Entry) -> bool {
        (self.owner, self.epoch) == (entry.owner, entry.epoch)
    }

    /// Whether `ledger` has the claimed row: it may be another handle on the same store.
    pub(crate) async fn is_in(&self, ledger: &dyn Ledger) -> Result<bool, LedgerError> {
        let entry = ledger.read(self.key).await?;
        Ok(entry.is_some_and(|entry| self.is(&entry)))
    }
}

impl fmt::Debug for Claimed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claimed")
            .field("key", self.key)
            .field("owner", &self.owner)
            .field("epoch", &self.epoch)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// The claims of this call and of those around it that are of `intent`.
    pub(crate) fn claims_of<'a>(&'a self, intent: &'a Intent) -> impl Iterator<Item = Claimed<'a>> {
        self.lineage()
            .filter(|context| context.is_of(intent))
            .filter_map(|context| context.recorder()?.claimed())
    }
}
