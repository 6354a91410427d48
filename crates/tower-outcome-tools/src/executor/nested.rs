//! Calls that a handler makes through an executor.
//!
//! What such a call does is done by the outer call as well, so its end is part of the outer one's
//! evidence. What the outer call holds covers it: it waits neither for a lane that a call around it
//! holds nor for a permit. All of that travels with the context, into tasks that the handler spawns
//! and through other executors in between.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures_util::future::join_all;
use tokio::sync::watch;
use tower_outcome::Context;
use tower_outcome_core::{Code, Conclusion, Gate, Outcome};

use super::State;
use super::fold::{Part, open};
use super::levels::{Levels, Stacked};
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
    levels: Levels,
}

/// A call made by a handler.
#[derive(Clone)]
pub(super) struct Nested {
    name: Box<str>,
    gate: Gate,
    end: Arc<OnceLock<Conclusion>>,
    /// What came out after that.
    late: Arc<OnceLock<Conclusion>>,
    under_way: watch::Receiver<()>,
}

/// A nested call that is under way, until this is dropped.
pub(super) struct UnderWay {
    #[expect(dead_code, reason = "dropped, it tells those who wait")]
    over: watch::Sender<()>,
}

impl Nested {
    fn new(name: &str, gate: &Gate) -> (Self, UnderWay) {
        let (over, under_way) = watch::channel(());
        let nested = Self {
            name: name.into(),
            gate: gate.clone(),
            end: Arc::default(),
            late: Arc::default(),
            under_way,
        };
        (nested, UnderWay { over })
    }

    pub(super) fn end(&self, conclusion: Conclusion) {
        // The first word stays: it is what the handler was told.
        let _ = self.end.set(conclusion);
    }

    /// Takes in what became of it after all.
    pub(super) fn end_late(&self, conclusion: Conclusion) {
        let _ = self.late.set(conclusion);
    }

    /// Whether it may have sent something, for all that is known.
    pub(super) fn may_have_left(&self) -> bool {
        self.conclusion().outcome() != Outcome::Failed
    }

    fn conclusion(&self) -> Conclusion {
        let known = self.late.get().or(self.end.get()).copied();
        known.unwrap_or_else(|| open(self.gate.look()))
    }

    /// Waits until nothing of it is under way any more.
    async fn over(mut self) {
        // Nothing is ever sent.
        while self.under_way.changed().await.is_ok() {}
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
                levels: Levels::default(),
            }),
        }
    }

    /// Takes a call down as one that `outer`'s handler made, if an executor runs it.
    pub(super) fn enter(outer: &Context, tool: &str, gate: &Gate) -> Option<(Nested, UnderWay)> {
        let nest = outer.extension::<Self>()?;
        let (nested, under_way) = Nested::new(tool, gate);
        lock(&nest.inside.calls).push(nested.clone());
        Some((nested, under_way))
    }

    /// Takes down that a write which the running handler wanted was refused before it started.
    pub(super) fn refuse(tool: &str, code: Code) {
        let refused = Gate::new();
        refused.seal();
        let outer = Context::current();
        if let Some((nested, _)) = outer.and_then(|outer| Self::enter(&outer, tool, &refused)) {
            nested.end(Conclusion::new(code).for_this_call());
        }
    }

    /// Whether another executor than this one runs the handler.
    pub(super) fn is_of_another(&self, state: &Arc<State>) -> bool {
        !Arc::ptr_eq(&self.inside.state, state)
    }

    /// Lets `state`'s executor run the call inside itself; `None` if it does so already.
    pub(super) fn stack(&self, state: &Arc<State>, gate: &Gate) -> Option<Stacked> {
        self.inside.levels.enter(self, state, gate)
    }

    pub(super) fn levels(&self) -> &Levels {
        &self.inside.levels
    }

    pub(super) fn parts(&self) -> Vec<Part> {
        let calls = lock(&self.inside.calls);
        let parts = calls.iter().map(|nested| Part {
            name: nested.name.clone(),
            conclusion: nested.conclusion(),
            seen: nested.gate.look(),
        });
        parts.collect()
    }

    /// Waits until nothing is under way any more of the calls that have not ended.
    pub(super) async fn settled(&self) {
        self.over(|nested| nested.end.get().is_none()).await;
    }

    /// Waits until nothing is under way any more of the calls of which it is not known what became
    /// of them.
    pub(super) async fn known(&self) {
        self.over(|nested| nested.conclusion().outcome() == Outcome::Unknown)
            .await;
    }

    async fn over(&self, is_meant: impl Fn(&Nested) -> bool) {
        let calls = lock(&self.inside.calls).clone();
        let meant = calls.into_iter().filter(is_meant);
        join_all(meant.map(Nested::over)).await;
    }

    fn holds(&self, lanes: &Lanes, lane: &Lane) -> bool {
        let inside = &self.inside;
        let own = inside.lanes.is_same(lanes) && inside.held.binary_search(lane).is_ok();
        own || inside.levels.any_room(|room| room.holds(lanes, lane))
    }
}

/// Whether one of the calls around has a permit of this executor.
pub(super) fn has_permit(outer: Option<&Context>, state: &Arc<State>) -> bool {
    nests(outer).any(|nest| !nest.is_of_another(state) || nest.levels().has_permit(state))
}

/// The lanes that none of the calls around holds.
pub(super) fn missing(outer: Option<&Context>, lanes: &Lanes, wanted: LaneSet) -> LaneSet {
    if wanted.is_empty() || nests(outer).next().is_none() {
        return wanted;
    }
    let is_held = |lane: &Lane| nests(outer).any(|nest| nest.holds(lanes, lane));
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
