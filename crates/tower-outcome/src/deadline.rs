//! The one timeout that knows what it means.
//!
//! When time runs out the layer seals the call's gate. If nothing had left, nothing ever will, and
//! the call `failed`; otherwise nobody knows, and the call is `unknown` while the write goes on.
//!
//! Put it right below [`OutcomeLayer`](crate::OutcomeLayer). Its clock covers everything below:
//! waiting for permits, the ledger, attempts and backoff. Below it only connect timeouts belong;
//! any other timeout drops a write that may have left.
//!
//! ```
//! use std::time::Duration;
//!
//! use http::{Request, Response};
//! use tower::{ServiceBuilder, ServiceExt as _};
//! use tower_outcome::{BoxError, Code, DeadlineLayer, OutcomeBody};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let client = ServiceBuilder::new()
//!     .layer(DeadlineLayer::new(Duration::from_secs(2)))
//!     .service_fn(|_: Request<OutcomeBody>| async {
//!         std::future::pending::<()>().await; // a queue that never moves
//!         Ok::<_, BoxError>(Response::new(()))
//!     });
//!
//! let error = client.oneshot(Request::post("/pay").body("10".into()).unwrap()).await.unwrap_err();
//! assert_eq!(error.code(), Code::TimeoutBeforeSend);
//! # }
//! ```

#![cfg(feature = "client")]

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use http::Request;
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};
use tower_layer::Layer;
use tower_outcome_core::{BoxError, Code};
use tower_service::Service;

use crate::call::{Call, End, is_plain_read};
use crate::{Error, OutcomeBody};

/// Applies [`Deadline`].
#[derive(Clone, Copy, Debug)]
pub struct DeadlineLayer {
    limit: Duration,
}

impl DeadlineLayer {
    /// Gives each call `limit` to end, counted from its first poll.
    ///
    /// A read may be handed on before that, where the service below is ready; a write never is.
    ///
    /// A call in doubt may take [`GRACE`] more, so that the ledger can take the doubt down before
    /// the caller is told.
    #[must_use]
    pub const fn new(limit: Duration) -> Self {
        Self { limit }
    }
}

impl<S> Layer<S> for DeadlineLayer {
    type Service = Deadline<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Deadline {
            inner,
            limit: self.limit,
        }
    }
}

/// Ends calls that take too long.
///
/// See the [module docs](self).
#[derive(Clone, Copy, Debug)]
pub struct Deadline<S> {
    inner: S,
    limit: Duration,
}

impl<S> Service<Request<OutcomeBody>> for Deadline<S>
where
    S: Service<Request<OutcomeBody>> + Clone,
    S::Error: Into<BoxError>,
{
    type Response = S::Response;
    type Error = Error;
    type Future = ResponseFuture<S>;

    /// Always ready: the time spent waiting for the inner service is part of the call, or a call
    /// without a permit would have neither clock nor word.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    #[inline]
    fn call(&mut self, request: Request<OutcomeBody>) -> Self::Future {
        // Apart, as a request that is only looked at is not moved.
        if is_plain_read(&request) {
            return self.read(request);
        }
        self.recorded(request)
    }
}

impl<S: Service<Request<OutcomeBody>> + Clone> Deadline<S> {
    #[inline(never)]
    fn recorded(&self, mut request: Request<OutcomeBody>) -> ResponseFuture<S> {
        match Call::find(&mut request) {
            Ok(call) => {
                let inner = self.inner.clone();
                let request = Some(request);
                self.begin(State::Waiting { inner, request }, call)
            }
            Err(error) => {
                let error = Some(error);
                self.begin(State::Refused { error }, None)
            }
        }
    }

    /// Starts at once where nothing has to be waited for, as a request that is not kept is not moved.
    #[inline]
    fn read(&self, request: Request<OutcomeBody>) -> ResponseFuture<S>
    where
        S::Error: Into<BoxError>,
    {
        let mut inner = self.inner.clone();
        // Who is not ready is asked again with a waker that wakes.
        match inner.poll_ready(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) => {
                let future = inner.call(request);
                self.begin(State::Running { future }, None)
            }
            Poll::Ready(Err(error)) => {
                let error = Some(Error::of_read(error));
                self.begin(State::Refused { error }, None)
            }
            Poll::Pending => {
                let request = Some(request);
                self.begin(State::Waiting { inner, request }, None)
            }
        }
    }

    #[inline]
    fn begin(&self, state: State<S, S::Future>, call: Option<Call>) -> ResponseFuture<S> {
        ResponseFuture {
            state,
            sleep: None,
            ends: None,
            overdue: false,
            limit: self.limit,
            call,
        }
    }
}

