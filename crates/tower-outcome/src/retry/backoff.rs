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

pin_project! {
    /// The wait between two attempts. Ends early when the call does, so that nobody waits for an
    /// attempt that the gate will refuse.
    pub struct Backoff {
        #[pin]
        sleep: Sleep,
        #[pin]
        sealed: Option<WaitSealed>,
        // Boxed: it is there after a refusal of credentials only.
        refresh: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    }
}

impl Backoff {
    pub(super) fn new(wait: Duration, gate: Option<&Gate>) -> Self {
        Self {
            sleep: tokio::time::sleep(wait),
            sealed: gate.map(Gate::sealed),
            refresh: None,
        }
    }

    pub(super) fn with_refresh(
        mut self,
        refresh: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    ) -> Self {
        self.refresh = refresh;
        self
    }
}

impl Future for Backoff {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
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
