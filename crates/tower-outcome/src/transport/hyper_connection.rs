//! One connection of hyper's, without a pool.
//!
//! Its futures are boxed: hyper does not name them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use http::{Request, Response, Version};
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1, http2};
use tower_outcome_core::{BoxError, Error};

use super::hyper::absolute;
use super::{IntoTransport, Transport, Wire, sealed};
use crate::OutcomeBody;

/// An HTTP/1 connection, as a [`Transport`]. It cannot be cloned, so that only layers which do not
/// clone may stand above: a deadline, a claim or a retry need tower's `Buffer` in between.
#[derive(Debug)]
pub struct Http1Connection(Arc<Turn>);

/// An HTTP/2 connection, as a [`Transport`].
#[derive(Clone, Debug)]
pub struct Http2Connection(http2::SendRequest<OutcomeBody>);

impl Wire<Http1Connection> {
    /// Over one HTTP/1 connection.
    #[must_use]
    pub fn http1(connection: http1::SendRequest<OutcomeBody>) -> Self {
        Self::new(Http1Connection(Arc::new(Turn {
            connection: Mutex::new(connection),
            is_taken: AtomicBool::new(false),
            freed: AtomicWaker::new(),
        })))
    }
}

impl Wire<Http2Connection> {
    /// Over one HTTP/2 connection.
    #[must_use]
    pub const fn http2(connection: http2::SendRequest<OutcomeBody>) -> Self {
        Self::new(Http2Connection(connection))
    }
}

impl sealed::Sealed for Http1Connection {}
impl sealed::Sealed for Http2Connection {}

impl Transport for Http1Connection {
    type Body = Incoming;
    type Future = ConnectionFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.freed.register(cx.waker());
        if self.0.is_taken.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        self.0.connection().poll_ready(cx).map_err(Into::into)
    }

    /// The connection is there: a path and a `Host` are enough.
    fn check(&self, request: &Request<OutcomeBody>) -> Result<(), Error> {
        if request.version() == Version::HTTP_3 {
            return Err(Error::invalid("version", "is not that of the connection"));
        }
        Ok(())
    }

    fn start(&mut self, request: Request<OutcomeBody>, arm: impl FnOnce()) -> ConnectionFuture {
        arm();
        // Queued on the first poll, and not before the reactor had a chance to tell of a closed
        // connection.
        let taken = Taken::new(&self.0);
        ConnectionFuture::new(async move {
            let sent = taken.0.connection().try_send_request(request);
            drop(taken);
            sent.await
        })
    }
}

impl Transport for Http2Connection {
    type Body = Incoming;
    type Future = ConnectionFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    fn check(&self, request: &Request<OutcomeBody>) -> Result<(), Error> {
        absolute(request.uri())
    }

    fn start(&mut self, request: Request<OutcomeBody>, arm: impl FnOnce()) -> ConnectionFuture {
        arm();
        // On the first poll here too.
        let mut connection = self.0.clone();
        ConnectionFuture::new(async move { connection.try_send_request(request).await })
    }
}

impl IntoTransport for http2::SendRequest<OutcomeBody> {
    type Transport = Http2Connection;

    fn into_transport(self) -> Http2Connection {
        Http2Connection(self)
    }
}

/// A connection that takes one request after the other.
#[derive(Debug)]
struct Turn {
    connection: Mutex<http1::SendRequest<OutcomeBody>>,
    /// A request is about to be handed over.
    is_taken: AtomicBool,
    freed: AtomicWaker,
}

impl Turn {
    fn connection(&self) -> MutexGuard<'_, http1::SendRequest<OutcomeBody>> {
        let connection = self.connection.lock();
        connection.unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turn of a request, until it is handed over or given up.
struct Taken(Arc<Turn>);

impl Taken {
    fn new(turn: &Arc<Turn>) -> Self {
        turn.is_taken.store(true, Ordering::Release);
        Self(Arc::clone(turn))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.is_taken.store(false, Ordering::Release);
        self.0.freed.wake();
    }
}

/// Future of a request over one connection.
pub struct ConnectionFuture(Pin<Box<Sent>>);

type Sent = dyn Future<Output = Result<Response<Incoming>, BoxError>> + Send;

impl ConnectionFuture {
    fn new<F>(sent: F) -> Self
    where
        F: Future<Output = Result<Response<Incoming>, TrySendError<Request<OutcomeBody>>>>
            + Send
            + 'static,
    {
        Self(Box::pin(async {
            // A message that came back is dropped with the error: its probe says that it never left.
            sent.await.map_err(|error| error.into_error().into())
        }))
    }
}

impl Future for ConnectionFuture {
    type Output = Result<Response<Incoming>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for ConnectionFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionFuture").finish_non_exhaustive()
    }
}
