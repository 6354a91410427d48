//! A stack over hyper-util's client, for an API that honours keys.
//!
//! ```text
//! cargo run --example hyper_client
//! ```
//!
//! Billing does the refund and closes the connection: the answer is lost. The stack sends the same
//! bytes under the same key again and gets the answer to the first request. Asked for the same
//! refund once more, it answers from its ledger and sends nothing.

use std::error::Error;

use http::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::json;
use tower_outcome::{Code, Intent, MemoryLedger, Profile, RequestExt as _, Stack};
use tower_outcome_testkit::{Billing, Step};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let billing = Billing::start().await?;
    billing.script([Step::CommitThenClose]);

    // What the API promises: a repeat under a key is not done again, and is marked as a replay.
    let profile = Profile::idempotency_key().with_replay_marker("idempotent-replayed");
    let client = Stack::new()
        .with_ledger(MemoryLedger::default())
        .with_profile(profile)
        .over(Client::builder(TokioExecutor::new()).build_http());

    for (call, expected) in [
        ("first call", Code::DoneReplayed),
        ("same call again", Code::AlreadyDone),
    ] {
        let refund = json!({ "order": 7, "amount": 20 });
        // Whose money it is, which operation, and with what: equal wishes have equal keys.
        let intent = Intent::new("acme/customer-7", "refund", &refund)?;
        let request = Request::post(format!("{}/refunds", billing.url()))
            .header("content-type", "application/json")
            .body(refund.to_string())?;

        let verdict = client.send(request.with_intent(intent)).await;
        let (outcome, code) = (verdict.outcome(), verdict.code());
        let sent = billing.received().len();
        println!("{call}: {outcome} ({code}), {sent} requests so far");
        println!("  {}", verdict.into_json()?);
        if code != expected {
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
