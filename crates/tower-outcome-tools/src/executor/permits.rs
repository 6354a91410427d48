//! Permits under a cap, shared fairly between scopes.
//!
//! Those who wait stand in one line for each scope, and the scopes take turns: each permit that
//! comes free goes to the scope whose turn is the longest ago. So a scope that asks for a thousand
//! calls delays another one by a single call at a time. Within a scope it is first come, first
//! served.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::line::Line;

/// So many permits and no more.
pub(crate) struct Permits {
    state: Mutex<State>,
    numbers: AtomicU64,
}

struct State {
    free: usize,
    // Nobody waits while a permit is free.
    scopes: VecDeque<(Box<str>, Line)>,
}

impl Permits {
    /// A cap of `n`, at least 1.
    pub(crate) fn new(n: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                free: n.max(1),
                scopes: VecDeque::new(),
            }),
            numbers: AtomicU64::new(0),
        })
    }

    pub(super) fn try_acquire(self: &Arc<Self>) -> Option<Permit> {
        let mut state = self.lock();
        state.free = state.free.checked_sub(1)?;
        drop(state);
        Some(Permit(Arc::clone(self)))
    }

    /// Waits for a permit. Dropping the future gives up its place.
    pub(super) async fn acquire(self: &Arc<Self>, scope: &str) -> Permit {
        let place = {
            let mut state = self.lock();
            if let Some(free) = state.free.checked_sub(1) {
                state.free = free;
                return Permit(Arc::clone(self));
            }
            state.line(scope).join(&self.numbers)
        };
        place.turn(|number| self.leave(scope, number)).await;
        Permit(Arc::clone(self))
    }

    fn free(&self) {
        let mut state = self.lock();
        let next = state.next();
        if next.is_none() {
            state.free += 1;
        }
        drop(state);
        if let Some(next) = next {
            // If it leaves just now, it hands the permit on by itself.
            let _ = next.send(());
        }
    }

    fn leave(&self, scope: &str, number: u64) {
        let mut state = self.lock();
        let place = state.scopes.iter().position(|(name, _)| **name == *scope);
        let left = place.is_some_and(|place| {
            let line = &mut state.scopes[place].1;
            let left = line.leave(number);
            if line.is_empty() {
                state.scopes.remove(place);
            }
            left
        });
        drop(state);
        if !left {
            self.free();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Permits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Permits")
            .field("free", &state.free)
            .field("waiting_scopes", &state.scopes.len())
            .finish_non_exhaustive()
    }
}

impl State {
    fn line(&mut self, scope: &str) -> &mut Line {
        let known = self.scopes.iter().position(|(name, _)| **name == *scope);
        let place = known.unwrap_or_else(|| {
            self.scopes.push_back((scope.into(), Line::default()));
            self.scopes.len() - 1
        });
        &mut self.scopes[place].1
    }

    fn next(&mut self) -> Option<tokio::sync::oneshot::Sender<()>> {
        let (scope, mut line) = self.scopes.pop_front()?;
        let next = line.next();
        if !line.is_empty() {
            self.scopes.push_back((scope, line));
        }
        next
    }
}

/// The right to run, until it is dropped.
#[derive(Debug)]
pub(super) struct Permit(Arc<Permits>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.free();
    }
}
