//! Where a request leaves, and the proof that it did not.
//!
//! A [`Wire`] is the innermost service. For each attempt at a write it passes the call's gate inside
//! `call`, puts a probe into the request's body, and arms it right before the client gets the
//! request. A body that the client drops without having asked it belongs to a request that never
//! left. When the call ends, an untouched attempt is taken back; a touched one runs on until it is
//! answered or its hard limit is reached.
//!
//! Answers to writes are read here, under a cap, so that every layer above can judge them.
//!
//! Layers right above may change the host of a write, and put something before its path. A request to
//! elsewhere that carries the write's extensions is another one: a read is sent as such, and a write
//! is refused.
//!
//! ```
//! # async fn f() {
//! use hyper_util::{client::legacy::Client, rt::TokioExecutor};
//! use tower_outcome::transport::Wire;
//!
//! let hyper = Wire::hyper(Client::builder(TokioExecutor::new()).build_http());
//! # }
//! ```

#![cfg(feature = "client")]

use std::future::Future;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tower_outcome_core::{BoxError, Code};
use tower_service::Service;

use crate::call::{self, Call, Probe};
use crate::{Error, OutcomeBody, ReplyBody, retry};

mod behind;
mod collect;
mod evidence;
mod exchange;
mod grpc;
#[cfg(feature = "hyper")]
mod hyper;
#[cfg(feature = "hyper")]
mod hyper_connection;
mod relay;
#[cfg(feature = "reqwest")]
mod reqwest;
mod tail;
#[cfg(feature = "tonic")]
mod tonic;
mod unknown;
mod until;
#[cfg(feature = "reqwest")]
mod writes_client;

pub(crate) use evidence::is_connect;
pub use exchange::ResponseFuture;
pub(crate) use grpc::{is_grpc, status as grpc_status};
#[cfg(feature = "hyper")]
pub use hyper::{HyperClient, HyperFuture};
#[cfg(feature = "hyper")]
pub use hyper_connection::{ConnectionFuture, Http1Connection, Http2Connection};
pub(crate) use relay::Relay;
#[cfg(feature = "reqwest")]
pub use reqwest::{ReqwestClient, ReqwestFuture};
#[cfg(feature = "tonic")]
pub use tonic::{TonicChannel, TonicFuture};
pub use unknown::{UnknownFuture, UnknownService};
#[cfg(feature = "reqwest")]
pub use writes_client::{ForWrites, WritesBuilder, WritesClient};

/// A client whose way of sending is known well enough to tell whether a request left.
///
/// Sealed: the guarantee depends on when the client asks the request's body.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a transport that tower-outcome knows",
    note = "`Wire` is the innermost service: put layers above it, and a client that is not known \
            into `Wire::unknown`"
)]
pub trait Transport: sealed::Sealed {
    /// The answer's body.
    type Body: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static;
    /// Resolves to the answer's head.
    type Future: Future<Output = Result<Response<Self::Body>, BoxError>>;

    #[doc(hidden)]
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>>;

    /// Whether an error can only be that of the request that was handed on. A client that repeats
    /// requests, or makes further ones, reports the last one's.
    #[doc(hidden)]
    fn sends_once(&self) -> bool {
        true
    }

    /// Refuses what the client could not send, before the gate is passed.
    #[doc(hidden)]
    fn check(&self, request: &Request<OutcomeBody>) -> Result<(), tower_outcome_core::Error>;

    /// Hands the request on; calls `arm` right before the client gets it.
    #[doc(hidden)]
    fn start(&mut self, request: Request<OutcomeBody>, arm: impl FnOnce()) -> Self::Future;
}

/// Something that a [`Stack`](crate::Stack) can be put over.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a client that tower-outcome knows",
    note = "pass a `WritesClient` (`reqwest::Client::builder().for_writes().build()?`), a \
            `hyper_util::client::legacy::Client<_, OutcomeBody>`, a tonic `Channel`, or \
            `Wire::unknown(service)` for any other client"
)]
pub trait IntoTransport {
    /// The client, as a transport.
    type Transport: Transport;

    /// Makes a transport of the client.
    fn into_transport(self) -> Self::Transport;
}

