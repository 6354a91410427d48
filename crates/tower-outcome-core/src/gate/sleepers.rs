//! Who waits for a seal.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Wakers of everyone who waits for a seal anywhere in a family of gates.
pub(super) struct Sleepers {
    list: Mutex<List>,
}

struct List {
    last: u64,
    /// As many as wait for a write that nothing goes wrong with.
    first: [Option<Sleeper>; 2],
    others: Vec<Sleeper>,
}

struct Sleeper {
    slot: u64,
    waker: Waker,
}

impl Sleepers {
    pub(super) const fn new() -> Self {
        Self {
            list: Mutex::new(List {
                last: 0,
                first: [None, None],
                others: Vec::new(),
            }),
        }
    }

    // A waker may be the last reference to a task that waits here as well: it is only ever dropped
    // once the lock is free, or its own drop would ask for the lock.
    pub(super) fn sleep(&self, slot: Option<u64>, waker: &Waker) -> u64 {
        let mut list = self.lock();
        let known = slot.and_then(|slot| list.all().find(|it| it.slot == slot));
        if let Some(Sleeper { slot, waker: known }) = known {
            let slot = *slot;
            let old = (!known.will_wake(waker)).then(|| std::mem::replace(known, waker.clone()));
            drop(list);
            drop(old);
            return slot;
        }
        list.last += 1;
        let slot = list.last;
        let sleeper = Sleeper {
            slot,
            waker: waker.clone(),
        };
        match list.first.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(sleeper),
            None => list.others.push(sleeper),
        }
        slot
    }

    pub(super) fn forget(&self, slot: u64) {
        let mut list = self.lock();
        let is_it = |place: &&mut Option<Sleeper>| place.as_ref().is_some_and(|it| it.slot == slot);
        let forgotten = match list.first.iter_mut().find(is_it) {
            Some(place) => place.take(),
            None => {
                let place = list.others.iter().position(|it| it.slot == slot);
                place.map(|place| list.others.swap_remove(place))
            }
        };
        drop(list);
        drop(forgotten);
    }

    pub(super) fn wake(&self) {
        let mut list = self.lock();
        if list.all().next().is_none() {
            return;
        }
        let first = std::mem::take(&mut list.first);
        let others = std::mem::take(&mut list.others);
        drop(list);
        for sleeper in first.into_iter().flatten().chain(others) {
            sleeper.waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl List {
    fn all(&mut self) -> impl Iterator<Item = &mut Sleeper> {
        self.first.iter_mut().flatten().chain(&mut self.others)
    }
}
