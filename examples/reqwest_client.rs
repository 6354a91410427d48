//! A stack over reqwest, for an API of which nothing is known.
//!
//! ```text
//! cargo run --example reqwest_client
//! ```
//!
//! Billing does the refund, and its answer takes longer than we wait. Without a promise about keys
//! nothing may be sent again, so the word is `unknown`: to the first call and to every repeat. When
//! the late answer comes the ledger learns of it, and the next call is told that it was done.

use std::error::Error;
use std::time::Duration;

use serde_json::json;
use tower_outcome::{
    Code, ForWrites as _, Intent, MemoryLedger, OutcomeClient, RequestExt as _, Stack, Watch,
    WritesClient,
};
use tower_outcome_testkit::{Billing, Step};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let billing = Billing::start_without_keys().await?;
    billing.script([Step::CommitThenHold]);

    // `for_writes`: no redirects and no hidden retries. Other reqwest clients do not go in here.
    let http = reqwest::Client::builder().for_writes().build()?;
    let refunds = Refunds {
        client: Stack::new()
            .with_deadline(Duration::from_millis(500))
            .with_ledger(MemoryLedger::default())
            .over(http.clone())
            .boxed(),
        url: format!("{}/refunds", billing.url()),
        http,
    };

    let watch = refunds.send("first call", Code::TimeoutAfterSend).await?;
    refunds
        .send("same call again", Code::StillConfirming)
        .await?;

    billing.release();
    let call = watch.call().ok_or("the call was a write")?;
    println!("the late answer comes: {}", call.settled().await.code());
    refunds.send("same call again", Code::AlreadyDone).await?;

    let (sent, commits) = (billing.received().len(), billing.commits());
    println!("billing got {sent} request and refunded {commits}x");
    if (sent, commits) != (1, 1) {
        return Err("it should have been 1 request and 1 refund".into());
    }
    Ok(())
}

struct Refunds {
    client: OutcomeClient,
    url: String,
    http: WritesClient,
}

impl Refunds {
    async fn send(&self, name: &str, expected: Code) -> Result<Watch, Box<dyn Error>> {
        let refund = json!({ "order": 7, "amount": 20 });
        let intent = Intent::new("acme/customer-7", "refund", &refund)?;
        let request = self.http.post(&self.url).body(refund.to_string()).build()?;
        let mut request = request.with_intent(intent);
        // Tells of the write beyond the end of its call.
        let watch = Watch::new();
        request.extensions_mut().insert(watch.clone());

        let verdict = self.client.send(request).await;
        println!("{name}: {} ({})", verdict.outcome(), verdict.code());
        println!("  {}", verdict.message());
        if verdict.code() != expected {
            return Err(format!("it should have been {expected}").into());
        }
        Ok(watch)
    }
}
