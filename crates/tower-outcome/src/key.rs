//! Puts the key on the request.
//!
//! The key is fixed above the retry, which clones the request first: attempts of one write never
//! differ in it. A header that the caller set itself is left alone.
//!
//! A write that comes again under the key of one that this layer holds unresolved was repeated by
//! somebody above. Where no ledger answers for it and the provider does not honour the key, it is
//! refused: up to [`MAX_UNRESOLVED`] such keys are remembered.
//!
//! Put it below [`ClaimLayer`](crate::ClaimLayer), whose generation is part of the key, and above
//! the retry.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), tower_outcome::Error> {
//! use http::{Request, Response};
//! use tower::{ServiceBuilder, ServiceExt as _};
//! use tower_outcome::{BoxError, Intent, KeyLayer, OutcomeBody, RequestExt as _};
//!
//! let client = ServiceBuilder::new().layer(KeyLayer::new()).service_fn(
//!     |request: Request<OutcomeBody>| async move {
//!         let key = request.headers()["idempotency-key"].clone();
//!         Ok::<_, BoxError>(Response::new(key))
//!     },
//! );
//! let intent = Intent::new("acme", "refund", &serde_json::json!({ "order": 7 }))?;
//! let request = Request::post("/refunds").body("{}").unwrap().with_intent(intent);
//! let key = client.oneshot(request).await?.into_body();
//! assert_eq!(key.len(), 36);
//! # Ok(()) }
//! ```

#![cfg(feature = "client")]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Request;
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_outcome_core::{BoxError, Code};
use tower_service::Service;

use crate::call::{Call, is_plain_read};
use crate::{Error, OutcomeBody};

mod unresolved;

pub use unresolved::MAX_UNRESOLVED;
use unresolved::Unresolved;

/// Applies [`Key`]. Its clones share what they know to be unresolved.
#[derive(Clone, Debug, Default)]
pub struct KeyLayer {
    unresolved: Arc<Unresolved>,
}

impl KeyLayer {
    /// Places keys as the call's [`Profile`](crate::Profile) says.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<S> Layer<S> for KeyLayer {
    type Service = Key<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Key {
            inner,
            unresolved: Arc::clone(&self.unresolved),
        }
    }
}

/// Puts the key on the request.
///
/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Key<S> {
    inner: S,
    unresolved: Arc<Unresolved>,
}

impl<S> Service<Request<OutcomeBody>> for Key<S>
where
    S: Service<Request<OutcomeBody>>,
    S::Error: Into<BoxError>,
{
    type Response = S::Response;
    type Error = Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Error::of_write)
    }

    #[inline]
    fn call(&mut self, request: Request<OutcomeBody>) -> Self::Future {
        // Apart, as a request that is only looked at is not moved.
        if is_plain_read(&request) {
            return ResponseFuture {
                inner: Some(self.inner.call(request)),
                refused: None,
                writes: false,
            };
        }
        self.recorded(request)
    }
}

impl<S: Service<Request<OutcomeBody>>> Key<S> {
    #[inline(never)]
    fn recorded(&mut self, mut request: Request<OutcomeBody>) -> ResponseFuture<S::Future> {
        match place(&mut request, &self.unresolved) {
            Ok(writes) => ResponseFuture {
                writes,
                inner: Some(self.inner.call(request)),
                refused: None,
            },
            Err(error) => ResponseFuture {
                inner: None,
                refused: Some(error),
                writes: true,
            },
        }
    }
}

pin_project! {
    /// Response future of [`Key`]. Dropping it drops the inner one.
    #[derive(Debug)]
    pub struct ResponseFuture<F> {
        #[pin]
        inner: Option<F>,
        refused: Option<Error>,
        writes: bool,
    }
}

impl<F, T, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    type Output = Result<T, Error>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Some(inner) = this.inner.as_pin_mut() else {
            let refused = this.refused.take();
            return Poll::Ready(Err(refused.unwrap_or_else(|| Error::new(Code::NotSent))));
        };
        match inner.poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(answer)) => Poll::Ready(Ok(answer)),
            Poll::Ready(Err(error)) => Poll::Ready(Err(Error::of(*this.writes, error))),
        }
    }
}

/// Whether the request writes. Then it has its key, if it has one.
fn place(request: &mut Request<OutcomeBody>, unresolved: &Unresolved) -> Result<bool, Error> {
    let Some(call) = Call::find(request)? else {
        return Ok(false);
    };
    unresolved.admit(&call)?;
    if let Some(key) = call.sent_key() {
        call.profile().place(request, key)?;
    }
    Ok(true)
}
