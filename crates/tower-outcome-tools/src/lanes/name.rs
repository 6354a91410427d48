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
    /// Taken once, so that a turn in a lane takes none.
    hash: u64,
}

impl Lane {
    /// Two lanes of the same name are the same lane, whatever tool or scope takes it: put the
    /// tenant into the name where the things of two tenants share names.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        let name = name.into();
        let hash = hash(&name);
        Self { name, hash }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) const fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) const fn shared_name(&self) -> &Arc<str> {
        &self.name
    }

    /// Whether it has this name. Whoever gives a lane back has the very name that it took.
    pub(super) fn is(&self, name: &Arc<str>) -> bool {
        Arc::ptr_eq(&self.name, name) || self.name == *name
    }
}

/// The same for all lanes of this process. Its seed is chance, since names are made of what others
/// say, who could choose names that all end up in one place.
pub(super) fn hash(name: &str) -> u64 {
    static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    HASHER.hash_one(name)
}

impl PartialEq for Lane {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.is(&other.name)
    }
}

impl Eq for Lane {}

impl Hash for Lane {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
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
