//! The retry policy alone, under tower's own retry: no stack, no ledger, plain bodies.
//!
//! ```text
//! cargo run --example retry_alone
//! ```
//!
//! Billing does each refund and then answers 503. A request with a key is made again, since billing
//! replays what it did under that key; one without is not, since nobody knows.

use std::error::Error;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tower::retry::RetryLayer;
use tower::{ServiceBuilder, ServiceExt as _};
use tower_outcome::{KeyedRetry, Profile};
use tower_outcome_testkit::{Billing, Reply, Step};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The policy has to be told what billing promises. Told nothing, it repeats no write at all.
    let policy = KeyedRetry::new(3).with_profile(Profile::idempotency_key());
    let client = ServiceBuilder::new()
        .layer(RetryLayer::new(policy))
        .service(Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>());

    for (key, expected) in [
        (Some("refund-7"), (StatusCode::CREATED, 2)),
        (None, (StatusCode::SERVICE_UNAVAILABLE, 1)),
    ] {
        let billing = Billing::start().await?;
        billing.script([Step::CommitThenAnswerWith(Reply::new(503))]);

        let mut request = Request::post(format!("{}/refunds", billing.url()));
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Full::from(r#"{"order":7,"amount":20}"#))?;
        let status = client.clone().oneshot(request).await?.status();

        let (sent, refunds) = (billing.received().len(), billing.commits());
        let key = key.map_or("without a key", |_| "with a key");
        println!("{key}: {status} in the end, sent {sent}x, refunded {refunds}x");
        if (status, sent) != expected || refunds != 1 {
            return Err("this is not what it should have been".into());
        }
    }
    Ok(())
}
