//! A ledger that lives as long as its process.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::entry::{Entry, EntryKey, State, Timestamp};
use super::event::{Answer, Event};
use super::{Ledger, LedgerError, LedgerFuture, machine};

/// An exact, bounded ledger in memory.
///
/// Guards against repeats inside one process only: what it knew is gone with the process. Nothing
/// is ever evicted to make room; a full ledger refuses new claims.
pub struct MemoryLedger {
    entries: Mutex<HashMap<EntryKey, Entry>>,
    capacity: usize,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

impl MemoryLedger {
    /// Room for `capacity` entries.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            entries: Mutex::default(),
            capacity,
            clock: Box::new(Timestamp::now),
        }
    }

    /// Reads the time from `clock`, for tests of leases.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    fn apply_now(&self, key: &EntryKey, event: Event) -> Result<Answer, LedgerError> {
        let mut entries = self.lock();
        let entry = entries.get(key);
        if entry.is_none() && entries.len() >= self.capacity {
            return Err(LedgerError::full());
        }
        let (next, answer) = machine::step(key, entry, event, (self.clock)())?;
        if let Some(next) = next {
            entries.insert(key.clone(), next);
        }
        Ok(answer)
    }

    fn unresolved_now(&self, limit: usize) -> Vec<Entry> {
        let now = (self.clock)();
        let mut found: Vec<Entry> = self
            .lock()
            .values()
            .map(|entry| machine::expired(entry.clone(), now))
            .filter(|entry| entry.state == State::Unknown)
            .collect();
        found.sort_by_key(|entry| entry.updated_at);
        found.truncate(limit);
        found
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<EntryKey, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryLedger {
    /// Room for a million entries.
    fn default() -> Self {
        Self::new(1_000_000)
    }
}

impl fmt::Debug for MemoryLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLedger")
            .field("entries", &self.lock().len())
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

impl Ledger for MemoryLedger {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(async move { self.apply_now(key, event) })
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        Box::pin(async move {
            let entry = self.lock().get(key).cloned();
            Ok(entry.map(|entry| machine::expired(entry, (self.clock)())))
        })
    }

    fn unresolved(&self, limit: usize) -> LedgerFuture<'_, Vec<Entry>> {
        Box::pin(async move { Ok(self.unresolved_now(limit)) })
    }
}
