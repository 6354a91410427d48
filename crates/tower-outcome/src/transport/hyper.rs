//! hyper-util's pooled client.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::Connect;
use hyper_util::client::legacy::{self, Client};
use tower_outcome_core::{BoxError, Error};

use super::{IntoTransport, Transport, Wire, sealed};
use crate::OutcomeBody;

/// hyper-util's pooled client, as a [`Transport`].
#[derive(Clone, Debug)]
pub struct HyperClient<C>(Client<C, OutcomeBody>);

impl<C> Wire<HyperClient<C>> {
    /// Over hyper-util's pooled client.
    #[must_use]
    pub const fn hyper(client: Client<C, OutcomeBody>) -> Self {
        Self::new(HyperClient(client))
    }
}

impl<C> sealed::Sealed for HyperClient<C> {}

impl<C: Connect + Clone + Send + Sync + 'static> Transport for HyperClient<C> {
    type Body = Incoming;
    type Future = HyperFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn check(&self, request: &Request<OutcomeBody>) -> Result<(), Error> {
        absolute(request.uri())
    }

    fn start(&mut self, request: Request<OutcomeBody>, arm: impl FnOnce()) -> HyperFuture {
        arm();
        HyperFuture(self.0.request(request))
    }
}

impl<C: Connect + Clone + Send + Sync + 'static> IntoTransport for Client<C, OutcomeBody> {
    type Transport = HyperClient<C>;

    fn into_transport(self) -> HyperClient<C> {
        HyperClient(self)
    }
}

/// Future of a request through [`HyperClient`].
pub struct HyperFuture(legacy::ResponseFuture);

impl Future for HyperFuture {
    type Output = Result<Response<Incoming>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(ready!(Pin::new(&mut self.0).poll(cx)).map_err(Into::into))
    }
}

impl fmt::Debug for HyperFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperFuture").finish_non_exhaustive()
    }
}

pub(super) fn absolute(uri: &http::Uri) -> Result<(), Error> {
    if uri.scheme().is_some() && uri.authority().is_some() {
        return Ok(());
    }
    Err(Error::invalid("uri", "has to name a scheme and a host"))
}
