//! A ledger that lives as long as its process.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::table::Table;
use super::changes::Changes;
use super::entry::{Entry, EntryKey, State, Timestamp};
use super::event::{Answer, Event};
use super::machine::{self, Outlived};
use super::row::Row;
use super::{
    Changed, Counts, Cursor, Filter, Immediate, Ledger, LedgerError, LedgerFuture, Listing, Page,
};

mod table;

/// An exact, bounded ledger in memory.
///
/// Guards against repeats inside one process only: what it knew is gone with the process. Nothing
/// is ever evicted to make room; a full ledger refuses new claims.
///
/// An entry that is done takes some 160 bytes and its result, and what was recorded of its writes.
pub struct MemoryLedger {
    table: Table,
    changes: Changes,
    /// The part of the table where the last purge had enough.
    purged: AtomicUsize,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

impl MemoryLedger {
    /// Room for `capacity` entries.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            table: Table::new(capacity),
            changes: Changes::default(),
            purged: AtomicUsize::new(0),
            clock: Box::new(Timestamp::now),
        }
    }

    /// Reads the time from `clock`, for tests of leases.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    fn step(&self, key: &EntryKey, event: &mut Event) -> Result<Answer, LedgerError> {
        let (mut part, hash) = self.table.part(key);
        let now = (self.clock)();
        let mut vacancy = None;
        let row = match Table::find(&mut part, key, hash) {
            Some(row) => row,
            None => vacancy.insert(machine::vacancy(key, event, now)?),
        };
        let (changed, answer) = machine::advance(row, event, now)?;
        if changed && let Some(row) = vacancy {
            self.table.insert(&mut part, row, hash)?;
        }
        drop(part);
        if changed {
            self.changes.tell(key);
        }
        Ok(answer)
    }

    /// The first `limit` entries, in the order of what `time` says of them, of those that it says
    /// something of and `admits` admits. Holds a part of the table at a time.
    fn first(
        &self,
        limit: usize,
        time: impl Fn(&Row, State) -> Option<Timestamp>,
        admits: impl Fn(&Entry, Timestamp) -> bool,
    ) -> Vec<Entry> {
        let mut found = BTreeMap::new();
        for (_, part) in self.table.parts(0) {
            let now = (self.clock)();
            for row in &*part {
                let Some(time) = time(row, row.life().state_at(now)) else {
                    continue;
                };
                let place = (time, row.key.clone());
                let full = found.len() >= limit;
                if full && found.last_key_value().is_none_or(|(last, _)| *last < place) {
                    continue;
                }
                let entry = machine::expired(row.entry(), now);
                if admits(&entry, now) {
                    found.insert(place, entry);
                    if full {
                        found.pop_last();
                    }
                }
            }
        }
        found.into_values().collect()
    }

    fn page_now(&self, filter: &Filter) -> Result<Page, LedgerError> {
        let after = filter.after.as_ref().map(Cursor::place).transpose()?;
        let behind = |row: &Row| {
            (after.as_ref()).is_none_or(|(time, key)| (row.created_at, &row.key) > (*time, key))
        };
        let mut entries = self.first(
            filter.limit.saturating_add(1),
            |row, state| {
                let listed = filter.state.is_none_or(|asked| asked == state) && behind(row);
                listed.then_some(row.created_at)
            },
            |entry, now| filter.admits(entry, now),
        );
        let more = entries.len() > filter.limit;
        entries.truncate(filter.limit);
        let last = entries.last().filter(|_| more);
        let next = last.map(|last| Cursor::behind(last.created_at, &last.key));
        Ok(Page {
            entries,
            next,
            unreadable: Vec::new(),
        })
    }

    fn purge_now(&self, limit: usize) -> usize {
        let mut purged = 0;
        for (place, mut part) in self.table.parts(self.purged.load(Ordering::Relaxed)) {
            let now = (self.clock)();
            let (mut aliases, mut results) = (Vec::new(), Vec::new());
            let gone = self.table.retain(&mut part, |row| {
                let outlived = if purged < limit {
                    row.life().outlived(now)
                } else {
                    Outlived::Nothing
                };
                match outlived {
                    Outlived::Alias => {
                        aliases.push((row.key.clone(), row.alias_of().map(|of| row.key.at(of))));
                    }
                    Outlived::Result => results.extend(row.take_result()),
                    Outlived::Everything | Outlived::Nothing => {}
                }
                purged += usize::from(matches!(outlived, Outlived::Everything | Outlived::Result));
                outlived != Outlived::Everything
            });
            drop(part);
            drop((gone, results));
            // The entry that an alias leads to is in another part: one is locked at a time.
            for (key, target) in aliases {
                let leads_on = target.is_some_and(|target| self.table.contains(&target));
                if purged < limit && !leads_on {
                    purged += usize::from(self.forget_alias(&key));
                }
            }
            if purged == limit {
                self.purged.store(place, Ordering::Relaxed);
                break;
            }
        }
        purged
    }

    /// Takes an alias away that leads nowhere, unless it was used meanwhile.
    fn forget_alias(&self, key: &EntryKey) -> bool {
        let (mut part, _) = self.table.part(key);
        let now = (self.clock)();
        let gone = self.table.retain(&mut part, |row| {
            row.key != *key || row.life().outlived(now) != Outlived::Alias
        });
        drop(part);
        !gone.is_empty()
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
            .field("entries", &self.table.len())
            .field("capacity", &self.table.capacity())
            .finish_non_exhaustive()
    }
}

impl Ledger for MemoryLedger {
    fn apply<'a>(&'a self, key: &'a EntryKey, mut event: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(async move { self.step(key, &mut event) })
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        Box::pin(async move {
            let (mut part, hash) = self.table.part(key);
            let entry = Table::find(&mut part, key, hash).map(|row| row.entry());
            drop(part);
            Ok(entry.map(|entry| machine::expired(entry, (self.clock)())))
        })
    }

    fn unresolved(&self, limit: usize) -> LedgerFuture<'_, Listing> {
        Box::pin(async move {
            let unknown = |row: &Row, state| (state == State::Unknown).then_some(row.updated_at);
            Ok(self.first(limit, unknown, |_, _| true).into())
        })
    }

    fn due(&self, limit: usize) -> LedgerFuture<'_, Listing> {
        Box::pin(async move {
            let unknown = |row: &Row, state| (state == State::Unknown).then(|| row.look_at());
            let due = self.first(limit, unknown, |entry, now| entry.look_at <= now);
            Ok(due.into())
        })
    }

    fn page<'a>(&'a self, filter: &'a Filter) -> LedgerFuture<'a, Page> {
        Box::pin(async move { self.page_now(filter) })
    }

    fn counts(&self) -> LedgerFuture<'_, Counts> {
        Box::pin(async move {
            let mut counts = Counts::default();
            for (_, part) in self.table.parts(0) {
                let now = (self.clock)();
                for row in &*part {
                    counts.add(row.life().state_at(now), 1, row.updated_at);
                }
            }
            Ok(counts)
        })
    }

    fn purge(&self, limit: usize) -> LedgerFuture<'_, usize> {
        Box::pin(async move { Ok(self.purge_now(limit)) })
    }

    fn changed<'a>(&'a self, key: &'a EntryKey) -> Changed<'a> {
        Box::pin(self.changes.wait_for(key))
    }

    fn immediate(&self) -> Option<&dyn Immediate> {
        Some(self)
    }
}

impl Immediate for MemoryLedger {
    fn apply_now(&self, key: &EntryKey, mut event: Event) -> Result<Answer, LedgerError> {
        self.step(key, &mut event)
    }
}