pin_project! {
    /// Response future of [`Deadline`].
    ///
    /// Dropping it ends the call: what had not left never will.
    pub struct ResponseFuture<S>
    where
        S: Service<Request<OutcomeBody>>,
    {
        #[pin]
        state: State<S, S::Future>,
        #[pin]
        sleep: Option<Sleep>,
        // Known from the first poll of a write: others ask the record for it.
        ends: Option<Instant>,
        overdue: bool,
        limit: Duration,
        call: Option<Call>,
    }

    impl<S> PinnedDrop for ResponseFuture<S>
    where
        S: Service<Request<OutcomeBody>>,
    {
        fn drop(this: Pin<&mut Self>) {
            if let Some(call) = this.project().call {
                call.abandon();
            }
        }
    }
}

impl<S: Service<Request<OutcomeBody>>> std::fmt::Debug for ResponseFuture<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseFuture")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}

pin_project! {
    #[project = Projected]
    enum State<S, F> {
        Waiting { inner: S, request: Option<Request<OutcomeBody>> },
        Running { #[pin] future: F },
        Refused { error: Option<Error> },
    }
}

impl<S> Future for ResponseFuture<S>
where
    S: Service<Request<OutcomeBody>>,
    S::Error: Into<BoxError>,
{
    type Output = Result<S::Response, Error>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.as_mut().project();
        if let (Some(call), None) = (&this.call, &this.ends) {
            call.ends_at(*this.ends.insert(end(*this.limit)));
            // A timer fires with its next tick at the earliest, and a request is faster.
            if this.limit.is_zero() {
                call.end(End::Deadline);
            }
        }

        // The answer first: proof in hand beats a clock that ran out in the same wake-up.
        loop {
            match this.state.as_mut().project() {
                Projected::Waiting { inner, request } => {
                    match inner.poll_ready(cx) {
                        Poll::Pending => break,
                        Poll::Ready(Err(error)) => {
                            return Poll::Ready(Err(Error::of(this.call.is_some(), error)));
                        }
                        Poll::Ready(Ok(())) => {}
                    }
                    // A sealed call may still start: the transport refuses it, and a ledger above
                    // the transport never hears of it.
                    let Some(request) = request.take() else { break };
                    let future = inner.call(request);
                    this.state.set(State::Running { future });
                }
                Projected::Running { future } => match future.poll(cx) {
                    Poll::Pending => break,
                    Poll::Ready(Ok(answer)) => return Poll::Ready(Ok(answer)),
                    Poll::Ready(Err(error)) => {
                        return Poll::Ready(Err(Error::of(this.call.is_some(), error)));
                    }
                },
                Projected::Refused { error } => {
                    let error = error.take().unwrap_or_else(|| Error::new(Code::NotSent));
                    return Poll::Ready(Err(error));
                }
            }
        }

        if this.sleep.is_none() {
            // Not before there is something to wait for: a read that is answered at once needs no clock.
            let ends = this.ends.unwrap_or_else(|| end(*this.limit));
            this.sleep.set(Some(sleep_until(ends)));
        }
        let Some(mut sleep) = this.sleep.as_mut().as_pin_mut() else {
            return Poll::Pending;
        };
        let Some(call) = this.call else {
            ready!(sleep.poll(cx));
            return Poll::Ready(Err(Error::new(Code::ReadFailed)));
        };
        if !*this.overdue {
            ready!(sleep.as_mut().poll(cx));
            *this.overdue = true;
            sleep.as_mut().reset(Instant::now() + GRACE);
            call.end(End::Deadline);
        }
        let queued = matches!(this.state.as_mut().project(), Projected::Waiting { .. });
        if !queued && let Poll::Pending = call.poll_interim(cx) {
            ready!(sleep.poll(cx));
        }
        let told = call.interim().unwrap_or_else(|| call.overdue());
        Poll::Ready(Err(Error::new(told)))
    }
}

/// When a call ends that begins now. A limit that no clock can show is one that never comes.
fn end(limit: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(limit).unwrap_or_else(|| now + NEVER)
}

const NEVER: Duration = Duration::from_hours(24 * 365 * 30);

/// For how long a call in doubt may outlast its deadline.
pub const GRACE: Duration = Duration::from_millis(500);
