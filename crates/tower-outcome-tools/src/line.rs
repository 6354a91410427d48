//! Those who wait for one thing, in the order in which they came.
//!
//! Whoever is next is taken out under the lock of the thing and told after it, since waking a task
//! may drop another one that waits as well. One that leaves meanwhile finds that it is not in the
//! line any more: it has been given the thing, and hands it on.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::oneshot;

/// The waiters of one thing.
#[derive(Debug, Default)]
pub(crate) struct Line {
    // Numbers only grow, so that a place is found by halving.
    places: VecDeque<(u64, oneshot::Sender<()>)>,
}

/// A place in a line.
#[derive(Debug)]
pub(crate) struct Place {
    number: u64,
    turn: oneshot::Receiver<()>,
}

impl Place {
    /// Waits for its turn. Dropped before that, it calls `leave` with its number.
    pub(crate) async fn turn(mut self, leave: impl FnMut(u64)) {
        let mut waiting = Waiting {
            number: Some(self.number),
            leave,
        };
        // Whoever is told is told before the other end is let go of.
        let _ = (&mut self.turn).await;
        waiting.number = None;
    }
}

struct Waiting<F: FnMut(u64)> {
    number: Option<u64>,
    leave: F,
}

impl<F: FnMut(u64)> Drop for Waiting<F> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            (self.leave)(number);
        }
    }
}

impl Line {
    pub(crate) fn join(&mut self, numbers: &AtomicU64) -> Place {
        let number = numbers.fetch_add(1, Ordering::Relaxed);
        let (call, turn) = oneshot::channel();
        self.places.push_back((number, call));
        Place { number, turn }
    }

    /// Whoever is next. To be told once no lock is held.
    pub(crate) fn next(&mut self) -> Option<oneshot::Sender<()>> {
        self.places.pop_front().map(|(_, call)| call)
    }

    /// Gives a place up. `false` if it was its turn already.
    pub(crate) fn leave(&mut self, number: u64) -> bool {
        let found = self
            .places
            .binary_search_by_key(&number, |(number, _)| *number);
        found.is_ok_and(|place| self.places.remove(place).is_some())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}
