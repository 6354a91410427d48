//! Keeps the answer, or the error, that the caller's code expects.
//!
//! The drop-in form of [`OutcomeLayer`]: generated gRPC clients, SDKs and
//! code that is already there go on as before. The verdict travels beside the answer, in its
//! extensions; an error is an [`Error`] that names the word. Where neither reaches the caller, as
//! with tonic's `Status`, a [`Watch`] in the request's extensions does.
//!
//! A gRPC answer whose end is still to come is handed on at once where the write has no key: it may
//! be a stream. Its verdict is known with its end. With a key the answer is read first, if it is a
//! single message that comes within a second of its head. The call's deadline ends a stream as well:
//! its body then ends in an [`Error`], and what the provider still says is read for the word's sake.
//!
//! Put it outermost. A retry above it makes a new call each time: it is refused while the first
//! one is not settled and the request carries its [`Watch`] or a key, unless the provider honours
//! the key.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), tower_outcome::Error> {
//! use http::{Request, Response};
//! use tower::{ServiceBuilder, ServiceExt as _};
//! use tower_outcome::{BoxError, KeepResponseLayer, Outcome, OutcomeBody, ReplyBody, Verdict};
//!
//! let client = ServiceBuilder::new()
//!     .layer(KeepResponseLayer::new())
//!     .service_fn(|_: Request<OutcomeBody>| async {
//!         Ok::<_, BoxError>(Response::new(ReplyBody::<String>::whole("42".into())))
//!     });
//! let answer = client.oneshot(Request::get("/answer").body(()).unwrap()).await?;
//! assert_eq!(answer.extensions().get::<Verdict<()>>().unwrap().outcome(), Outcome::Ok);
//! # Ok(()) }
//! ```

#![cfg(feature = "client")]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_outcome_core::{BoxError, Code};
use tower_service::Service;

use crate::call::Call;
use crate::outcome::conclude;
use crate::{Error, OutcomeBody, OutcomeLayer, Profile, ReplyBody, Verdict, Watch};

/// Applies [`KeepResponse`].
#[derive(Clone, Debug, Default)]
pub struct KeepResponseLayer {
    outcome: OutcomeLayer,
}

impl KeepResponseLayer {
    /// Expects nothing of the provider: see [`Profile::generic`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says what the provider promises.
    #[must_use]
    pub fn with_profile(self, profile: impl Into<Arc<Profile>>) -> Self {
        self.outcome.with_profile(profile).into()
    }

    /// Refuses writes that belong to no tool call.
    #[must_use]
    pub fn requiring_context(self) -> Self {
        self.outcome.requiring_context().into()
    }
}

impl From<OutcomeLayer> for KeepResponseLayer {
    fn from(outcome: OutcomeLayer) -> Self {
        Self { outcome }
    }
}

impl<S> Layer<S> for KeepResponseLayer {
    type Service = KeepResponse<S>;

    fn layer(&self, inner: S) -> Self::Service {
        KeepResponse {
            inner,
            outcome: self.outcome.clone(),
        }
    }
}

/// Keeps the answer, or the error, that the caller's code expects.
///
/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct KeepResponse<S> {
    inner: S,
    outcome: OutcomeLayer,
}

impl<S, B, RB> Service<Request<B>> for KeepResponse<S>
where
    S: Service<Request<OutcomeBody>, Response = Response<ReplyBody<RB>>>,
    S::Error: Into<BoxError>,
    B: Into<OutcomeBody>,
{
    type Response = S::Response;
    type Error = Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Error::of_write)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let mut request = request.map(Into::into);
        let (call, watch) = self.outcome.record(&mut request);
        match call {
            Ok(call) => {
                if let Some(call) = &call {
                    call.keep_response();
                }
                ResponseFuture {
                    inner: Some(self.inner.call(request)),
                    call,
                    refused: None,
                    watch,
                }
            }
            Err(error) => ResponseFuture {
                inner: None,
                call: None,
                refused: Some(error),
                watch,
            },
        }
    }
}

pin_project! {
    /// Response future of [`KeepResponse`].
    ///
    /// Dropping it drops what stands below, where a deadline or a shield seals a write: see the
    /// section of the crate on cancel safety.
    #[derive(Debug)]
    pub struct ResponseFuture<F> {
        #[pin]
        inner: Option<F>,
        call: Option<Call>,
        refused: Option<Error>,
        watch: Option<Watch>,
    }
}

impl<F, RB, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<ReplyBody<RB>>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<ReplyBody<RB>>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = match this.inner.as_pin_mut() {
            Some(inner) => {
                ready!(inner.poll(cx)).map_err(|error| Error::of(this.call.is_some(), error))
            }
            None => Err(this
                .refused
                .take()
                .unwrap_or_else(|| Error::new(Code::NotSent))),
        };
        if result.is_ok() && this.call.as_ref().is_some_and(Call::is_handed_on) {
            return Poll::Ready(result);
        }
        let (verdict, result) = end(this.call.as_ref(), result);
        if let Some(watch) = this.watch {
            watch.ended(this.call.as_ref(), verdict);
        }
        Poll::Ready(result)
    }
}

fn end<RB>(
    call: Option<&Call>,
    result: Result<Response<ReplyBody<RB>>, Error>,
) -> (Verdict<()>, Result<Response<ReplyBody<RB>>, Error>) {
    let key = call.and_then(Call::key).copied();
    match result {
        Ok(mut answer) => {
            let conclusion = conclude(call, Ok(answer.status()));
            let verdict = Verdict::unreported(conclusion, key);
            answer.extensions_mut().insert(verdict.clone());
            (verdict, Ok(answer))
        }
        Err(error) => {
            let conclusion = conclude(call, Err(error.conclusion()));
            let verdict = Verdict::unanswered(conclusion, key, &error);
            (verdict, Err(error.concluded(conclusion)))
        }
    }
}
