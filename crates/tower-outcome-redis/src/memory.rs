//! What this process has written and others may still change.
//!
//! The holder of a claim knows its row, so that its next step needs no look first. And a server that
//! comes back without the row, after a failover, is told it again.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tower_outcome_core::ledger::{EntryKey, State};

use crate::row::Stored;

/// The rows that this process wrote last, of entries that have not ended.
#[derive(Default)]
pub(crate) struct Memory {
    rows: Mutex<Rows>,
}

#[derive(Default)]
struct Rows {
    /// Each with its place in `order`.
    kept: HashMap<EntryKey, (u64, Stored)>,
    /// Those written least recently come first.
    order: BTreeMap<u64, EntryKey>,
    written: u64,
    has_forgotten: bool,
}

impl Memory {
    pub(crate) fn recall(&self, key: &EntryKey) -> Option<Stored> {
        self.lock().kept.get(key).map(|(_, stored)| stored.clone())
    }

    /// Whether a claim of this process may be among what it no longer remembers.
    pub(crate) fn has_forgotten(&self) -> bool {
        self.lock().has_forgotten
    }

    /// Keeps what was written last, or lets go of what has ended.
    pub(crate) fn keep(&self, stored: Stored) {
        let mut rows = self.lock();
        match stored.entry.state {
            State::Claimed | State::Dispatching | State::Unknown => rows.insert(stored),
            State::Alias | State::Done | State::Failed | State::Free | State::Partial => {
                rows.remove(&stored.entry.key);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    fn insert(&mut self, stored: Stored) {
        let key = stored.entry.key.clone();
        self.remove(&key);
        // Rows that others have ended, or whose owners never came back, pile up.
        if self.kept.len() >= CAPACITY
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.kept.remove(&oldest);
            self.has_forgotten = true;
        }
        self.written += 1;
        self.order.insert(self.written, key.clone());
        self.kept.insert(key, (self.written, stored));
    }

    fn remove(&mut self, key: &EntryKey) {
        if let Some((place, _)) = self.kept.remove(key) {
            self.order.remove(&place);
        }
    }
}

/// Some 10 MB.
const CAPACITY: usize = 10_000;
