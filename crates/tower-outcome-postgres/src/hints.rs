//! Rows that are likely to be as we left them.

use std::collections::HashMap;

use tower_outcome_core::ledger::{EntryKey, State};

use crate::rows::Stored;

/// The rows of claims that this process holds, so that the next change of them needs no look first.
///
/// Only a belief: it is checked by the statement that uses it. Keeps the last few thousand.
#[derive(Default)]
pub(crate) struct Hints {
    young: HashMap<EntryKey, Stored>,
    old: HashMap<EntryKey, Stored>,
}

impl Hints {
    /// Keeps the row of a claim that is likely to go on.
    pub(crate) fn keep(&mut self, stored: Stored) {
        if !matches!(stored.entry.state, State::Claimed | State::Dispatching) {
            return;
        }
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(stored.entry.key.clone(), stored);
    }

    pub(crate) fn take(&mut self, key: &EntryKey) -> Option<Stored> {
        let old = self.old.remove(key);
        self.young.remove(key).or(old)
    }
}

const GENERATION: usize = 4096;
