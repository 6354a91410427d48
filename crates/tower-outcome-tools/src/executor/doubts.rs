//! The calls that this process knows to be in doubt, for when the ledger cannot be asked.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tower_outcome_core::Code;
use tower_outcome_core::ledger::{Entry, EntryKey, LedgerError, State};

/// What the ledger said last. Kept small by every answer that says otherwise.
#[derive(Default)]
pub(super) struct Doubts {
    keys: Mutex<HashSet<EntryKey>>,
}

impl Doubts {
    pub(super) fn note(&self, key: &EntryKey) {
        self.lock().insert(key.clone());
    }

    /// Takes in what the ledger says of a call.
    pub(super) fn learn(&self, key: &EntryKey, entry: Option<&Entry>) {
        match entry.map(|entry| entry.state) {
            Some(State::Unknown) => self.note(key),
            Some(_) | None => self.forget(key),
        }
    }

    pub(super) fn forget(&self, key: &EntryKey) {
        self.lock().remove(key);
    }

    /// The code of a call that the ledger could not be asked about.
    pub(super) fn unasked(&self, key: &EntryKey, error: &LedgerError) -> Code {
        tracing::warn!(%error, "the ledger could not be asked about a tool call");
        if self.lock().contains(key) {
            Code::StillConfirming
        } else {
            error.code()
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<EntryKey>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
