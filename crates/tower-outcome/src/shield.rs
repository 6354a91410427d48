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

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Request;
use pin_project_lite::pin_project;
use tokio::task::JoinHandle;
use tower_layer::Layer;
use tower_outcome_core::{BoxError, Code};
use tower_service::Service;

use crate::call::{Call, End};
use crate::{Error, OutcomeBody};

/// Applies [`Shield`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ShieldLayer(());

impl ShieldLayer {
    /// The only kind there is.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

impl<S> Layer<S> for ShieldLayer {
    type Service = Shield<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Shield { inner }
    }
}

/// Runs each write in a task of its own.
///
/// See the [module docs](self).
#[derive(Clone, Copy, Debug)]
pub struct Shield<S> {
    inner: S,
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

    fn call(&mut self, mut request: Request<OutcomeBody>) -> Self::Future {
        let state = match Call::find(&mut request) {
            Err(error) => State::Refused { error: Some(error) },
            Ok(None) => State::Read {
                future: self.inner.call(request),
            },
            Ok(Some(call)) => {
                let future = self.inner.call(request);
                State::Write {
                    task: tokio::spawn(run(call.clone(), future)),
                    guard: Guard(call),
                }
            }
        };
        ResponseFuture { state }
    }
}

/// The task: lives until nothing of the write is under way any more.
async fn run<T, E: Into<BoxError>>(
    call: Call,
    future: impl Future<Output = Result<T, E>>,
) -> Result<T, Error> {
    let result = future.await.map_err(Error::of_write);
    let ended = result.as_ref().map(drop).map_err(Error::conclusion);
    call.settle(call.judge(ended));
    result
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

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match self.project().state.project() {
            Projected::Read { future } => ready!(future.poll(cx)).map_err(Error::of_read),
            Projected::Refused { error } => {
                Err(error.take().unwrap_or_else(|| Error::new(Code::NotSent)))
            }
            Projected::Write { task, guard } => match ready!(task.poll(cx)) {
                Ok(result) => result,
                // A panic below us, or the runtime is going down: the gate knows what had left.
                Err(error) => {
                    let conclusion = guard.0.judge(Err(Code::NotSent.into()));
                    Err(Error::new(conclusion).with_source(error))
                }
            },
        })
    }
}

/// Seals the gate when the caller goes away. After the write has ended this changes nothing.
#[derive(Debug)]
struct Guard(Call);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.end(End::Cancelled);
    }
}
