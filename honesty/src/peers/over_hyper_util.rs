//! hyper-util's client, and what repeats over it.

use std::future::{Ready, ready};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tower::retry::{Policy, Retry};
use tower::timeout::Timeout;
use tower::{BoxError, Layer as _, Service, ServiceExt as _};
use tower_outcome_matrix::{BODY, Protocol, Write};
use tower_resilience_retry::RetryLayer;

use super::{JSON, told};

/// With a timeout.
pub(super) fn plain(protocol: Protocol, deadline: Duration) -> Write {
    write(client(protocol, deadline))
}

/// The policy that people write first.
pub(super) fn tower_retry(protocol: Protocol, deadline: Duration) -> Write {
    write(Retry::new(Repeat { left: 2 }, client(protocol, deadline)))
}

/// As built without a setting: three attempts, on errors alone.
pub(super) fn tower_resilience(protocol: Protocol, deadline: Duration) -> Write {
    let layer = RetryLayer::builder().fixed_backoff(Duration::ZERO).build();
    write(layer.layer(client(protocol, deadline)))
}

fn client(
    protocol: Protocol,
    deadline: Duration,
) -> Timeout<legacy::Client<HttpConnector, Full<Bytes>>> {
    let client = legacy::Client::builder(TokioExecutor::new())
        .http2_only(protocol == Protocol::Http2)
        .build_http();
    Timeout::new(client, deadline)
}

fn write<S, B>(service: S) -> Write
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = BoxError> + Clone + 'static,
{
    Arc::new(move |url| {
        let service = service.clone();
        Box::pin(async move {
            let request = Request::post(format!("{url}/refunds"))
                .header("content-type", JSON)
                .body(Full::from(BODY))
                .expect("the testkit's URLs are URLs");
            let answer = service.oneshot(request).await;
            told(answer.ok().map(|response| response.status()))
        })
    })
}

/// Repeats after an error or a 5xx.
#[derive(Clone, Debug)]
struct Repeat {
    left: usize,
}

impl<B> Policy<Request<Full<Bytes>>, Response<B>, BoxError> for Repeat {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _request: &mut Request<Full<Bytes>>,
        result: &mut Result<Response<B>, BoxError>,
    ) -> Option<Self::Future> {
        let is_transient = match result {
            Ok(response) => response.status().is_server_error(),
            Err(_) => true,
        };
        if !is_transient {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        Some(ready(()))
    }

    fn clone_request(&mut self, request: &Request<Full<Bytes>>) -> Option<Request<Full<Bytes>>> {
        Some(request.clone())
    }
}
