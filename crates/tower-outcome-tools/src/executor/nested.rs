//! Calls that a handler makes through the executor it runs under.
//!
//! What such a call does is done by the outer call as well, so its end is part of the outer one's
//! evidence. It is found by the outer call's key, also from a task that the handler spawned.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tower_outcome::Context;
use tower_outcome_core::{Conclusion, Gate, IdempotencyKey};

use super::fold::{Part, open};

/// The calls of this executor whose handlers run, and what they called.
#[derive(Default)]
pub(super) struct Nests {
    nests: Mutex<HashMap<IdempotencyKey, Nest>>,
}

/// What one run of a call's handler called. The next run under the same key has a nest of its own.
#[derive(Clone, Default)]
pub(super) struct Nest {
    calls: Arc<Mutex<Vec<Nested>>>,
}

/// A call made by a handler.
#[derive(Clone)]
pub(super) struct Nested {
    name: Box<str>,
    gate: Gate,
    end: Arc<OnceLock<Conclusion>>,
}

impl Nested {
    pub(super) fn end(&self, conclusion: Conclusion) {
        // The first word stays: it is what the handler was told.
        let _ = self.end.set(conclusion);
    }
}

impl Nests {
    pub(super) fn open(&self, key: IdempotencyKey) -> Nest {
        let nest = Nest::default();
        self.lock().insert(key, nest.clone());
        nest
    }

    /// Closes `nest`, and not the one of a later run.
    pub(super) fn close(&self, key: &IdempotencyKey, nest: &Nest) {
        let mut nests = self.lock();
        let ours = |open: &Nest| Arc::ptr_eq(&open.calls, &nest.calls);
        if nests.get(key).is_some_and(ours) {
            nests.remove(key);
        }
    }

    /// Takes a call down as one that `outer`'s handler made, if that runs under this executor.
    pub(super) fn enter(&self, outer: &Context, tool: &str, gate: &Gate) -> Option<Nested> {
        let nest = self.lock().get(outer.key()).cloned()?;
        let nested = Nested {
            name: tool.into(),
            gate: gate.clone(),
            end: Arc::default(),
        };
        nest.lock().push(nested.clone());
        Some(nested)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IdempotencyKey, Nest>> {
        self.nests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Nest {
    pub(super) fn parts(&self) -> Vec<Part> {
        let calls = self.lock();
        let parts = calls.iter().map(|nested| {
            let seen = nested.gate.look();
            Part {
                name: nested.name.clone(),
                conclusion: nested.end.get().copied().unwrap_or_else(|| open(seen)),
                seen,
            }
        });
        parts.collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Nested>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