/// The innermost service: hands requests to a client and knows whether they left.
///
/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Wire<T> {
    client: T,
    limits: Limits,
}

impl<T> Wire<T> {
    pub(crate) const fn new(client: T) -> Self {
        Self {
            client,
            limits: Limits {
                tail: Duration::from_mins(1),
                reply: 1024 * 1024,
            },
        }
    }

    /// Lets a write that may have left run on for `limit` after its call has ended, for the sake of
    /// a late answer. 60 seconds unless said otherwise.
    #[must_use]
    pub const fn with_hard_limit(mut self, limit: Duration) -> Self {
        self.limits.tail = limit;
        self
    }

    /// Reads at most `bytes` of the answer to a write; what is longer stays on the wire. One
    /// mebibyte unless said otherwise.
    #[must_use]
    pub const fn with_reply_cap(mut self, bytes: usize) -> Self {
        self.limits.reply = bytes;
        self
    }
}

/// What is known beforehand of how a request is answered.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// The status comes last.
    grpc: bool,
    /// An error speaks of this request, and of no other.
    once: bool,
    /// The request's body is a stream, and so may the answer's be.
    streams: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// After the end of the call, for how long an attempt that may have left goes on.
    pub(crate) tail: Duration,
    /// How much of a write's answer is read, in bytes.
    pub(crate) reply: usize,
}

impl<T: Transport> Service<Request<OutcomeBody>> for Wire<T> {
    type Response = Response<ReplyBody<T::Body>>;
    type Error = Error;
    type Future = ResponseFuture<T::Future, T::Body>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let ready = self.client.poll_ready(cx);
        ready.map_err(|error| Error::new(Code::NotSent).with_source(error))
    }

    #[inline]
    fn call(&mut self, request: Request<OutcomeBody>) -> Self::Future {
        // Apart, as a request that is only looked at is not moved.
        if call::is_plain_read(&request) {
            return match self.client.check(&request) {
                Ok(()) => ResponseFuture::read(self.client.start(request, || {})),
                Err(error) => ResponseFuture::refused(error.into()),
            };
        }
        self.recorded(request)
    }
}

impl<T: Transport> Wire<T> {
    #[inline(never)]
    fn recorded(
        &mut self,
        mut request: Request<OutcomeBody>,
    ) -> ResponseFuture<T::Future, T::Body> {
        retry::renew(&mut request);
        if let Err(error) = self.client.check(&request) {
            return ResponseFuture::refused(error.into());
        }
        // A layer between may make a request of its own and give it all that this one carries.
        let carried = request.extensions().get::<Call>();
        let Some(call) = carried.filter(|it| it.is_made_by(&request)).cloned() else {
            if call::reads(&request) {
                return ResponseFuture::read(self.client.start(request, || {}));
            }
            let refusal = carried.map_or(NO_RECORD, |_| OTHER_RECORD);
            return ResponseFuture::refused(Error::new(Code::NotSent).with_detail(refusal));
        };
        // The gate is passed here and not on the first poll: clients queue the request inside
        // `call`, before anything is polled.
        let attempt = match call.begin() {
            Ok(attempt) => attempt,
            Err(error) => return ResponseFuture::refused(error),
        };
        let asked = Asked {
            grpc: is_grpc(request.headers()),
            streams: request.body().is_stream(),
            once: self.client.sends_once(),
        };
        request.body_mut().put(Probe::new(&attempt));
        let future = self.client.start(request, || attempt.arm());
        ResponseFuture::write(future, attempt, self.limits, asked)
    }
}

/// Marks an answer that belongs to another request than the one that was made: the client followed
/// a redirect.
#[derive(Clone, Copy, Debug)]
struct Followed;

impl<T> From<T> for Wire<T>
where
    T: Transport,
{
    fn from(client: T) -> Self {
        Self::new(client)
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A write that no layer of ours has seen has neither gate nor word.
const NO_RECORD: &str = "a write needs OutcomeLayer above its transport";

/// Its answer would be taken for the other one's.
const OTHER_RECORD: &str = "the request carries the record of a write to another route: it needs \
    extensions of its own";
