//! An audit reports what it sees, and nothing changes by it.

use std::future::{Ready, ready};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tower::retry::{Policy, RetryLayer};
use tower_outcome::audit::{Audit, Kind};
use tower_outcome_testkit::Billing;

mod attempts;
mod ends;
mod handle;
mod quiet;
mod redirects;
mod transparent;

type Body = Full<Bytes>;

fn hyper() -> Client<HttpConnector, Body> {
    Client::builder(TokioExecutor::new()).build_http()
}

/// The write that all tests make. Its query and its body are nobody's business.
fn write(url: &str) -> Request<Body> {
    Request::post(format!("{url}/refunds?token=hush"))
        .body(Full::from(r#"{"order":"hush","amount":1000}"#))
        .unwrap()
}

fn keyed(url: &str, key: &'static str) -> Request<Body> {
    let mut request = write(url);
    let key = http::HeaderValue::from_static(key);
    request.headers_mut().insert("idempotency-key", key);
    request
}

/// What was found: its kind, whether it is certain, and the attempt that it is about.
fn found(audit: &Audit) -> Vec<(Kind, bool, u32)> {
    let findings = audit.findings();
    let brief = findings.iter().map(|it| (it.kind, it.certain, it.attempt));
    brief.collect()
}

/// Repeats whatever did not succeed, three attempts in all, and never looks at the request.
fn naive() -> RetryLayer<Naive> {
    RetryLayer::new(Naive(0))
}

#[derive(Clone)]
struct Naive(u8);

impl<B: Clone, T, E> Policy<Request<B>, Response<T>, E> for Naive {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _: &mut Request<B>,
        result: &mut Result<Response<T>, E>,
    ) -> Option<Ready<()>> {
        self.0 += 1;
        let succeeded = result
            .as_ref()
            .is_ok_and(|answer| answer.status().is_success());
        (self.0 < 3 && !succeeded).then(|| ready(()))
    }

    fn clone_request(&mut self, request: &Request<B>) -> Option<Request<B>> {
        Some(request.clone())
    }
}

async fn without_keys() -> Billing {
    Billing::start_without_keys().await.unwrap()
}
