//! How many writes are under way, and how they come to an end at shutdown.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;
use tower_outcome_core::{Code, Conclusion};

use crate::Error;

/// The places for writes: every write may outlast its caller, so each one needs a place before it
/// leaves.
#[derive(Debug)]
pub(super) struct Tails {
    slots: usize,
    taken: AtomicUsize,
    draining: AtomicBool,
    /// Told once the process is going down.
    told: Arc<Notify>,
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
            draining: AtomicBool::new(false),
            told: Arc::default(),
            freed: Notify::new(),
        }
    }

    pub(super) fn reserve(tails: &Arc<Self>) -> Result<Slot, Error> {
        let before = tails.taken.fetch_add(1, Ordering::SeqCst);
        let slot = Slot(Arc::clone(tails));
        // Looked at after the place was taken: whoever drains waits for it.
        let refused = if tails.is_draining() {
            Code::ShuttingDown
        } else if before >= tails.slots {
            Code::Overloaded
        } else {
            return Ok(slot);
        };
        Err(Error::new(Conclusion::new(refused).for_this_call()))
    }

    pub(super) async fn drain(&self, limit: Duration) -> usize {
        self.draining.store(true, Ordering::SeqCst);
        self.told.notify_waiters();
        let empty = async {
            loop {
                let freed = self.freed.notified();
                if self.taken.load(Ordering::SeqCst) == 0 {
                    return;
                }
                freed.await;
            }
        };
        let _ = tokio::time::timeout(limit, empty).await;
        self.taken.load(Ordering::SeqCst)
    }

    fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }
}

impl Default for Tails {
    fn default() -> Self {
        Self::new(SLOTS)
    }
}

impl Slot {
    /// Ready once the process is going down. `waiting` keeps the place among those who are told.
    pub(super) fn poll_draining(
        &self,
        mut waiting: Pin<&mut Option<OwnedNotified>>,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        if waiting.is_none() {
            waiting.set(Some(Arc::clone(&self.0.told).notified_owned()));
        }
        // Looked at once there is a place: whoever drains tells all that have one.
        match waiting.as_pin_mut() {
            Some(waiting) if !self.0.is_draining() => waiting.poll(cx),
            _ => Poll::Ready(()),
        }
    }

    /// The same, as a future.
    pub(super) async fn draining(&self) {
        let mut waiting = std::pin::pin!(None);
        std::future::poll_fn(|cx| self.poll_draining(waiting.as_mut(), cx)).await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::SeqCst);
        if self.0.is_draining() {
            self.0.freed.notify_waiters();
        }
    }
}

/// How many writes may be under way at a time, unless said otherwise.
pub const SLOTS: usize = 4096;
