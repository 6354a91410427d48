//! What comes of a future that may panic.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

pin_project! {
    /// What comes of a future; `None` if it panics. Either way it is gone by then, and so is what
    /// it held back.
    pub(super) struct Outlive<F> {
        #[pin]
        future: Option<F>,
    }
}

impl<F> Outlive<F> {
    pub(super) const fn new(future: F) -> Self {
        Self {
            future: Some(future),
        }
    }
}

impl<F: Future> Future for Outlive<F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut future = self.project().future;
        let Some(running) = future.as_mut().as_pin_mut() else {
            return Poll::Ready(None);
        };
        let poll = catch_unwind(AssertUnwindSafe(|| running.poll(cx)));
        let result = match poll {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(result)) => Some(result),
            Err(_) => None,
        };
        future.set(None);
        Poll::Ready(result)
    }
}
