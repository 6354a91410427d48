//! How many calls may wait.
//!
//! Bounded in all, so that memory is, and for each scope, so that one cannot fill the queue up for
//! the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The calls that wait.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    all: usize,
    scopes: HashMap<Arc<str>, usize>,
}

/// How many may.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) all: usize,
    pub(super) scope: usize,
}

impl Queue {
    /// A place, if there is room for another call of `scope`.
    pub(super) fn enter(&self, scope: &str, bounds: Bounds) -> Option<Place<'_>> {
        let mut waiting = self.lock();
        let of_scope = waiting.scopes.get(scope).copied().unwrap_or_default();
        if waiting.all >= bounds.all || of_scope >= bounds.scope {
            return None;
        }
        let known = waiting.scopes.get_key_value(scope);
        let scope = known.map_or_else(|| scope.into(), |(name, _)| Arc::clone(name));
        waiting.all += 1;
        waiting.scopes.insert(Arc::clone(&scope), of_scope + 1);
        Some(Place { queue: self, scope })
    }

    pub(super) fn len(&self) -> usize {
        self.lock().all
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the queue, until it is dropped.
pub(super) struct Place<'a> {
    queue: &'a Queue,
    scope: Arc<str>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut waiting = self.queue.lock();
        waiting.all -= 1;
        if let Some(of_scope) = waiting.scopes.get_mut(&self.scope) {
            *of_scope -= 1;
            if *of_scope == 0 {
                waiting.scopes.remove(&self.scope);
            }
        }
    }
}
