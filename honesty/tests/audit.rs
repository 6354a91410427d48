//! An audit inside of what people use reports what that does to a write.

use std::time::Duration;

use bytes::Bytes;
use http::{Extensions, Request};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use reqwest_middleware::{ClientBuilder, Next};
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;
use tower::{ServiceBuilder, ServiceExt as _};
use tower_outcome::audit::{Audit, Kind};
use tower_outcome_testkit::{Billing, Refusing, Reply, Step};

/// The middleware that the documentation of audits shows.
struct Audited(Audit);

#[async_trait::async_trait]
impl reqwest_middleware::Middleware for Audited {
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        let Ok(uri) = request.url().as_str().parse() else {
            return next.run(request, extensions).await;
        };
        let size = request.body().and_then(|body| body.as_bytes());
        let size = size.map(|bytes| bytes.len() as u64);
        let (method, headers) = (request.method(), request.headers());
        let watch = self.0.start(method, &uri, headers, size, extensions);
        let result = next.run(request, extensions).await;
        match &result {
            Ok(answer) => watch.answered(answer.status()),
            Err(error) => watch.failed(error),
        }
        result
    }
}

fn reqwest_retry(audit: &Audit) -> reqwest_middleware::ClientWithMiddleware {
    let policy = ExponentialBackoff::builder()
        .retry_bounds(Duration::ZERO, Duration::ZERO)
        .build_with_max_retries(3);
    ClientBuilder::new(reqwest::Client::builder().no_proxy().build().unwrap())
        .with(Audited(audit.clone()))
        .with(RetryTransientMiddleware::new_with_policy(policy))
        .with(Audited(audit.clone()))
        .build()
}

/// What was found: its kind, whether it is certain, and the attempt that it is about.
fn found(audit: &Audit) -> Vec<(Kind, bool, u32)> {
    let findings = audit.findings();
    let brief = findings.iter().map(|it| (it.kind, it.certain, it.attempt));
    brief.collect()
}

#[tokio::test]
async fn what_reqwest_retry_sends_again_is_found() {
    let billing = Billing::start_without_keys().await.unwrap();
    let lost = Step::CommitThenAnswerWith(Reply::new(503));
    billing.script([lost, Step::CommitThenClose]);
    let audit = Audit::new();
    let request = reqwest_retry(&audit).post(billing.url()).body("{}");
    assert_eq!(request.send().await.unwrap().status(), 201);
    assert_eq!(billing.commits(), 3);
    assert_eq!(
        found(&audit),
        [(Kind::Resent, true, 2), (Kind::Resent, true, 3)]
    );
}

#[tokio::test]
async fn a_connection_that_reqwest_retry_could_not_make_is_no_finding() {
    let refusing = Refusing::start().unwrap();
    let audit = Audit::new();
    let request = reqwest_retry(&audit).post(refusing.url()).body("{}");
    request.send().await.unwrap_err();
    assert_eq!(found(&audit), []);
}

#[tokio::test]
async fn what_tower_resilience_sends_again_is_found() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenClose]);
    let audit = Audit::new();
    let retry = tower_resilience_retry::RetryLayer::builder()
        .fixed_backoff(Duration::ZERO)
        .build();
    let client = ServiceBuilder::new()
        .layer(audit.layer())
        .layer(retry)
        .layer(audit.layer())
        .service(Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>());
    let request = Request::post(billing.url()).body(Full::from("{}")).unwrap();
    client.oneshot(request).await.unwrap();
    assert_eq!(billing.commits(), 2);
    assert_eq!(found(&audit), [(Kind::Resent, true, 2)]);
}
