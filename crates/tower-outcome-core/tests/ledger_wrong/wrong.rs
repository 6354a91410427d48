//! A ledger in memory that can be told what to do wrong.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tower_outcome_core::ledger::conformance::{self, Clock};
use tower_outcome_core::ledger::machine::{Outlived, Refused, expired, outlived, step};
use tower_outcome_core::ledger::{
    Answer, Changed, Changes, Counts, Cursor, Entry, EntryKey, Event, Filter, Ledger, LedgerFuture,
    Listing, Page, State, Timestamp,
};

/// What a ledger does, and where it is wrong.
#[derive(Clone, Copy)]
pub(crate) struct Wrong {
    /// What an event does to an entry.
    pub(crate) step: Step,
    /// How an entry is shown.
    pub(crate) shown: fn(Entry, Timestamp) -> Entry,
    /// Which entries a purge takes away.
    pub(crate) outlived: fn(&Entry, Timestamp) -> bool,
    /// Which aliases a purge takes away: told whether their entry is there.
    pub(crate) forgets: fn(&Entry, Timestamp, bool) -> bool,
    /// Under which key a row is found.
    pub(crate) row: fn(&EntryKey) -> EntryKey,
    /// What is not kept.
    pub(crate) forget: fn(&mut Entry),
    /// Whether others come in between the look at a row and its change.
    pub(crate) pauses: bool,
}

type Step =
    fn(&EntryKey, Option<&Entry>, Event, Timestamp) -> Result<(Option<Entry>, Answer), Refused>;

impl Default for Wrong {
    /// Nothing is wrong.
    fn default() -> Self {
        Self {
            step,
            shown: expired,
            outlived: |entry, now| outlived(entry, now) == Outlived::Everything,
            forgets: |alias, now, leads_on| outlived(alias, now) == Outlived::Alias && !leads_on,
            row: Clone::clone,
            forget: |_| {},
            pauses: false,
        }
    }
}

/// The event at the epoch of the entry, whatever it showed, if it `is` one that is not fenced.
pub(crate) fn at_epoch(entry: Option<&Entry>, event: Event, is: fn(&Event) -> bool) -> Event {
    let Some(entry) = entry.filter(|_| is(&event)) else {
        return event;
    };
    let current = entry.epoch;
    let mut event = event;
    match &mut event {
        Event::Release { epoch, .. }
        | Event::Resolve { epoch, .. }
        | Event::Send { epoch, .. }
        | Event::Settle { epoch, .. } => *epoch = current,
        other => panic!("{other:?} has no epoch that may be wrong"),
    }
    event
}

/// The rules that the suite finds broken.
pub(crate) fn broken_rules(wrong: Wrong) -> Vec<String> {
    let suite = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let suite = conformance::run(async |clock| WrongLedger::new(wrong, clock));
        runtime.unwrap().block_on(suite);
    });
    let Err(panic) = suite.join() else {
        return Vec::new();
    };
    let text = panic.downcast_ref::<String>().unwrap();
    let rules = text.split("\n- ").skip(1);
    rules
        .map(|rule| rule.split_once(": ").unwrap().0.to_owned())
        .collect()
}

struct WrongLedger {
    wrong: Wrong,
    clock: Clock,
    rows: Arc<Mutex<BTreeMap<EntryKey, Entry>>>,
    changes: Changes,
}

impl WrongLedger {
    fn new(wrong: Wrong, clock: Clock) -> Self {
        Self {
            wrong,
            clock,
            rows: Arc::default(),
            changes: Changes::default(),
        }
    }

    fn list(&self, admits: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        let now = self.clock.now();
        let rows = self.rows.lock().unwrap();
        let shown = rows
            .values()
            .map(|entry| (self.wrong.shown)(entry.clone(), now));
        shown.filter(admits).collect()
    }
}

impl Ledger for WrongLedger {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(async move {
            let row = (self.wrong.row)(key);
            let before = self.rows.lock().unwrap().get(&row).cloned();
            if self.wrong.pauses {
                tokio::task::yield_now().await;
            }
            let now = self.clock.now();
            let (next, answer) = (self.wrong.step)(key, before.as_ref(), event, now)?;
            if let Some(mut next) = next {
                (self.wrong.forget)(&mut next);
                self.rows.lock().unwrap().insert(row, next);
                self.changes.tell(key);
            }
            Ok(answer)
        })
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        Box::pin(async move {
            let entry = (self.rows.lock().unwrap())
                .get(&(self.wrong.row)(key))
                .cloned();
            Ok(entry.map(|entry| (self.wrong.shown)(entry, self.clock.now())))
        })
    }

    fn unresolved(&self, limit: usize) -> LedgerFuture<'_, Listing> {
        Box::pin(async move {
            let mut found = self.list(|entry| entry.state == State::Unknown);
            found.sort_by_key(|entry| entry.updated_at);
            found.truncate(limit);
            Ok(found.into())
        })
    }

    fn due(&self, limit: usize) -> LedgerFuture<'_, Listing> {
        Box::pin(async move {
            let now = self.clock.now();
            let mut found =
                self.list(|entry| entry.state == State::Unknown && entry.look_at <= now);
            found.sort_by_key(|entry| entry.look_at);
            found.truncate(limit);
            Ok(found.into())
        })
    }

    fn page<'a>(&'a self, filter: &'a Filter) -> LedgerFuture<'a, Page> {
        Box::pin(async move {
            let rank = |entry: &Entry| (entry.created_at, entry.key.clone());
            let after = filter.after.as_ref().map(Cursor::place).transpose()?;
            let now = self.clock.now();
            let mut entries = self.list(|entry| {
                after.as_ref().is_none_or(|after| rank(entry) > *after) && filter.admits(entry, now)
            });
            entries.sort_by_key(rank);
            let more = entries.len() > filter.limit;
            entries.truncate(filter.limit);
            let last = entries.last().filter(|_| more);
            let next = last.map(|last| Cursor::behind(last.created_at, &last.key));
            Ok(Page {
                entries,
                next,
                unreadable: Vec::new(),
            })
        })
    }

    fn counts(&self) -> LedgerFuture<'_, Counts> {
        Box::pin(async move {
            let mut counts = Counts::default();
            for entry in self.list(|_| true) {
                counts.add(entry.state, 1, entry.updated_at);
            }
            Ok(counts)
        })
    }

    fn purge(&self, limit: usize) -> LedgerFuture<'_, usize> {
        Box::pin(async move {
            let now = self.clock.now();
            let mut rows = self.rows.lock().unwrap();
            let gone: Vec<EntryKey> = rows
                .iter()
                .filter(|(_, entry)| {
                    let target = entry.alias_of.map(|key| EntryKey {
                        scope: entry.key.scope.clone(),
                        key,
                    });
                    match target {
                        Some(to) => (self.wrong.forgets)(entry, now, rows.contains_key(&to)),
                        None => (self.wrong.outlived)(entry, now),
                    }
                })
                .map(|(key, _)| key.clone())
                .take(limit)
                .collect();
            for key in &gone {
                rows.remove(key);
            }
            let mut taken = gone.len();
            for entry in rows.values_mut() {
                if taken < limit && outlived(entry, now) == Outlived::Result {
                    entry.result = None;
                    taken += 1;
                }
            }
            Ok(taken)
        })
    }

    fn changed<'a>(&'a self, key: &'a EntryKey) -> Changed<'a> {
        Box::pin(self.changes.wait_for(key))
    }
}
