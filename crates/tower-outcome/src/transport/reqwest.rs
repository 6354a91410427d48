//! reqwest's client.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use tower_outcome_core::{BoxError, Error};
use tower_service::Service;

use super::hyper::absolute;
use super::writes_client::WritesClient;
use super::{Followed, IntoTransport, Transport, Wire, sealed};
use crate::OutcomeBody;

/// reqwest's client, as a [`Transport`]. Without HTTP/3, whose requests leave before their body is
/// asked.
#[derive(Clone, Debug)]
pub struct ReqwestClient {
    client: reqwest::Client,
    may_follow_redirects: bool,
}

impl Wire<ReqwestClient> {
    /// Over a reqwest client of which it is not known whether it follows redirects.
    ///
    /// An error or a refusal may then speak of a second request, so that neither proves that
    /// nothing happened: prefer [`ForWrites`](super::ForWrites) and [`Wire::writes`].
    ///
    /// The request's body cannot be cloned below this point, so that neither reqwest's own retry
    /// nor a 307 or 308 sends a write again.
    #[must_use]
    pub const fn reqwest(client: reqwest::Client) -> Self {
        Self::new(ReqwestClient {
            client,
            may_follow_redirects: true,
        })
    }

    /// Over a reqwest client that sends each request once.
    #[must_use]
    pub fn writes(client: WritesClient) -> Self {
        Self::new(client.into_transport())
    }
}

impl sealed::Sealed for ReqwestClient {}

impl Transport for ReqwestClient {
    type Body = reqwest::Body;
    type Future = ReqwestFuture;

    fn may_follow_redirects(&self) -> bool {
        self.may_follow_redirects
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.client.poll_ready(cx).map_err(Into::into)
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
        let (parts, body) = request.into_parts();
        let request = Request::from_parts(parts, reqwest::Body::wrap(body));
        match reqwest::Request::try_from(request) {
            Ok(request) => {
                let asked = self.may_follow_redirects.then(|| request.url().clone());
                arm();
                ReqwestFuture {
                    pending: Ok(self.client.call(request)),
                    asked,
                }
            }
            Err(error) => ReqwestFuture {
                pending: Err(Some(error)),
                asked: None,
            },
        }
    }
}

impl IntoTransport for reqwest::Client {
    type Transport = ReqwestClient;

    fn into_transport(self) -> ReqwestClient {
        ReqwestClient {
            client: self,
            may_follow_redirects: true,
        }
    }
}

impl IntoTransport for WritesClient {
    type Transport = ReqwestClient;

    fn into_transport(self) -> ReqwestClient {
        ReqwestClient {
            client: self.into_inner(),
            may_follow_redirects: false,
        }
    }
}

/// Future of a request through [`ReqwestClient`].
pub struct ReqwestFuture {
    pending: Result<Pending, Option<reqwest::Error>>,
    /// What was asked for, if the answer may be to something else.
    asked: Option<reqwest::Url>,
}

type Pending = <reqwest::Client as Service<reqwest::Request>>::Future;

impl Future for ReqwestFuture {
    type Output = Result<Response<reqwest::Body>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = match &mut self.pending {
            Ok(pending) => ready!(Pin::new(pending).poll(cx)),
            Err(error) => match error.take() {
                Some(error) => Err(error),
                None => return Poll::Pending,
            },
        };
        // The URL may hold secrets in its query.
        Poll::Ready(match result {
            Ok(answer) => {
                let followed = self.asked.as_ref().is_some_and(|url| url != answer.url());
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
