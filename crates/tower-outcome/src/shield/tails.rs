//! How many writes are under way, and how they come to an end at shutdown.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, SetOnce};
use tower_outcome_core::{Code, Conclusion};

use crate::Error;

/// The places for writes: every write may outlast its caller, so each one needs a place before it
/// leaves.
#[derive(Debug)]
pub(super) struct Tails {
    slots: usize,
    taken: AtomicUsize,
    draining: SetOnce<()>,
    freed: Notify,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot(Arc<Tails>);

impl Tails {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            slots,
            taken: AtomicUsize::new(0),
            draining: SetOnce::new(),
            freed: Notify::new(),
        }
    }

    pub(super) fn reserve(tails: &Arc<Self>) -> Result<Slot, Error> {
        let before = tails.taken.fetch_add(1, Ordering::AcqRel);
        let slot = Slot(Arc::clone(tails));
        // Looked at after the place was taken: whoever drains waits for it.
        let refused = if tails.draining.initialized() {
            Code::ShuttingDown
        } else if before >= tails.slots {
            Code::Overloaded
        } else {
            return Ok(slot);
        };
        Err(Error::new(Conclusion::new(refused).for_this_call()))
    }

    pub(super) async fn drain(&self, limit: Duration) -> usize {
        let _ = self.draining.set(());
        let empty = async {
            loop {
                let freed = self.freed.notified();
                if self.taken.load(Ordering::Acquire) == 0 {
                    return;
                }
                freed.await;
            }
        };
        let _ = tokio::time::timeout(limit, empty).await;
        self.taken.load(Ordering::Acquire)
    }
}

impl Default for Tails {
    fn default() -> Self {
        Self::new(SLOTS)
    }
}

impl Slot {
    /// Ready once the process is going down.
    pub(super) async fn draining(&self) {
        self.0.draining.wait().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::AcqRel);
        if self.0.draining.initialized() {
            self.0.freed.notify_waiters();
        }
    }
}

/// How many writes may be under way at a time, unless said otherwise.
pub const SLOTS: usize = 4096;
