//! The task of a write: lives until nothing of the write is under way any more.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tokio::sync::futures::OwnedNotified;
use tower_outcome_core::BoxError;

use super::tails::Slot;
use crate::Error;
use crate::call::{Call, End};

pin_project! {
    /// The task of a write.
    // Not an async function, which keeps what it is given twice: a task is moved before it runs.
    pub(super) struct Task<F> {
        #[pin]
        future: F,
        call: Call,
        // Gone once somebody else keeps it.
        slot: Option<Slot>,
        turns: u8,
        #[pin]
        draining: Option<OwnedNotified>,
        ended: bool,
    }
}

impl<F> Task<F> {
    pub(super) const fn new(call: Call, slot: Slot, future: F) -> Self {
        Self {
            future,
            call,
            slot: Some(slot),
            turns: 0,
            draining: None,
            ended: false,
        }
    }
}

impl<F, T, E> Future for Task<F>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    type Output = Result<T, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        // Lets the reactor speak first, and then the tasks that it speaks to, before which a worker
        // may take up this one again: an idle connection whose end lies in its socket is then known
        // to be closed, and the write goes over another one instead of into the void.
        if *this.turns < 2 {
            *this.turns += 1;
            let _woken_by_the_scheduler = pin!(tokio::task::yield_now()).poll(cx);
            return Poll::Pending;
        }
        let result = loop {
            // The answer first.
            if let Poll::Ready(result) = this.future.as_mut().poll(cx) {
                break result.map_err(Error::of_write);
            }
            let draining = this.draining.as_mut();
            match this.slot {
                Some(slot) if !*this.ended && slot.poll_draining(draining, cx).is_ready() => {
                    *this.ended = true;
                    this.call.end(End::Shutdown);
                }
                _ => return Poll::Pending,
            }
        };
        if this.call.is_handed_on() {
            if let Some(slot) = this.slot.take() {
                tokio::spawn(read_on(this.call.clone(), slot));
            }
        } else {
            let ended = result.as_ref().map(drop).map_err(Error::conclusion);
            this.call.settle(this.call.judge(ended));
        }
        Poll::Ready(result)
    }
}

/// Keeps the place of a write whose answer is still read.
async fn read_on(call: Call, slot: Slot) {
    tokio::select! {
        biased;
        _ = call.settled() => {}
        () = slot.draining() => {
            call.break_off(End::Shutdown);
            call.settled().await;
        }
    }
}
