//! Rows by their keys, in parts that are locked one at a time.
//!
//! No part grows large, so that nobody waits long for one that grows or is gone through.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashTable;

use super::super::LedgerError;
use super::super::entry::EntryKey;
use super::super::row::Row;

/// At most so many rows.
pub(super) struct Table {
    parts: Box<[Mutex<Part>]>,
    secrets: [u64; 2],
    capacity: usize,
    rows: AtomicUsize,
}

/// Some of the rows. Boxed: tables have more room than rows.
pub(super) type Part = HashTable<Box<Row>>;

impl Table {
    pub(super) fn new(capacity: usize) -> Self {
        let parts = capacity.div_ceil(ROWS).clamp(FEWEST_PARTS, MOST_PARTS);
        let random = RandomState::new();
        Self {
            parts: (0..parts).map(|_| Mutex::default()).collect(),
            secrets: [random.hash_one(0), random.hash_one(1)],
            capacity,
            rows: AtomicUsize::new(0),
        }
    }

    pub(super) const fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn len(&self) -> usize {
        self.rows.load(Ordering::Relaxed)
    }

    /// All parts, one after the other, from the one at `start` on.
    pub(super) fn parts(
        &self,
        start: usize,
    ) -> impl Iterator<Item = (usize, MutexGuard<'_, Part>)> {
        let (before, from) = self.parts.split_at(start.min(self.parts.len()));
        let order = (start..).zip(from).chain((0..).zip(before));
        order.map(|(place, part)| (place, lock(part)))
    }

    /// The part with the key, and its hash.
    pub(super) fn part(&self, key: &EntryKey) -> (MutexGuard<'_, Part>, u64) {
        let hash = self.hash(key);
        // Neither the bits that a part's table takes for the place in it, nor those it compares.
        let middle = (hash >> 20) & u64::from(u32::MAX);
        let place = (middle * self.parts.len() as u64) >> 32;
        (
            lock(&self.parts[usize::try_from(place).unwrap_or_default()]),
            hash,
        )
    }

    pub(super) fn contains(&self, key: &EntryKey) -> bool {
        let (mut part, hash) = self.part(key);
        Self::find(&mut part, key, hash).is_some()
    }

    pub(super) fn find<'a>(part: &'a mut Part, key: &EntryKey, hash: u64) -> Option<&'a mut Row> {
        let row = part.find_mut(hash, |row| {
            row.key.key == key.key && row.key.scope == key.scope
        });
        row.map(|row| &mut **row)
    }

    /// Adds a row that is not there, if there is room.
    pub(super) fn insert(
        &self,
        part: &mut Part,
        row: Box<Row>,
        hash: u64,
    ) -> Result<(), LedgerError> {
        self.rows
            .try_update(Ordering::Relaxed, Ordering::Relaxed, |rows| {
                (rows < self.capacity).then_some(rows + 1)
            })
            .map_err(|_| LedgerError::full())?;
        if part.capacity() == 0 {
            part.reserve(FIRST_ROWS, |row| self.hash(&row.key));
        }
        part.insert_unique(hash, row, |row| self.hash(&row.key));
        Ok(())
    }

    /// Takes out the rows of a part that are not to be kept. Given back, so that nobody waits for the
    /// part while their memory is freed.
    #[must_use]
    #[expect(clippy::vec_box, reason = "a move out of the box takes time as well")]
    pub(super) fn retain(
        &self,
        part: &mut Part,
        mut keep: impl FnMut(&mut Row) -> bool,
    ) -> Vec<Box<Row>> {
        let gone: Vec<_> = part.extract_if(|row| !keep(row)).collect();
        self.rows.fetch_sub(gone.len(), Ordering::Relaxed);
        if part.len() < part.capacity() / 8 {
            part.shrink_to(part.len() * 2, |row| self.hash(&row.key));
        }
        gone
    }

    /// Keys are digests already. The secrets keep those who may choose what is digested from making
    /// keys that meet in one place.
    fn hash(&self, key: &EntryKey) -> u64 {
        let (words, _) = key.key.as_bytes().as_chunks();
        let [one, other] = [0, 1].map(|at| u64::from_le_bytes(words[at]) ^ self.secrets[at]);
        let (low, high) = one.carrying_mul(other, 0);
        low ^ high
    }
}

fn lock(part: &Mutex<Part>) -> MutexGuard<'_, Part> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many rows there are in a part of a full table: what a hash table of 4,096 places takes, with
/// some more room than chance needs.
const ROWS: usize = 3072;

/// For how many rows there is room in a part that has one: it need not grow at once.
const FIRST_ROWS: usize = 14;

/// Enough that tasks on all threads hardly ever meet.
const FEWEST_PARTS: usize = 16;

/// Enough for ten million rows, at 40 bytes each.
const MOST_PARTS: usize = 4096;
