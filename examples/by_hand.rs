//! Every layer of the stack by hand, in a `ServiceBuilder`, with room for layers of your own.
//!
//! ```text
//! cargo run --example by_hand
//! ```
//!
//! Billing answers the first try at a refund with a 503 after it was done, which a second try under
//! the same key clears up. The same call again is answered by the ledger.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use serde_json::json;
use tower::ServiceBuilder;
use tower::limit::ConcurrencyLimitLayer;
use tower::retry::RetryLayer;
use tower_outcome::transport::Wire;
use tower_outcome::{
    ClaimLayer, Client, Code, DeadlineLayer, Intent, KeyLayer, KeyedRetry, MemoryLedger,
    OutcomeLayer, Profile, RequestExt as _, ShieldLayer,
};
use tower_outcome_testkit::{Billing, Reply, Step};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let billing = Billing::start().await?;
    billing.script([Step::CommitThenAnswerWith(Reply::new(503))]);
    let profile = Arc::new(Profile::idempotency_key().with_replay_marker("idempotent-replayed"));

    let client = Client::new(
        ServiceBuilder::new()
            // Outermost: makes the record that all others share, and has the last word.
            .layer(OutcomeLayer::new().with_profile(profile))
            // Above all that can take time; the only timeout, since it alone knows what it means.
            .layer(DeadlineLayer::new(Duration::from_secs(10)))
            // Below the deadline, which a write that may have left outlives in a task of its own.
            .layer(ShieldLayer::new())
            // Below the shield: above it a cap is none, since writes go on when callers leave.
            .layer(ConcurrencyLimitLayer::new(16))
            // In that task, so that a caller who leaves cannot leave an open row behind.
            .layer(ClaimLayer::new(MemoryLedger::default()))
            // Below the ledger, which counts the generations of a key; above the retry, which
            // copies the request with the key in it.
            .layer(KeyLayer::new())
            // Above the wire, so that each attempt is looked at by itself.
            .layer(RetryLayer::new(KeyedRetry::new(3)))
            // Innermost: nothing may come between it and the client whose sends it watches.
            .service(Wire::hyper(
                legacy::Client::builder(TokioExecutor::new()).build_http(),
            )),
    );

    for (call, expected) in [
        ("first call", Code::DoneReplayed),
        ("same call again", Code::AlreadyDone),
    ] {
        let refund = json!({ "order": 7, "amount": 20 });
        let intent = Intent::new("acme/customer-7", "refund", &refund)?;
        let request = Request::post(format!("{}/refunds", billing.url()));
        let request = request.body(refund.to_string())?.with_intent(intent);
        let verdict = client.send(request).await;
        println!("{call}: {} ({})", verdict.outcome(), verdict.code());
        if verdict.code() != expected {
            return Err(format!("it should have been {expected}").into());
        }
    }

    let (sent, refunds) = (billing.received().len(), billing.commits());
    println!("billing got {sent} requests and refunded {refunds}x");
    if (sent, refunds) != (2, 1) {
        return Err("it should have been 2 requests and 1 refund".into());
    }
    Ok(())
}
