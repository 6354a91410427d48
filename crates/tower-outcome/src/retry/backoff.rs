//! The wait between two attempts.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Response;
use http::header::RETRY_AFTER;
use pin_project_lite::pin_project;
use tokio::time::Sleep;
use tower_outcome_core::gate::WaitSealed;

use crate::call::Call;

pin_project! {
    /// The wait between two attempts. Ends early when the call does, so that nobody waits for an
    /// attempt that the gate will refuse.
    pub struct Backoff {
        #[pin]
        sleep: Sleep,
        #[pin]
        sealed: Option<WaitSealed>,
    }
}

impl Backoff {
    pub(super) fn new(delay: Duration, call: Option<&Call>) -> Self {
        Self {
            sleep: tokio::time::sleep(delay),
            sealed: call.map(|call| call.gate().sealed()),
        }
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
        this.sleep.poll(cx)
    }
}

impl fmt::Debug for Backoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backoff").finish_non_exhaustive()
    }
}

/// How long the provider asks to wait, in its `Retry-After` seconds (RFC 9110 section 10.2.3).
pub(super) fn retry_after<T>(answer: &Response<T>) -> Option<Duration> {
    let seconds = answer.headers().get(RETRY_AFTER)?.to_str().ok()?;
    let seconds: u64 = seconds.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

/// The longest wait that a provider is granted.
pub(super) const MAX_RETRY_AFTER: Duration = Duration::from_mins(5);
