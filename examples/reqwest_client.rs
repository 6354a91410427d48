//! Every layer around a reqwest client, against a provider that honours keys.
//!
//! `cargo run --example reqwest_client`. A lost answer is asked for again under the same key, a late
//! one is waited for after its call has ended, and the same call again gets the stored result.
//! Exits with 1 if it is otherwise.

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};
use tower_outcome::{
    Code, Envelope, ForWrites as _, Intent, MemoryLedger, OutcomeClient, Profile, RequestExt as _,
    Stack, Watch, WritesClient,
};
use tower_outcome_testkit::{Billing, Step};

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let billing = Billing::start().await?;
    // What billing promises: a key is honoured, and an answer given again is marked as such.
    let promises = Profile::idempotency_key().with_replay_marker("idempotent-replayed");
    // Sends each request once: no redirects, no hidden retries.
    let http = reqwest::Client::builder().for_writes().build()?;
    let client = Stack::new()
        .with_deadline(Duration::from_millis(500))
        .with_ledger(MemoryLedger::default())
        .with_profile(promises)
        .over(http.clone())
        .boxed();
    let agent = Agent {
        url: format!("{}/refunds", billing.url()),
        http,
        client,
    };

    billing.script([Step::CommitThenClose]);
    println!("billing makes the refund of order 7 and closes the connection without an answer:");
    let (lost, _) = agent.refund(7).await?;
    tell("the call, sent again under its key", &lost);
    let (stored, _) = agent.refund(7).await?;
    tell("the same call again", &stored);

    billing.script([Step::CommitThenHold]);
    println!("billing makes the refund of order 8 and is slower than the deadline:");
    let (late, watch) = agent.refund(8).await?;
    tell("the call", &late);
    let (doubted, _) = agent.refund(8).await?;
    tell("the same call again", &doubted);
    billing.release();
    // The write has gone on in a task of its own. A program need not wait for it as we do here.
    let call = watch.call().ok_or("the watch saw no call")?;
    let settled = call.settled().await;
    println!(
        "  the answer comes after all: {}/{}",
        settled.outcome(),
        settled.code()
    );
    let (confirmed, _) = agent.refund(8).await?;
    tell("the same call again", &confirmed);

    let (sent, made) = (billing.received().len(), billing.commits());
    println!("five calls for two orders: billing got {sent} requests and made {made} refunds");
    let as_said = lost.code() == Code::DoneReplayed
        && stored.code() == Code::AlreadyDone
        && stored.data() == lost.data()
        && late.code() == Code::TimeoutAfterSend
        && doubted.code() == Code::StillConfirming
        && confirmed.code() == Code::AlreadyDone
        && confirmed.data()["order"] == 8
        && (sent, made) == (3, 2);
    Ok(ExitCode::from(u8::from(!as_said)))
}

struct Agent {
    url: String,
    http: WritesClient,
    client: OutcomeClient,
}

impl Agent {
    async fn refund(&self, order: u32) -> Result<(Envelope, Watch), Box<dyn Error>> {
        let arguments = json!({ "order": order, "amount": 20 });
        let intent = Intent::new("acme/chat-3", "refund", &arguments)?;
        let request = self
            .http
            .post(&self.url)
            .header(CONTENT_TYPE, "application/json")
            .body(arguments.to_string())
            .build()?;
        let watch = Watch::new();
        let mut request = request.with_intent(intent);
        request.extensions_mut().insert(watch.clone());
        let verdict = self.client.send(request).await;
        Ok((verdict.into_envelope(), watch))
    }
}

fn tell(call: &str, envelope: &Envelope) {
    let (word, code) = (envelope.outcome(), envelope.code());
    match envelope.data() {
        Value::Null => println!("  {call}: {word}/{code}. {}", envelope.message()),
        data => println!("  {call}: {word}/{code} {data}"),
    }
}
