//! The wait between two attempts.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::time::Sleep;
use tower_outcome_core::Gate;
use tower_outcome_core::gate::WaitSealed;

/// The wait between two attempts. Ends early when the call does, so that nobody waits for an
/// attempt that the gate will refuse.
pub struct Backoff {
    // Boxed, as every call has room for a wait and hardly any waits.
    waiting: Pin<Box<Waiting>>,
}

pin_project! {
    struct Waiting {
        #[pin]
        sleep: Sleep,
        #[pin]
        sealed: Option<WaitSealed>,
        // There after a refusal of credentials only.
        refresh: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    }
}

impl Backoff {
    /// A wait that lasts for as long as `refresh` at least.
    pub(super) fn new(
        wait: Duration,
        gate: Option<&Gate>,
        refresh: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    ) -> Self {
        Self {
            waiting: Box::pin(Waiting {
                sleep: tokio::time::sleep(wait),
                sealed: gate.map(Gate::sealed),
                refresh,
            }),
        }
    }
}

impl Future for Backoff {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.waiting.as_mut().project();
        if let Some(sealed) = this.sealed.as_pin_mut()
            && sealed.poll(cx).is_ready()
        {
            return Poll::Ready(());
        }
        if let Some(refresh) = this.refresh {
            ready!(refresh.as_mut().poll(cx));
            *this.refresh = None;
        }
        this.sleep.poll(cx)
    }
}

impl fmt::Debug for Backoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backoff").finish_non_exhaustive()
    }
}
