//! What the service has received and done. It is right by definition.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::plan::Fate;

/// The books of all services of a run.
pub(crate) struct Books {
    pages: Mutex<Pages>,
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct Pages {
    /// Counts what was written down.
    now: u64,
    cycles: HashMap<u64, Vec<Line>>,
    /// What becomes of the next request of a call.
    fates: HashMap<Call, Fate>,
    /// The effects, by the key that their request carried.
    effects: HashMap<String, u64>,
}

/// A cycle, and the number of a call in it.
pub(crate) type Call = (u64, u32);

/// One thing that happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// Numbers all that happened, in order.
    pub(crate) at: u64,
    /// The call whose request it was.
    pub(crate) call: u32,
    pub(crate) what: What,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum What {
    /// A write took effect: this one.
    Committed(u64),
    Received,
}

impl Books {
    pub(crate) fn new() -> Self {
        Self {
            pages: Mutex::default(),
            changed: watch::Sender::new(()),
        }
    }

    /// Says what becomes of the next request of `call`. Later ones are answered at once.
    pub(crate) fn plan(&self, call: Call, fate: Fate) {
        self.pages().fates.insert(call, fate);
    }

    pub(crate) fn receive(&self, call: Call) -> Fate {
        let mut pages = self.pages();
        let fate = pages.fates.remove(&call).unwrap_or_default();
        self.write(&mut pages, call, What::Received);
        fate
    }

    /// Does the write, unless its key is known and counts. Returns the effect.
    pub(crate) fn commit(&self, call: Call, key: &str, key_counts: bool) -> u64 {
        let mut pages = self.pages();
        let known = pages.effects.get(key).copied();
        if let Some(effect) = known.filter(|_| key_counts) {
            return effect;
        }
        let effect = pages.now;
        pages.effects.insert(key.to_owned(), effect);
        self.write(&mut pages, call, What::Committed(effect));
        effect
    }

    pub(crate) fn effect(&self, key: &str) -> Option<u64> {
        self.pages().effects.get(key).copied()
    }

    /// What comes later has this number or a higher one.
    pub(crate) fn now(&self) -> u64 {
        self.pages().now
    }

    /// All that happened in a cycle.
    pub(crate) fn lines(&self, cycle: u64) -> Vec<Line> {
        let pages = self.pages();
        pages.cycles.get(&cycle).cloned().unwrap_or_default()
    }

    /// Waits until it has happened to a request of `call`.
    pub(crate) async fn wait(&self, (cycle, call): Call, what: impl Fn(What) -> bool) {
        let mut changed = self.changed.subscribe();
        loop {
            let lines = self.lines(cycle);
            if lines
                .iter()
                .any(|line| line.call == call && what(line.what))
            {
                return;
            }
            // The sender lives as long as we do.
            let _ = changed.changed().await;
        }
    }

    fn write(&self, pages: &mut Pages, (cycle, call): Call, what: What) {
        let at = pages.now;
        pages.now += 1;
        let line = Line { at, call, what };
        pages.cycles.entry(cycle).or_default().push(line);
        self.changed.send_replace(());
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
