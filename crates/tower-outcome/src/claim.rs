//! Asks a ledger before a write leaves, and settles what became of it.
//!
//! A write with an intent is claimed first. Whoever comes second, in this process, another one or
//! after a crash, gets the first one's answer, or its state, and sends nothing. The layer is the
//! only place that settles, for early and late answers alike: when the call's time is over it takes
//! the doubt down, and goes on waiting for the answer.
//!
//! Put it below [`ShieldLayer`](crate::ShieldLayer), so that the caller's drop cannot leave a row
//! behind, and above [`KeyLayer`](crate::KeyLayer), which needs the claim's generation. Writes
//! without an intent and reads pass through. Writes of a tool call are taken down by the call's
//! [`Recorder`](crate::context::Recorder) as well.
//!
//! A write with the intent of its tool call is not claimed once more where the call has claimed it in
//! the same ledger. To know another handle on that store, its row is read once; in another ledger the
//! write is claimed like any other.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), tower_outcome::Error> {
//! use http::{Request, Response};
//! use serde_json::json;
//! use tower::{ServiceBuilder, ServiceExt as _};
//! use tower_outcome::{BoxError, ClaimLayer, Code, Intent, MemoryLedger, OutcomeBody};
//! use tower_outcome::{OutcomeLayer, ReplyBody, RequestExt as _};
//!
//! let client = ServiceBuilder::new()
//!     .layer(OutcomeLayer::new())
//!     .layer(ClaimLayer::new(MemoryLedger::default()))
//!     .service_fn(|_: Request<OutcomeBody>| async {
//!         Err::<Response<ReplyBody<String>>, BoxError>("a queue refused it".into())
//!     });
//! let intent = Intent::new("acme", "refund", &json!({ "order": 7 }))?;
//! let request = Request::post("http://billing/").body("{}").unwrap().with_intent(intent);
//! let Ok(verdict) = client.oneshot(request).await;
//! assert_eq!(verdict.code(), Code::NotSent); // nothing passed the gate: the claim is free again
//! # Ok(()) }
//! ```

#![cfg(feature = "client")]

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_outcome_core::BoxError;
use tower_outcome_core::ledger::{Ledger, Owner};
use tower_service::Service;

use crate::call::{Call, is_plain_read};
use crate::{Error, OutcomeBody, ReplyBody, StoredRequests};

mod driver;
mod outlive;
mod row;
mod stored;

/// Applies [`ClaimService`].
#[derive(Clone)]
pub struct ClaimLayer {
    config: Arc<Config>,
}

pub(crate) struct Config {
    ledger: Option<Arc<dyn Ledger>>,
    owner: Owner,
    lease: Duration,
    patience: Duration,
    stored_requests: Option<StoredRequests>,
}

/// Whether a write has a claim already.
enum Standing {
    /// That of a call around it, or it needs none.
    Held,
    /// A call around it has one, under another handle on this ledger or in another one.
    Elsewhere,
    Free,
}

impl Config {
    fn standing(&self, call: &Call) -> Standing {
        let Some((ledger, intent)) = self.ledger.as_deref().zip(call.intent()) else {
            return Standing::Held;
        };
        // A write that is all its tool call does has that call's claim, and would wait for it.
        let mut standing = Standing::Free;
        let context = call.context();
        for held in context.iter().flat_map(|it| it.claims_of(intent)) {
            if held.ledger.identity() == ledger.identity() {
                return Standing::Held;
            }
            standing = Standing::Elsewhere;
        }
        standing
    }
}

impl ClaimLayer {
    /// Claims writes in `ledger`, as a new owner, for 90 seconds each; waits up to 5 seconds for an
    /// identical call in flight.
    #[must_use]
    pub fn new(ledger: impl Ledger) -> Self {
        Self::with(Some(Arc::new(ledger)))
    }

    /// Claims nothing; has the writes of tool calls taken down.
    #[must_use]
    pub fn without_ledger() -> Self {
        Self::with(None)
    }

    pub(crate) fn with(ledger: Option<Arc<dyn Ledger>>) -> Self {
        Self {
            config: Arc::new(Config {
                ledger,
                owner: Owner::random(),
                lease: Duration::from_secs(90),
                patience: Duration::from_secs(5),
                stored_requests: None,
            }),
        }
    }

    /// Claims for `lease`. Longer than the deadline and the transport's hard limit together, or a
    /// late answer finds its row in doubt (which it may still settle).
    #[must_use]
    pub fn with_lease(self, lease: Duration) -> Self {
        self.map(|config| config.lease = lease)
    }

