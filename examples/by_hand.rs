//! Every layer put in its place by hand, and why it stands there.
//!
//! `cargo run --example by_hand`. `Stack` makes the same stack; by hand there is room for layers of
//! your own. Here that is a cap of one request at a time, which holds also for a write whose caller
//! has left. Exits with 1 if it does not.

use std::error::Error;
use std::process::ExitCode;
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
    Audit, ClaimLayer, Client, Code, DeadlineLayer, Intent, KeyLayer, KeyedRetry, MemoryLedger,
    OutcomeBody, OutcomeClient, OutcomeLayer, Profile, RequestExt as _, ShieldLayer,
};
use tower_outcome_testkit::{Billing, Step};

fn client(audit: &Audit) -> OutcomeClient {
    let http = legacy::Client::builder(TokioExecutor::new()).build_http();
    let service = ServiceBuilder::new()
        // Outermost: the record that it makes is what all others write into, and what it reads.
        .layer(OutcomeLayer::new().with_profile(Profile::idempotency_key()))
        // Right below: its clock covers the wait for a permit, the ledger, attempts and backoff.
        .layer(DeadlineLayer::new(Duration::from_secs(1)))
        // Below the clock: a call may end while its write goes on, in a task of its own.
        .layer(ShieldLayer::new())
        // Inside the task: what became of the write is taken down, whoever has left.
        .layer(ClaimLayer::new(MemoryLedger::default()))
        // Below the claim, and above the retry, so that all attempts carry one key.
        .layer(KeyLayer::new())
        // Sees the key, and each attempt's proof from below.
        .layer(RetryLayer::new(KeyedRetry::new(3)))
        // Below the shield, or a caller who leaves would give back the permit of a running write;
        // below the retry, or it would be held during backoff.
        .layer(ConcurrencyLimitLayer::new(1))
        // Right above the wire, where each attempt passes: it changes nothing, it reports.
        .layer(audit.layer())
        // Innermost: nothing may stand between it and the client, or its proof is none.
        .service(Wire::hyper(http));
    Client::new(service).boxed()
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let billing = Billing::start().await?;
    let audit = Audit::new();
    let client = client(&audit);

    billing.script([Step::CommitThenHold]);
    tokio::select! {
        _ = client.send(refund(&billing, 7)?) => return Err("the answer was not held back".into()),
        () = billing.wait_commits(1) => {}
    }
    println!("order 7: the caller leaves in the middle, and the write goes on");

    let queued = client.send(refund(&billing, 8)?).await;
    let (word, code) = (queued.outcome(), queued.code());
    println!("order 8: {word}/{code}; the permit was still taken, and nothing was sent");

    billing.release();
    let stored = client.send(refund(&billing, 7)?).await.into_envelope();
    let (word, code) = (stored.outcome(), stored.code());
    println!("order 7 again: {word}/{code} {}", stored.data());
    let done = client.send(refund(&billing, 8)?).await.into_envelope();
    let (word, code) = (done.outcome(), done.code());
    println!("order 8 again: {word}/{code} {}", done.data());

    let (sent, made) = (billing.received().len(), billing.commits());
    let found = audit.findings().len();
    println!("billing got {sent} requests and made {made} refunds; the audit found {found} faults");
    let as_said = queued.code() == Code::TimeoutBeforeSend
        && stored.code() == Code::AlreadyDone
        && done.code() == Code::Done
        && (sent, made, found) == (2, 2, 0);
    Ok(ExitCode::from(u8::from(!as_said)))
}

fn refund(billing: &Billing, order: u32) -> Result<Request<OutcomeBody>, Box<dyn Error>> {
    let arguments = json!({ "order": order, "amount": 20 });
    let intent = Intent::new("acme/chat-3", "refund", &arguments)?;
    let request =
        Request::post(format!("{}/refunds", billing.url())).body(arguments.to_string())?;
    Ok(request.with_intent(intent))
}
