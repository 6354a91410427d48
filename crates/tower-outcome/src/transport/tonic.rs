//! tonic's channel.
//!
//! The channel queues requests in a buffer of its own while it connects, and lets go of them only
//! when the connect ends. Give the endpoint a `connect_timeout` below the stack's deadline: a server
//! that cannot be reached is then proof that nothing left. Any other timeout of the endpoint drops
//! writes that may have left.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use tonic::body::Body;
use tonic::transport::Channel;
use tower_outcome_core::{BoxError, Error};
use tower_service::Service;

use super::{IntoTransport, Transport, Wire, sealed};
use crate::OutcomeBody;

/// tonic's channel, as a [`Transport`].
#[derive(Clone, Debug)]
pub struct TonicChannel(Channel);

impl Wire<TonicChannel> {
    /// Over tonic's channel.
    #[must_use]
    pub const fn tonic(channel: Channel) -> Self {
        Self::new(TonicChannel(channel))
    }
}

impl sealed::Sealed for TonicChannel {}

impl Transport for TonicChannel {
    type Body = Body;
    type Future = TonicFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    /// The channel knows its host itself.
    fn check(&self, _: &Request<OutcomeBody>) -> Result<(), Error> {
        Ok(())
    }

    fn start(&mut self, request: Request<OutcomeBody>, arm: impl FnOnce()) -> TonicFuture {
        // Wrapping asks the body: armed afterwards.
        let request = request.map(Body::new);
        arm();
        // The clone stays behind; the readied channel goes into the future. It queues the request
        // on the first poll, and not before the reactor had a chance to tell of a closed connection.
        let clone = self.0.clone();
        let channel = std::mem::replace(&mut self.0, clone);
        TonicFuture {
            waiting: Some((channel, request)),
            called: None,
        }
    }
}

impl IntoTransport for Channel {
    type Transport = TonicChannel;

    fn into_transport(self) -> TonicChannel {
        TonicChannel(self)
    }
}

/// Future of a request through [`TonicChannel`].
pub struct TonicFuture {
    waiting: Option<(Channel, Request<Body>)>,
    called: Option<<Channel as Service<Request<Body>>>::Future>,
}

impl Future for TonicFuture {
    type Output = Result<Response<Body>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some((mut channel, request)) = self.waiting.take() {
            self.called = Some(channel.call(request));
        }
        match &mut self.called {
            Some(called) => Poll::Ready(ready!(Pin::new(called).poll(cx)).map_err(Into::into)),
            None => Poll::Pending,
        }
    }
}

impl fmt::Debug for TonicFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TonicFuture").finish_non_exhaustive()
    }
}