    /// Waits up to `patience` for an identical call in flight; then the call is `skipped`.
    /// At most a year.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        self.map(|config| config.patience = patience.min(LONGEST_PATIENCE))
    }

    /// Keeps the requests of writes in the ledger, so that a reconciler can send them again: see
    /// [`stored_request`](crate::stored_request). Those of tool calls are kept where their recorder
    /// says so.
    ///
    /// # Errors
    ///
    /// [`NotEncrypted`] where the layer's ledger does not encrypt what it stores.
    pub fn with_stored_requests(self, requests: StoredRequests) -> Result<Self, NotEncrypted> {
        match &self.config.ledger {
            Some(ledger) if !ledger.encrypts() => Err(NotEncrypted),
            _ => Ok(self.map(|config| config.stored_requests = Some(requests))),
        }
    }

    fn map(self, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config {
            ledger: self.config.ledger.clone(),
            stored_requests: self.config.stored_requests.clone(),
            ..*self.config
        };
        change(&mut config);
        Self {
            config: Arc::new(config),
        }
    }
}

/// A ledger that does not encrypt what it stores was to keep requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NotEncrypted;

impl fmt::Display for NotEncrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the ledger keeps no requests, since it does not encrypt what it stores")
    }
}

impl std::error::Error for NotEncrypted {}

impl fmt::Debug for ClaimLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClaimLayer")
            .field("owner", &self.config.owner)
            .field("lease", &self.config.lease)
            .finish_non_exhaustive()
    }
}

impl<S> Layer<S> for ClaimLayer {
    type Service = ClaimService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        ClaimService {
            inner,
            config: Arc::clone(&self.config),
        }
    }
}

/// Claims each write, and settles it.
///
/// See the [module docs](self).
#[derive(Clone)]
pub struct ClaimService<S> {
    inner: S,
    config: Arc<Config>,
}

impl<S: fmt::Debug> fmt::Debug for ClaimService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClaimService")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

impl<S, B> Service<Request<OutcomeBody>> for ClaimService<S>
where
    S: Service<Request<OutcomeBody>, Response = Response<ReplyBody<B>>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Send + 'static,
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
            return ResponseFuture::passed(self.inner.call(request), false);
        }
        self.recorded(request)
    }
}

impl<S, B> ClaimService<S>
where
    S: Service<Request<OutcomeBody>, Response = Response<ReplyBody<B>>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Send + 'static,
{
    #[inline(never)]
    fn recorded(
        &mut self,
        mut request: Request<OutcomeBody>,
    ) -> ResponseFuture<S::Future, S::Response> {
        let call = match Call::find(&mut request) {
            Ok(call) => call,
            Err(error) => return ResponseFuture::driven(async { Err(error) }),
        };
        let Some(call) = call else {
            return ResponseFuture::passed(self.inner.call(request), false);
        };
        let standing = self.config.standing(&call);
        let claims = !matches!(standing, Standing::Held);
        let records = call.context().is_some_and(|it| it.recorder().is_some());
        if !claims && !records {
            return ResponseFuture::passed(self.inner.call(request), true);
        }
        // The clone stays behind; the readied service goes into the future.
        let clone = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, clone);
        let config = Arc::clone(&self.config);
        if claims {
            call.ask_ledger();
        }
        match standing {
            Standing::Held => {
                ResponseFuture::driven(driver::recorded(config, inner, request, call))
            }
            Standing::Free => ResponseFuture::driven(driver::claimed(config, inner, request, call)),
            Standing::Elsewhere => {
                ResponseFuture::driven(driver::claimed_unless_held(config, inner, request, call))
            }
        }
    }
}

pin_project! {
    /// Response future of [`ClaimService`].
    ///
    /// Dropping it leaves the claim to its lease: that is why a shield belongs above.
    pub struct ResponseFuture<F, T> {
        #[pin]
        kind: Kind<F, T>,
    }
}

pin_project! {
    #[project = Projected]
    enum Kind<F, T> {
        // Boxed: a claim runs in the task of its write, and its ledger boxes as well.
        Driven { future: Pin<Box<dyn Future<Output = Result<T, Error>> + Send>> },
        Passed { #[pin] future: F, writes: bool },
    }
}

impl<F, T> ResponseFuture<F, T> {
    fn driven(future: impl Future<Output = Result<T, Error>> + Send + 'static) -> Self {
        Self {
            kind: Kind::Driven {
                future: Box::pin(future),
            },
        }
    }

    const fn passed(future: F, writes: bool) -> Self {
        Self {
            kind: Kind::Passed { future, writes },
        }
    }
}

impl<F, T> fmt::Debug for ResponseFuture<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
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
        match self.project().kind.project() {
            Projected::Driven { future } => future.as_mut().poll(cx),
            Projected::Passed { future, writes } => match future.poll(cx) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Ok(answer)) => Poll::Ready(Ok(answer)),
                Poll::Ready(Err(error)) => Poll::Ready(Err(Error::of(*writes, error))),
            },
        }
    }
}

/// The longest time that can be added to any moment without thinking of its end.
const LONGEST_PATIENCE: Duration = Duration::from_hours(365 * 24);
