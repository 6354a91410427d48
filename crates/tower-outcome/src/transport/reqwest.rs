//! reqwest's client.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response, Version};
use reqwest::Url;
use tower_outcome_core::{BoxError, Error};

use super::hyper::absolute;
use super::writes_client::{Pending, WritesClient};
use super::{Followed, IntoTransport, Transport, Wire, sealed};
use crate::OutcomeBody;
use crate::call::reads;

/// reqwest's client, as a [`Transport`]. Requests over HTTP/3 leave before their body is asked: what
/// was handed on counts as sent.
#[derive(Clone, Debug)]
pub struct ReqwestClient(WritesClient);

impl Wire<ReqwestClient> {
    /// Over a reqwest client that sends each request once.
    #[must_use]
    pub const fn reqwest(client: WritesClient) -> Self {
        Self::new(ReqwestClient(client))
    }
}

impl sealed::Sealed for ReqwestClient {}

impl Transport for ReqwestClient {
    type Body = reqwest::Body;
    type Future = ReqwestFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    fn sends_once(&self) -> bool {
        self.0.sends_once()
    }

    fn check(&self, request: &Request<OutcomeBody>) -> Result<(), Error> {
        absolute(request.uri())?;
        match reqwest::Url::parse(&request.uri().to_string()) {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::invalid("uri", "is no URL")),
        }
    }

    fn start(&mut self, request: Request<OutcomeBody>, arm: impl FnOnce()) -> ReqwestFuture {
        // Cannot fail after `check`; if it did, the body would be dropped unarmed: no proof.
        let wrote = !reads(&request);
        let (parts, body) = request.into_parts();
        let request = Request::from_parts(parts, reqwest::Body::wrap(body));
        match reqwest::Request::try_from(request) {
            Ok(request) => {
                if request.version() != Version::HTTP_3 {
                    arm();
                }
                ReqwestFuture {
                    sent_to: wrote.then(|| request.url().clone()),
                    result: Ok(self.0.call(request)),
                }
            }
            Err(error) => ReqwestFuture {
                sent_to: None,
                result: Err(Some(error)),
            },
        }
    }
}

impl IntoTransport for WritesClient {
    type Transport = ReqwestClient;

    fn into_transport(self) -> ReqwestClient {
        ReqwestClient(self)
    }
}

/// Future of a request through [`ReqwestClient`].
pub struct ReqwestFuture {
    result: Result<Pending, Option<reqwest::Error>>,
    /// Where a write went.
    sent_to: Option<Url>,
}

impl Future for ReqwestFuture {
    type Output = Result<Response<reqwest::Body>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = match &mut self.result {
            Ok(pending) => ready!(Pin::new(pending).poll(cx)),
            Err(error) => match error.take() {
                Some(error) => Err(error),
                None => return Poll::Pending,
            },
        };
        // The URL may hold secrets in its query.
        Poll::Ready(match result {
            Ok(answer) => {
                let followed = self.sent_to.as_ref().is_some_and(|it| it != answer.url());
                let mut answer = Response::from(answer);
                if followed {
                    answer.extensions_mut().insert(Followed);
                }
                Ok(answer)
            }
            Err(error) => Err(error.without_url().into()),
        })
    }
}

impl fmt::Debug for ReqwestFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReqwestFuture").finish_non_exhaustive()
    }
}
