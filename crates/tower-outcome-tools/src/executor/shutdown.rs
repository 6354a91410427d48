//! How many calls are under way, and how they come to an end when the process does.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{SetOnce, watch};
use tokio::time::{Instant, timeout, timeout_at};

use super::row::LEDGER_LIMIT;
use super::{Executor, GRACE, LONGEST_WAIT};

/// The calls that run in this process.
#[derive(Default)]
pub(super) struct Running {
    counts: watch::Sender<Counts>,
    /// Until when calls may still end.
    draining: SetOnce<Instant>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    /// Something of them may be under way.
    open: usize,
    /// Their callers wait for an answer.
    untold: usize,
}

impl Executor {
    /// Stops for good: new calls are refused as `failed/shutting_down`, what has not left never
    /// will, and what may have left is given `limit` to end; then its doubt is taken down and told.
    /// Returns how many calls are still open. A late answer of theirs settles its row as long as the
    /// process lives.
    ///
    /// Takes two answers of the ledger longer than `limit` at most. Covers all clones. Dropping the
    /// future stops the waiting and nothing else.
    pub async fn drain(&self, limit: Duration) -> usize {
        let running = &self.state.running;
        let until = Instant::now() + limit.min(LONGEST_WAIT);
        // Somebody who drains already has said how long it may take.
        let _ = running.draining.set(until);
        let mut counts = running.counts.subscribe();
        let _ = timeout_at(until, counts.wait_for(|counts| counts.open == 0)).await;
        let told = counts.wait_for(|counts| counts.untold == 0);
        let _ = timeout(2 * (GRACE + LEDGER_LIMIT), told).await;
        running.open()
    }
}

impl Running {
    /// Counts a call in, unless no new one may start.
    pub(super) fn enter(running: &Arc<Self>) -> Option<(Open, Untold)> {
        let open = Open(Arc::clone(running));
        running.counts.send_modify(|counts| counts.open += 1);
        let untold = Untold(Arc::clone(running));
        running.counts.send_modify(|counts| counts.untold += 1);
        // Looked at after it was counted: whoever drains waits for it.
        (!running.is_draining()).then_some((open, untold))
    }

    pub(super) fn open(&self) -> usize {
        self.counts.borrow().open
    }

    pub(super) fn is_draining(&self) -> bool {
        self.draining.initialized()
    }

    /// Ready once the process is going down, with the time until which calls may end.
    pub(super) async fn draining(&self) -> Instant {
        *self.draining.wait().await
    }

    pub(super) fn drains_until(&self) -> Option<Instant> {
        self.draining.get().copied()
    }
}

/// A call of which something may be under way, until it is dropped.
pub(super) struct Open(Arc<Running>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.counts.send_modify(|counts| counts.open -= 1);
    }
}

/// A call whose caller waits, until it is dropped.
pub(super) struct Untold(Arc<Running>);

impl Drop for Untold {
    fn drop(&mut self) {
        self.0.counts.send_modify(|counts| counts.untold -= 1);
    }
}
