//! A client that answers in verdicts.

#![cfg(feature = "client")]

use std::convert::Infallible;
use std::fmt;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use tower::ServiceExt as _;
use tower::util::BoxCloneSyncService;
use tower_outcome_core::{BoxError, Intent};
use tower_service::Service;

use crate::{OutcomeBody, ReplyBody, Verdict};

mod outermost;

use outermost::{InVerdicts, WithoutErrors};

/// A client that answers in verdicts.
#[derive(Clone, Debug)]
pub struct Client<S> {
    service: S,
}

impl<S> Client<S> {
    /// Over a stack made by hand, with [`OutcomeLayer`](crate::OutcomeLayer) outermost.
    pub const fn new(service: S) -> Self
    where
        S: Service<Request<OutcomeBody>, Response: InVerdicts, Error: WithoutErrors>,
    {
        Self { service }
    }

    /// Sends a request and tells how it ended.
    ///
    /// Dropping the future seals the call: what had not left never will, and what may have left
    /// goes on in a task of its own.
    pub async fn send<B>(&self, request: impl IntoRequest) -> Verdict<Response<ReplyBody<B>>>
    where
        S: Service<
                Request<OutcomeBody>,
                Response = Verdict<Response<ReplyBody<B>>>,
                Error = Infallible,
            > + Clone,
    {
        let Ok(verdict) = self.service.clone().oneshot(request.into_request()).await;
        verdict
    }

    /// The same client as one nameable type, for struct fields and application state. Costs one
    /// allocation a call and a clone.
    #[must_use]
    pub fn boxed<B>(self) -> OutcomeClient
    where
        S: Service<
                Request<OutcomeBody>,
                Response = Verdict<Response<ReplyBody<B>>>,
                Error = Infallible,
            > + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
        B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let erase = |rest: B| UnsyncBoxBody::new(rest.map_err(Into::into));
        let service = self.service.map_response(move |verdict| {
            verdict.map(|reply: Response<ReplyBody<B>>| reply.map(|body| body.map(erase)))
        });
        Client {
            service: Boxed(BoxCloneSyncService::new(service)),
        }
    }
}

/// A [`Client`] with its layers and its transport boxed away.
pub type OutcomeClient = Client<Boxed>;

/// A boxed stack of layers over a boxed transport.
#[derive(Clone)]
pub struct Boxed(BoxCloneSyncService<Request<OutcomeBody>, BoxedVerdict, Infallible>);

type BoxedVerdict = Verdict<Response<ReplyBody<UnsyncBoxBody<Bytes, BoxError>>>>;

impl Service<Request<OutcomeBody>> for Boxed {
    type Response = BoxedVerdict;
    type Error = Infallible;
    type Future =
        <BoxCloneSyncService<Request<OutcomeBody>, BoxedVerdict, Infallible> as Service<
            Request<OutcomeBody>,
        >>::Future;

    fn poll_ready(
        &mut self,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<OutcomeBody>) -> Self::Future {
        self.0.call(request)
    }
}

impl fmt::Debug for Boxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Boxed").finish_non_exhaustive()
    }
}

/// Something that can be sent.
pub trait IntoRequest {
    /// The request, with a body of ours.
    fn into_request(self) -> Request<OutcomeBody>;
}

impl<B: Into<OutcomeBody>> IntoRequest for Request<B> {
    fn into_request(self) -> Request<OutcomeBody> {
        self.map(Into::into)
    }
}

#[cfg(feature = "reqwest")]
impl IntoRequest for reqwest::Request {
    fn into_request(self) -> Request<OutcomeBody> {
        match Request::<reqwest::Body>::try_from(self) {
            Ok(request) => request.map(Into::into),
            // A URL that is no URI: refused by the transport, which wants an absolute one.
            Err(_) => Request::new(OutcomeBody::empty()),
        }
    }
}

/// What can be said of a request before it is sent.
pub trait RequestExt: IntoRequest + Sized {
    /// Says which wish the request carries out, for key and ledger.
    fn with_intent(self, intent: Intent) -> Request<OutcomeBody> {
        let mut request = self.into_request();
        request.extensions_mut().insert(intent);
        request
    }
}

impl<R: IntoRequest> RequestExt for R {}
