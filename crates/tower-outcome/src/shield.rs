//! Keeps a write going that may have left, whatever its caller does.
//!
//! Dropping a request does not take it back: what is buffered still goes out, and an HTTP/2 reset is
//! advice. So a write runs in a task of its own. When the caller goes away the call's gate is
//! sealed: what had not left never will, and what may have left goes on until it is settled. The
//! task is never aborted, or its ledger row would be left behind.
//!
//! Put it below [`DeadlineLayer`](crate::DeadlineLayer) and above everything that must hold for as
//! long as the write runs: the ledger, caps, rate limits. Needs a tokio runtime. Reads pass through
//! without a task.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! use http::{Request, Response};
//! use tokio::sync::oneshot;
//! use tower::{ServiceBuilder, ServiceExt as _};
//! use tower_outcome::{BoxError, OutcomeBody, ShieldLayer};
//!
//! let (done, finished) = oneshot::channel();
//! let mut done = Some(done);
//! let client = ServiceBuilder::new().layer(ShieldLayer::new()).service_fn(
//!     move |_: Request<OutcomeBody>| {
//!         let done = done.take();
//!         async move {
//!             tokio::task::yield_now().await;
//!             done.map(|done| done.send("written"));
//!             Ok::<_, BoxError>(Response::new(()))
//!         }
//!     },
//! );
//! let call = tokio::spawn(client.oneshot(Request::post("/pay").body("10".into()).unwrap()));
//! tokio::task::yield_now().await;
//! call.abort(); // the customer closes the tab
//! assert_eq!(finished.await, Ok("written"));
//! # }
//! ```

#![cfg(feature = "client")]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::Request;
use pin_project_lite::pin_project;
use tokio::task::JoinHandle;
use tower_layer::Layer;
use tower_outcome_core::{BoxError, Code};
use tower_service::Service;

use crate::call::{Call, is_plain_read};
use crate::{Error, OutcomeBody};

mod tails;
mod task;

pub use tails::SLOTS;
use tails::Tails;
use task::Task;

/// Applies [`Shield`]. Its clones share their slots.
#[derive(Clone, Debug, Default)]
pub struct ShieldLayer {
    tails: Arc<Tails>,
}

impl ShieldLayer {
    /// Lets [`SLOTS`] writes be under way at a time.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets `slots` writes be under way at a time, those included whose caller has left. A write
    /// that finds none free is refused before it leaves, as `failed/overloaded`.
    #[must_use]
    pub fn with_slots(slots: usize) -> Self {
        Self {
            tails: Arc::new(Tails::new(slots)),
        }
    }

    /// Stops for good: new writes are refused, what has not left never will, and what may have left
    /// is given `limit` to end. Returns how many writes are still under way; each has been taken
    /// down as `unknown` where there is a ledger.
    ///
    /// Dropping the future stops the waiting and nothing else.
    pub async fn drain(&self, limit: Duration) -> usize {
        self.tails.drain(limit).await
    }
}

impl<S> Layer<S> for ShieldLayer {
    type Service = Shield<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Shield {
            inner,
            tails: Arc::clone(&self.tails),
        }
    }
}

/// Runs each write in a task of its own.
///
/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Shield<S> {
    inner: S,
    tails: Arc<Tails>,
}

impl<S> Service<Request<OutcomeBody>> for Shield<S>
where
    S: Service<Request<OutcomeBody>>,
    S::Future: Send + 'static,
    S::Response: Send + 'static,
    S::Error: Into<BoxError> + 'static,
{
    type Response = S::Response;
    type Error = Error;
    type Future = ResponseFuture<S::Future, S::Response>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Error::of_write)
    }

    #[inline]
    fn call(&mut self, request: Request<OutcomeBody>) -> Self::Future {
        // Apart, as a request that is only looked at is not moved.
        if is_plain_read(&request) {
            return ResponseFuture {
                state: State::Read {
                    future: self.inner.call(request),
                },
            };
        }
        self.recorded(request)
    }
}

impl<S> Shield<S>
where
    S: Service<Request<OutcomeBody>>,
    S::Future: Send + 'static,
    S::Response: Send + 'static,
    S::Error: Into<BoxError> + 'static,
{
    #[inline(never)]
    fn recorded(
        &mut self,
        mut request: Request<OutcomeBody>,
    ) -> ResponseFuture<S::Future, S::Response> {
        let state = match Call::find(&mut request) {
            Err(error) => State::Refused { error: Some(error) },
            Ok(None) => State::Read {
                future: self.inner.call(request),
            },
            Ok(Some(call)) => match Tails::reserve(&self.tails) {
                Err(error) => {
                    call.settle(call.judge(Err(error.conclusion())));
                    State::Refused { error: Some(error) }
                }
                Ok(slot) => {
                    let future = self.inner.call(request);
                    State::Write {
                        task: tokio::spawn(Task::new(call.clone(), slot, future)),
                        guard: Guard(call),
                    }
                }
            },
        };
        ResponseFuture { state }
    }
}

pin_project! {
    /// Response future of [`Shield`].
    ///
    /// Dropping it seals the write's gate; the write's task goes on.
    #[derive(Debug)]
    pub struct ResponseFuture<F, T> {
        #[pin]
        state: State<F, T>,
    }
}

pin_project! {
    #[derive(Debug)]
    #[project = Projected]
    enum State<F, T> {
        Read { #[pin] future: F },
        Refused { error: Option<Error> },
        Write { #[pin] task: JoinHandle<Result<T, Error>>, guard: Guard },
    }
}

impl<F, T, E> Future for ResponseFuture<F, T>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    type Output = Result<T, Error>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            Projected::Read { future } => match future.poll(cx) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Ok(answer)) => Poll::Ready(Ok(answer)),
                Poll::Ready(Err(error)) => Poll::Ready(Err(Error::of_read(error))),
            },
            Projected::Refused { error } => {
                let error = error.take().unwrap_or_else(|| Error::new(Code::NotSent));
                Poll::Ready(Err(error))
            }
            Projected::Write { task, guard } => Poll::Ready(match ready!(task.poll(cx)) {
                Ok(result) => result,
                // A panic below us, or the runtime is going down: the gate knows what had left.
                Err(error) => {
                    // Its row, if it has one, is still claimed.
                    let judged = guard.0.judge(Err(Code::NotSent.into()));
                    let conclusion = judged.for_this_call();
                    guard.0.settle(conclusion);
                    Err(Error::new(conclusion).with_source(error))
                }
            }),
        }
    }
}

/// Seals the gate when the caller goes away. After the write has ended this changes nothing.
#[derive(Debug)]
struct Guard(Call);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
