//! Puts the key on the request.
//!
//! The key is fixed above the retry, which clones the request first: attempts of one write never
//! differ in it. A header that the caller set itself is left alone.
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

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Request;
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_outcome_core::{BoxError, Code};
use tower_service::Service;

use crate::call::Call;
use crate::{Error, OutcomeBody};

/// Applies [`Key`].
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyLayer(());

impl KeyLayer {
    /// Places keys as the call's [`Profile`] says.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

impl<S> Layer<S> for KeyLayer {
    type Service = Key<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Key { inner }
    }
}

/// Puts the key on the request.
///
/// See the [module docs](self).
#[derive(Clone, Copy, Debug)]
pub struct Key<S> {
    inner: S,
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

    fn call(&mut self, mut request: Request<OutcomeBody>) -> Self::Future {
        match place(&mut request) {
            Ok(()) => ResponseFuture {
                inner: Some(self.inner.call(request)),
                refused: None,
            },
            Err(error) => ResponseFuture {
                inner: None,
                refused: Some(error),
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
    }
}

impl<F, T, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    type Output = Result<T, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        Poll::Ready(match this.inner.as_pin_mut() {
            Some(inner) => ready!(inner.poll(cx)).map_err(Error::of_read),
            None => Err(this
                .refused
                .take()
                .unwrap_or_else(|| Error::new(Code::NotSent))),
        })
    }
}

fn place(request: &mut Request<OutcomeBody>) -> Result<(), Error> {
    let Some(call) = Call::find(request)? else {
        return Ok(());
    };
    let Some(key) = call.wire_key() else {
        return Ok(());
    };
    call.profile().place(request, &key)
}
