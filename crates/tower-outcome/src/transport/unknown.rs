//! Any other client.
//!
//! Nothing is known of when it sends, so whatever is handed to it may have left: a refused connect
//! is `unknown` here. HTTP/3 clients belong here too: their requests leave before the body is asked.
//! Over one that repeats requests by itself use
//! [`Profile::with_replaying_proxy`](crate::Profile::with_replaying_proxy): what refuses the last
//! of them says nothing about those before. A stack of this crate does not belong below another one:
//! it would take the write for a repeat of itself, and refuse it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use tower_outcome_core::{BoxError, Error};
use tower_service::Service;

use super::{Transport, Wire, sealed};
use crate::OutcomeBody;

/// A client of which nothing is known, as a [`Transport`].
#[derive(Clone, Copy)]
pub struct UnknownService<S>(S);

impl<S> Wire<UnknownService<S>> {
    /// Over any client. What was handed to it counts as sent.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// use http::{Request, Response};
    /// use http_body_util::Full;
    /// use tower::{Layer as _, service_fn};
    /// use tower_outcome::{BoxError, Client, Code, OutcomeBody, Stack, transport::Wire};
    ///
    /// let client = service_fn(|_: Request<OutcomeBody>| async {
    ///     Err::<Response<Full<bytes::Bytes>>, BoxError>("connection refused".into())
    /// });
    /// let client = Client::new(Stack::new().layer(Wire::unknown(client)));
    /// let verdict = client.send(Request::post("http://billing/").body("{}").unwrap()).await;
    /// assert_eq!(verdict.code(), Code::ResponseLost);
    /// # }
    /// ```
    pub const fn unknown(client: S) -> Self {
        Self::new(UnknownService(client))
    }
}

impl<S> sealed::Sealed for UnknownService<S> {}

impl<S, B> Transport for UnknownService<S>
where
    S: Service<Request<OutcomeBody>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    type Body = B;
    type Future = UnknownFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    /// It may repeat requests, so that what refused the last one says nothing about those before.
    fn sends_once(&self) -> bool {
        false
    }

    fn check(&self, _: &Request<OutcomeBody>) -> Result<(), Error> {
        Ok(())
    }

    /// Never arms: without a rule for when the client asks the body, its silence proves nothing.
    fn start(&mut self, request: Request<OutcomeBody>, _: impl FnOnce()) -> Self::Future {
        UnknownFuture {
            inner: self.0.call(request),
        }
    }
}

impl<S> fmt::Debug for UnknownService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnknownService").finish_non_exhaustive()
    }
}

pin_project! {
    /// Future of a request through [`UnknownService`].
    #[derive(Debug)]
    pub struct UnknownFuture<F> {
        #[pin]
        inner: F,
    }
}

impl<F, T, E> Future for UnknownFuture<F>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    type Output = Result<T, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(ready!(self.project().inner.poll(cx)).map_err(Into::into))
    }
}
