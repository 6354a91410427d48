//! Executors that run one call inside the same call of another one, and what each of them has.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tower_outcome_core::{Code, Envelope, Gate, Outcome, Seen};

use super::State;
use super::nested::{Nest, Nested};
use super::room::Room;

/// The executors inside one claimed call.
#[derive(Default)]
pub(super) struct Levels(Mutex<Vec<Level>>);

struct Level {
    state: Arc<State>,
    is_running: bool,
    /// What its run holds; kept where something of it may be under way.
    room: Option<Room>,
    /// What its run ended in, unless it is proven that nothing was sent.
    ended: Option<Envelope>,
}

impl Levels {
    /// `None` where the executor runs the call already. `gate` is the call's.
    pub(super) fn enter(&self, nest: &Nest, state: &Arc<State>, gate: &Gate) -> Option<Stacked> {
        let mut levels = self.lock();
        match levels.iter_mut().find(|level| level.is(state)) {
            Some(level) if level.is_running => return None,
            Some(level) => level.is_running = true,
            None => levels.push(Level {
                state: Arc::clone(state),
                is_running: true,
                room: None,
                ended: None,
            }),
        }
        Some(Stacked {
            nest: nest.clone(),
            state: Arc::clone(state),
            gate: gate.child(),
            opaque: None,
            is_settled: false,
        })
    }

    /// Whether a level of this executor has a permit of its.
    pub(super) fn has_permit(&self, state: &Arc<State>) -> bool {
        let levels = self.lock();
        levels.iter().any(|it| it.is(state) && it.room.is_some())
    }

    pub(super) fn any_room(&self, is_it: impl Fn(&Room) -> bool) -> bool {
        self.lock()
            .iter()
            .filter_map(|it| it.room.as_ref())
            .any(is_it)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Level>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Level {
    fn is(&self, state: &Arc<State>) -> bool {
        Arc::ptr_eq(&self.state, state)
    }
}

/// One run of a call inside the same call of another executor.
pub(super) struct Stacked {
    nest: Nest,
    state: Arc<State>,
    /// Decides whether anything of this run can still leave.
    gate: Gate,
    opaque: Option<Nested>,
    /// Whether it is known what became of everything that left.
    is_settled: bool,
}

impl Stacked {
    pub(super) const fn gate(&self) -> &Gate {
        &self.gate
    }

    /// What an earlier run ended in that may have sent something: it is not made again.
    pub(super) fn earlier(&self) -> Option<Envelope> {
        self.level(|level| level.ended.clone())
    }

    pub(super) fn hold(&self, room: Room) {
        // One that was left by an earlier run covers this one, which needed nothing more then.
        self.level(|level| {
            level.room.get_or_insert(room);
        });
    }

    /// Takes down that an opaque handler is about to start.
    pub(super) fn starts(&mut self, opaque: Nested) {
        self.opaque = Some(opaque);
    }

    pub(super) fn end(&mut self, envelope: &Envelope) {
        let (word, code) = (envelope.outcome(), envelope.code());
        self.is_settled = word != Outcome::Unknown || code == Code::Partial;
        if word != Outcome::Failed {
            self.level(|level| level.ended = Some(envelope.clone()));
        }
    }

    fn level<T: Default>(&self, with: impl FnOnce(&mut Level) -> T) -> T {
        let mut levels = self.nest.levels().lock();
        let level = levels.iter_mut().find(|level| level.is(&self.state));
        level.map(with).unwrap_or_default()
    }
}

impl Drop for Stacked {
    fn drop(&mut self) {
        let is_under_way = self.gate.seal() != Seen::Never && !self.is_settled;
        let in_doubt = self.opaque.as_ref().is_some_and(Nested::may_have_left);
        let room = self.level(|level| {
            level.is_running = false;
            if in_doubt && level.ended.is_none() {
                level.ended = Some(Envelope::new(Code::StillConfirming));
            }
            level.room.take_if(|_| !is_under_way)
        });
        // Outside of the lock: it wakes others.
        drop(room);
    }
}
