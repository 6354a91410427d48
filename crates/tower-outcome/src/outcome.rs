//! Ends every call in a verdict.
//!
//! The layer makes the call's record, refuses bad input before anything is sent, and chooses the
//! word from the record once the call has ended. It has no error left: `Error = Infallible`.
//!
//! Put it outermost. Under a tool executor use [`OutcomeLayer::requiring_context`], so that a write
//! which lost its tool call on the way is refused instead of being sent without a key.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! use http::{Request, Response};
//! use tower::{ServiceBuilder, ServiceExt as _};
//! use tower_outcome::{BoxError, Outcome, OutcomeBody, OutcomeLayer, ReplyBody};
//!
//! let client = ServiceBuilder::new()
//!     .layer(OutcomeLayer::new())
//!     .service_fn(|_: Request<OutcomeBody>| async {
//!         Err::<Response<ReplyBody<String>>, BoxError>("who knows what happened".into())
//!     });
//! let Ok(verdict) = client.oneshot(Request::post("/pay").body("10".into()).unwrap()).await;
//! assert_eq!(verdict.outcome(), Outcome::Failed); // nothing ever passed the gate
//! # }
//! ```

#![cfg(feature = "client")]

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::{Request, Response, StatusCode};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_outcome_core::{BoxError, Code, Conclusion};
use tower_service::Service;

use crate::call::{Call, is_plain_read};
use crate::{Error, OutcomeBody, Profile, ReplyBody, Verdict, Watch, classify};

/// Applies [`OutcomeService`].
#[derive(Clone, Debug, Default)]
pub struct OutcomeLayer {
    /// `None` where nobody said.
    profile: Option<Arc<Profile>>,
    requires_context: bool,
}

impl OutcomeLayer {
    /// Expects nothing of the provider: see [`Profile::generic`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says what the provider promises.
    #[must_use]
    pub fn with_profile(mut self, profile: impl Into<Arc<Profile>>) -> Self {
        self.profile = Some(profile.into());
        self
    }

    /// Refuses writes that belong to no tool call.
    #[must_use]
    pub const fn requiring_context(mut self) -> Self {
        self.requires_context = true;
        self
    }

    /// Whether `request` is a read for all that can be said of it, and nobody watches it.
    #[inline]
    pub(crate) fn has_no_record(&self, request: &Request<OutcomeBody>) -> bool {
        is_plain_read(request)
            && match &self.profile {
                Some(profile) => profile.only_reads(request.method()),
                None => !crate::context::Context::knows_profiles(),
            }
    }

    /// The record of the call that `request` makes, and who watches it.
    pub(crate) fn record(
        &self,
        request: &mut Request<OutcomeBody>,
    ) -> (Result<Option<Call>, Error>, Option<Watch>) {
        let call = Call::of(request, self.profile.as_ref());
        let own = usize::from(matches!(call, Ok(Some(_))));
        let call = call.and_then(|call| match &call {
            Some(it) if self.requires_context && it.context().is_none() => {
                let refused = Conclusion::new(Code::NotSent).for_this_call();
                Err(Error::new(refused).with_detail(
                    "the write belongs to no tool call: use Context::scope where it was spawned",
                ))
            }
            _ => Ok(call),
        });
        let carried = request.extensions();
        let watch = (carried.len() > own).then(|| carried.get::<Watch>().cloned());
        (call, watch.flatten())
    }
}

impl<S> Layer<S> for OutcomeLayer {
    type Service = OutcomeService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        OutcomeService {
            inner,
            layer: self.clone(),
            unready: None,
        }
    }
}

/// Ends every call in a verdict.
///
/// See the [module docs](self).
#[derive(Debug)]
pub struct OutcomeService<S> {
    inner: S,
    layer: OutcomeLayer,
    unready: Option<BoxError>,
}

impl<S: Clone> Clone for OutcomeService<S> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            layer: self.layer.clone(),
            unready: None,
        }
    }
}

impl<S, B> Service<Request<OutcomeBody>> for OutcomeService<S>
where
    S: Service<Request<OutcomeBody>, Response = Response<ReplyBody<B>>>,
    S::Error: Into<BoxError>,
{
    type Response = Verdict<Response<ReplyBody<B>>>;
    type Error = Infallible;
    type Future = ResponseFuture<S::Future>;

    /// An error of readiness is the verdict of the next call: nowhere else is there a place for it.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        let ready = ready!(self.inner.poll_ready(cx));
        self.unready = ready.err().map(Into::into);
        Poll::Ready(Ok(()))
    }

    #[inline]
    fn call(&mut self, request: Request<OutcomeBody>) -> Self::Future {
        // Apart, as a request that is only looked at is not moved.
        if self.layer.has_no_record(&request) && self.unready.is_none() {
            return ResponseFuture {
                inner: Some(self.inner.call(request)),
                call: None,
                refused: None,
                watch: None,
            };
        }
        self.recorded(request)
    }
}

impl<S> OutcomeService<S> {
    #[inline(never)]
    fn recorded<F>(&mut self, mut request: Request<OutcomeBody>) -> ResponseFuture<F>
    where
        S: Service<Request<OutcomeBody>, Future = F>,
    {
        let (call, watch) = self.layer.record(&mut request);
        let (call, refused) = match (call, self.unready.take()) {
            (Ok(call), None) => {
                return ResponseFuture {
                    inner: Some(self.inner.call(request)),
                    call,
                    refused: None,
                    watch,
                };
            }
            (Ok(Some(call)), Some(error)) => (Some(call), Error::of_write(error)),
            (Ok(None), Some(error)) => (None, Error::of_read(error)),
            (Err(error), _) => (None, error),
        };
        ResponseFuture {
            inner: None,
            call,
            refused: Some(refused),
            watch,
        }
    }
}

pin_project! {
    /// Response future of [`OutcomeService`].
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

impl<F, B, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<ReplyBody<B>>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Verdict<Response<ReplyBody<B>>>, Infallible>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let call = this.call.as_ref();
        let error = match this.inner.as_pin_mut() {
            Some(inner) => match inner.poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(reply)) => {
                    let conclusion = conclude(call, Ok(reply.status()));
                    let key = call.and_then(Call::key).copied();
                    if let Some(watch) = this.watch {
                        watch.ended(call, Verdict::unreported(conclusion, key));
                    }
                    return Poll::Ready(Ok(Verdict::answered(conclusion, key, reply)));
                }
                Poll::Ready(Err(error)) => Error::of(call.is_some(), error),
            },
            None => this
                .refused
                .take()
                .unwrap_or_else(|| Error::new(Code::NotSent)),
        };
        let conclusion = conclude(call, Err(error.conclusion()));
        let key = call.and_then(Call::key).copied();
        if let Some(watch) = this.watch {
            watch.ended(call, Verdict::unanswered(conclusion, key, &error));
        }
        Poll::Ready(Ok(Verdict::unanswered(conclusion, key, &error)))
    }
}

/// The word for a call that ended so, which its record takes down if it has one.
#[inline]
pub(crate) fn conclude(call: Option<&Call>, ended: Result<StatusCode, Conclusion>) -> Conclusion {
    match (call, ended) {
        (Some(call), ended) => call.tell(call.judge(ended.map(drop))),
        (None, Ok(status)) => classify::read(status).into(),
        (None, Err(conclusion)) => conclusion,
    }
}
