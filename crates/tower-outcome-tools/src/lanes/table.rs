//! The lanes that are held, and those who wait for them.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::Lane;
use super::name::hash;
use crate::line::{Line, Place};

/// One entry for each lane that is held.
pub(super) struct Table {
    shards: [Mutex<Shard>; SHARDS],
    numbers: AtomicU64,
}

type Shard = HashTable<Slot>;

struct Slot {
    name: Arc<str>,
    /// Boxed, since hardly any lane is waited for.
    line: Option<Box<Line>>,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            numbers: AtomicU64::new(0),
        }
    }
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    pub(super) fn try_take(&self, lane: &Lane) -> bool {
        match find(&mut self.shard(lane), lane) {
            Entry::Occupied(_) => false,
            Entry::Vacant(free) => {
                free.insert(Slot::of(lane));
                true
            }
        }
    }

    /// Takes the lane, or joins its line.
    pub(super) fn take(&self, lane: &Lane) -> Result<(), Place> {
        match find(&mut self.shard(lane), lane) {
            Entry::Occupied(mut held) => {
                let line = held.get_mut().line.get_or_insert_default();
                Err(line.join(&self.numbers))
            }
            Entry::Vacant(free) => {
                free.insert(Slot::of(lane));
                Ok(())
            }
        }
    }

    /// Gives the lane to whoever is next.
    pub(super) fn free(&self, lane: &Lane) {
        let mut shard = self.shard(lane);
        let Ok(mut held) = shard.find_entry(lane.hash(), |slot| lane.is(&slot.name)) else {
            return;
        };
        let slot = held.get_mut();
        if let Some(next) = slot.line.as_mut().and_then(|line| line.next()) {
            slot.drop_empty_line();
            drop(shard);
            // If it leaves just now, it hands the lane on by itself.
            let _ = next.send(());
            return;
        }
        let (gone, _) = held.remove();
        let (len, capacity) = (shard.len(), shard.capacity());
        if capacity > SPARE && len < capacity / 8 {
            shard.shrink_to(len * 2, |slot| hash(&slot.name));
        }
        drop(shard);
        drop(gone);
    }

    pub(super) fn leave(&self, lane: &Lane, number: u64) {
        let mut shard = self.shard(lane);
        let slot = shard.find_mut(lane.hash(), |slot| lane.is(&slot.name));
        let left = slot.is_some_and(|slot| {
            let left = slot.line.as_mut().is_some_and(|line| line.leave(number));
            slot.drop_empty_line();
            left
        });
        drop(shard);
        if !left {
            self.free(lane);
        }
    }

    fn shard(&self, lane: &Lane) -> MutexGuard<'_, Shard> {
        // A shard looks at the ends of the hash.
        let place = (lane.hash() >> 32) as usize % SHARDS;
        lock(&self.shards[place])
    }
}

impl Slot {
    fn of(lane: &Lane) -> Self {
        Self {
            name: Arc::clone(lane.shared_name()),
            line: None,
        }
    }

    fn drop_empty_line(&mut self) {
        self.line.take_if(|line| line.is_empty());
    }
}

fn find<'a>(shard: &'a mut Shard, lane: &Lane) -> Entry<'a, Slot> {
    let is_it = |slot: &Slot| lane.is(&slot.name);
    shard.entry(lane.hash(), is_it, |slot| hash(&slot.name))
}

fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Enough that tasks on all threads hardly ever meet.
const SHARDS: usize = 64;

/// How many entries a shard keeps room for, though none is held.
const SPARE: usize = 64;
