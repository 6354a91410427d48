//! Calls that a handler makes through an executor.
//!
//! What such a call does is done by the outer call as well, so its end is part of the outer one's
//! evidence. What the outer call holds covers it: it waits neither for a lane that a call around it
//! holds nor for a permit. All of that travels with the context, into tasks that the handler spawns
//! and through other executors in between.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tower_outcome::Context;
use tower_outcome_core::{Conclusion, Gate};

use super::State;
use super::fold::{Part, open};
use crate::lanes::{Lane, LaneSet, Lanes};

/// What one run of a call's handler called, and what it holds.
#[derive(Clone)]
pub(super) struct Nest {
    inside: Arc<Inside>,
}

struct Inside {
    /// The executor that runs the handler.
    state: Arc<State>,
    lanes: Lanes,
    held: LaneSet,
    calls: Mutex<Vec<Nested>>,
    /// Executors that run the same call inside it.
    stacked: Mutex<Vec<Arc<State>>>,
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

impl Nest {
    pub(super) fn new(state: Arc<State>, lanes: Lanes, held: LaneSet) -> Self {
        Self {
            inside: Arc::new(Inside {
                state,
                lanes,
                held,
                calls: Mutex::default(),
                stacked: Mutex::default(),
            }),
        }
    }

    /// Takes a call down as one that `outer`'s handler made, if an executor runs it.
    pub(super) fn enter(outer: &Context, tool: &str, gate: &Gate) -> Option<Nested> {
        let nest = outer.extension::<Self>()?;
        let nested = Nested {
            name: tool.into(),
            gate: gate.clone(),
            end: Arc::default(),
        };
        lock(&nest.inside.calls).push(nested.clone());
        Some(nested)
    }

    /// Whether another executor than this one runs the handler.
    pub(super) fn is_of_another(&self, state: &Arc<State>) -> bool {
        !Arc::ptr_eq(&self.inside.state, state)
    }

    /// Lets `state`'s executor run the call inside itself; `None` if it does so already.
    pub(super) fn stack(&self, state: &Arc<State>) -> Option<Stacked> {
        let mut stacked = lock(&self.inside.stacked);
        if stacked.iter().any(|known| Arc::ptr_eq(known, state)) {
            return None;
        }
        stacked.push(Arc::clone(state));
        Some(Stacked {
            nest: self.clone(),
            state: Arc::clone(state),
        })
    }

    pub(super) fn parts(&self) -> Vec<Part> {
        let calls = lock(&self.inside.calls);
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
}

/// An executor that runs a call inside the same call of another one.
pub(super) struct Stacked {
    nest: Nest,
    state: Arc<State>,
}

impl Drop for Stacked {
    fn drop(&mut self) {
        let mut stacked = lock(&self.nest.inside.stacked);
        stacked.retain(|known| !Arc::ptr_eq(known, &self.state));
    }
}

/// Whether one of the calls around has a permit of this executor.
pub(super) fn has_permit(outer: Option<&Context>, state: &Arc<State>) -> bool {
    nests(outer).any(|nest| !nest.is_of_another(state))
}

/// The lanes that none of the calls around holds.
pub(super) fn missing(outer: Option<&Context>, lanes: &Lanes, wanted: LaneSet) -> LaneSet {
    let mut held = nests(outer).filter(|nest| nest.inside.lanes.is_same(lanes));
    if wanted.is_empty() || held.next().is_none() {
        return wanted;
    }
    let is_held = |lane: &Lane| {
        let mut held = nests(outer).filter(|nest| nest.inside.lanes.is_same(lanes));
        held.any(|nest| nest.inside.held.binary_search(lane).is_ok())
    };
    let missing = wanted.iter().filter(|lane| !is_held(lane));
    missing.cloned().collect()
}

fn nests(outer: Option<&Context>) -> impl Iterator<Item = &Nest> {
    let lineage = outer.into_iter().flat_map(Context::lineage);
    lineage.filter_map(Context::extension)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
