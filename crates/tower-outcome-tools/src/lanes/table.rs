//! The lanes that are held, and those who wait for them.
//!
//! Nearly every lane is wanted by one call at a time, so that its turn is two swaps of one word: the
//! lane's mark goes in and comes out. Where a second one wants something at the same word, be it the
//! same lane or another, the word is crowded: all that is held there stands in a shard then, with
//! those who wait, until the last of it is free.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::name::Mark;
use crate::line::{Line, Place};

pub(super) struct Table {
    /// [`FREE`], or the mark of the one lane that is held here, which is even, or how many of a
    /// crowd are held, times two and one more.
    words: Box<[AtomicU64; WORDS]>,
    shards: [Mutex<Shard>; SHARDS],
    numbers: AtomicU64,
}

/// One entry for each lane that is held at a crowded word.
type Shard = HashTable<Slot>;

struct Slot {
    mark: Mark,
    /// Boxed, since hardly any lane is waited for.
    line: Option<Box<Line>>,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            words: Box::new(std::array::from_fn(|_| AtomicU64::new(FREE))),
            shards: std::array::from_fn(|_| Mutex::default()),
            numbers: AtomicU64::new(0),
        }
    }
}

impl Table {
    pub(super) fn len(&self) -> usize {
        let words = self.words.iter().map(|word| word.load(Ordering::Relaxed));
        let alone = words.filter(|word| *word != FREE && !is_crowded(*word));
        let shards = self.shards.iter().map(|shard| lock(shard).len());
        alone.count() + shards.sum::<usize>()
    }

    #[inline]
    pub(super) fn try_take(&self, mark: Mark) -> bool {
        self.take_alone(mark) || self.take_in_crowd(mark, |_| ()).is_ok()
    }

    /// Takes the lane, or joins its line.
    pub(super) fn take(&self, mark: Mark) -> Result<(), Place> {
        if self.take_alone(mark) {
            return Ok(());
        }
        self.take_in_crowd(mark, |slot| {
            slot.line.get_or_insert_default().join(&self.numbers)
        })
    }

    #[inline]
    fn take_alone(&self, mark: Mark) -> bool {
        swap(self.word(mark), FREE, mark.into())
    }

    /// Takes the lane, or what `held` makes of the slot of whoever has it.
    #[cold]
    fn take_in_crowd<T>(&self, mark: Mark, held: impl FnOnce(&mut Slot) -> T) -> Result<(), T> {
        let word = self.word(mark);
        let mut shard = self.shard(mark);
        loop {
            let seen = word.load(Ordering::Acquire);
            if is_crowded(seen) {
                break;
            }
            if seen == FREE {
                if swap(word, FREE, mark.into()) {
                    return Ok(());
                }
            } else if swap(word, seen, CROWD + ONE) {
                // Whoever has it finds its mark gone, and looks here.
                let mark = Mark::from(seen);
                shard.insert_unique(seen, Slot { mark, line: None }, Slot::hash);
                break;
            }
        }
        match shard.entry(mark.into(), |slot| slot.mark == mark, Slot::hash) {
            Entry::Occupied(mut slot) => Err(held(slot.get_mut())),
            Entry::Vacant(free) => {
                free.insert(Slot { mark, line: None });
                word.fetch_add(ONE, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// Gives the lane to whoever is next.
    #[inline]
    pub(super) fn free(&self, mark: Mark) {
        if !swap(self.word(mark), mark.into(), FREE) {
            self.free_in_crowd(mark);
        }
    }

    #[cold]
    fn free_in_crowd(&self, mark: Mark) {
        let mut shard = self.shard(mark);
        let Ok(mut held) = shard.find_entry(mark.into(), |slot| slot.mark == mark) else {
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
        held.remove();
        let word = self.word(mark);
        if word.fetch_sub(ONE, Ordering::Relaxed) == CROWD + ONE {
            word.store(FREE, Ordering::Release);
        }
        let (len, capacity) = (shard.len(), shard.capacity());
        if capacity > SPARE && len < capacity / 8 {
            shard.shrink_to(len * 2, Slot::hash);
        }
    }

    pub(super) fn leave(&self, mark: Mark, number: u64) {
        let mut shard = self.shard(mark);
        let slot = shard.find_mut(mark.into(), |slot| slot.mark == mark);
        let left = slot.is_some_and(|slot| {
            let left = slot.line.as_mut().is_some_and(|line| line.leave(number));
            slot.drop_empty_line();
            left
        });
        drop(shard);
        if !left {
            self.free(mark);
        }
    }

    fn word(&self, mark: Mark) -> &AtomicU64 {
        &self.words[mark.place() % WORDS]
    }

    /// The shard of all that is held at the same word.
    fn shard(&self, mark: Mark) -> MutexGuard<'_, Shard> {
        lock(&self.shards[mark.place() % SHARDS])
    }
}

impl Slot {
    fn hash(&self) -> u64 {
        self.mark.into()
    }

    fn drop_empty_line(&mut self) {
        self.line.take_if(|line| line.is_empty());
    }
}

fn swap(word: &AtomicU64, from: u64, to: u64) -> bool {
    let swapped = word.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed);
    swapped.is_ok()
}

const fn is_crowded(word: u64) -> bool {
    word & CROWD != 0
}

fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

const FREE: u64 = 0;
const CROWD: u64 = 1;
const ONE: u64 = 2;

/// A few pages, in which calls of different lanes hardly ever meet. A multiple of [`SHARDS`].
const WORDS: usize = 1024;

/// Enough that tasks on all threads hardly ever meet.
const SHARDS: usize = 64;

/// How many entries a shard keeps room for, though none is held.
const SPARE: usize = 64;
