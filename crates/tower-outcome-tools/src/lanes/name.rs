//! The name of a lane.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{BuildHasher as _, Hash, Hasher, RandomState};
use std::sync::{Arc, LazyLock};

/// The name of a thing that only one call at a time may touch.
///
/// Cheap to clone. `Debug` does not show the name: it is likely made of arguments.
#[derive(Clone)]
pub struct Lane {
    name: Arc<str>,
    /// Made once, so that a turn in the lane hashes nothing.
    mark: Mark,
}

impl Lane {
    /// Two lanes of the same name are the same lane, whatever tool or scope takes it: put the
    /// tenant into the name where the things of two tenants share names.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        let name = name.into();
        let mark = Mark::of(&name);
        Self { name, mark }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) const fn mark(&self) -> Mark {
        self.mark
    }
}

impl PartialEq for Lane {
    fn eq(&self, other: &Self) -> bool {
        self.mark == other.mark && self.name == other.name
    }
}

impl Eq for Lane {}

impl Hash for Lane {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.mark.0);
    }
}

impl Ord for Lane {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name.cmp(&other.name)
    }
}

impl PartialOrd for Lane {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane").finish_non_exhaustive()
    }
}

/// What a table knows of a name: 63 bits of a hash whose seed is chance, so that nobody can choose
/// names that share a mark. Two that do by chance are one lane: they wait for each other.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) struct Mark(u64);

impl Mark {
    fn of(name: &str) -> Self {
        static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        Self((HASHER.hash_one(name) & !1).max(2))
    }

    /// Other bits than those by which a hash table finds it.
    pub(super) const fn place(self) -> usize {
        (self.0 >> 48) as usize
    }
}

impl From<Mark> for u64 {
    fn from(mark: Mark) -> Self {
        mark.0
    }
}

impl From<u64> for Mark {
    fn from(mark: u64) -> Self {
        Self(mark)
    }
}
