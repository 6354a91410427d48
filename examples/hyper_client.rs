//! Every layer around a hyper-util client, against a provider that knows no keys.
//!
//! `cargo run --example hyper_client`. Nobody can make a repeat safe there, so a lost answer ends
//! in `unknown`, the same call again sends nothing, and what was answered is never sent again
//! either. Exits with 1 if it is otherwise.

use std::error::Error;
use std::process::ExitCode;

use http::{Request, header::CONTENT_TYPE};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tower_outcome::{Code, Envelope, Intent, MemoryLedger, OutcomeClient, RequestExt as _, Stack};
use tower_outcome_testkit::{Billing, Step};

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let billing = Billing::start_without_keys().await?;
    // `OutcomeBody`, the client's body type, is inferred from `over`.
    let http = Client::builder(TokioExecutor::new()).build_http();
    let client = Stack::new()
        .with_ledger(MemoryLedger::default())
        .over(http)
        .boxed();
    let url = format!("{}/refunds", billing.url());

    billing.script([Step::CommitThenClose]);
    println!("billing makes the refund of order 7 and closes the connection without an answer:");
    let lost = refund(&client, &url, 7).await?;
    tell("the call", &lost);
    let repeated = refund(&client, &url, 7).await?;
    tell("the same call again", &repeated);

    println!("the refund of order 8 is answered:");
    let done = refund(&client, &url, 8).await?;
    tell("the call", &done);
    let stored = refund(&client, &url, 8).await?;
    tell("the same call again", &stored);

    let (sent, made) = (billing.received().len(), billing.commits());
    println!("four calls for two orders: billing got {sent} requests and made {made} refunds");
    let as_said = lost.code() == Code::ResponseLost
        && repeated.code() == Code::StillConfirming
        && done.code() == Code::Done
        && stored.code() == Code::AlreadyDone
        && stored.data() == done.data()
        && (sent, made) == (2, 2);
    Ok(ExitCode::from(u8::from(!as_said)))
}

async fn refund(client: &OutcomeClient, url: &str, order: u32) -> Result<Envelope, Box<dyn Error>> {
    let arguments = json!({ "order": order, "amount": 20 });
    // Two calls of the same intent are one wish. A wish to do it twice is another scope.
    let intent = Intent::new("acme/chat-3", "refund", &arguments)?;
    let request = Request::post(url)
        .header(CONTENT_TYPE, "application/json")
        .body(arguments.to_string())?;
    let verdict = client.send(request.with_intent(intent)).await;
    Ok(verdict.into_envelope())
}

fn tell(call: &str, envelope: &Envelope) {
    let (word, code) = (envelope.outcome(), envelope.code());
    match envelope.data() {
        Value::Null => println!("  {call}: {word}/{code}. {}", envelope.message()),
        data => println!("  {call}: {word}/{code} {data}"),
    }
}
