//! What this process has written and others may still change.
//!
//! The holder of a claim knows its row, so that its next step needs no look first. And a server that
//! comes back without the row, after a failover, is told it again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tower_outcome_core::ledger::{EntryKey, State};

use crate::row::Stored;

/// The rows that this process wrote last, of entries that have not ended.
#[derive(Default)]
pub(crate) struct Memory {
    rows: Mutex<HashMap<EntryKey, Stored>>,
}

impl Memory {
    pub(crate) fn recall(&self, key: &EntryKey) -> Option<Stored> {
        self.lock().get(key).cloned()
    }

    /// Keeps what was written last, or forgets what has ended.
    pub(crate) fn keep(&self, stored: Stored) {
        let mut rows = self.lock();
        match stored.entry.state {
            State::Claimed | State::Dispatching | State::Unknown => {
                // Rows of owners that never came back pile up. Whoever is forgotten looks once.
                if rows.len() >= CAPACITY {
                    rows.clear();
                }
                rows.insert(stored.entry.key.clone(), stored);
            }
            State::Alias | State::Done | State::Failed | State::Free | State::Partial => {
                rows.remove(&stored.entry.key);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<EntryKey, Stored>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Some 10 MB.
const CAPACITY: usize = 10_000;
