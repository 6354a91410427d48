//! What becomes of a refund whose answer is lost: a reconciler asks billing for it, and an operator
//! sees what is left.
//!
//! ```sh
//! cargo run --example reconcile
//! ```
//!
//! In a service the reconciler runs beside the tools, `tokio::spawn(async move { reconciler.run(pause)
//! .await })`, in as many replicas as there are. Exits with 1 if it finds anything but one refund.

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use tower_outcome::{BoxError, ForWrites as _, MemoryLedger, Profile, Stack};
use tower_outcome_core::ledger::{Entry, Filter, WriteRecord};
use tower_outcome_testkit::{Billing, Step};
use tower_outcome_tools::reconciler::LookUpFuture;
use tower_outcome_tools::{Executor, Found, LookUp, Operator, Reconciler, Tool, ToolCall};

#[tokio::main]
async fn main() -> Result<ExitCode, BoxError> {
    let billing = Billing::start().await?;
    let lost = || Step::CommitThenClose;
    billing.script([lost(), lost(), lost()]); // the retry under the same key does not help
    let url = format!("{}/refunds", billing.url());
    let ledger = Arc::new(MemoryLedger::default());
    let tools = tools(&url, Arc::clone(&ledger))?;
    let call = ToolCall::new("acme/chat-3", "refund", json!({ "order": 7, "amount": 20 }));

    let mut words = vec![told(&tools, &call).await];
    let operator = Operator::new(Arc::clone(&ledger));
    for entry in operator.list(&Filter::new(10)).await?.entries {
        println!(
            "an operator sees: {} of {}",
            entry.state.as_str(),
            entry.tool
        );
    }
    let http = reqwest::Client::new();
    let reconciler = Reconciler::new(ledger, Refunds { http, url });
    let confirmed = reconciler.pass().await?.confirmed.len();
    println!("the reconciler asks billing: {confirmed} confirmed");
    words.push(told(&tools, &call).await);

    println!("billing made {} refunds", billing.commits());
    let as_said = words == ["unknown/response_lost", "already_done/already_done"];
    let as_said = as_said && billing.commits() == 1;
    Ok(ExitCode::from(u8::from(!as_said)))
}

async fn told(tools: &Executor, call: &ToolCall) -> String {
    let envelope = tools.run(call.clone()).await;
    let word = format!("{}/{}", envelope.outcome(), envelope.code());
    println!("the agent is told: {word}");
    word
}

fn tools(url: &str, ledger: Arc<MemoryLedger>) -> Result<Executor, BoxError> {
    let http = reqwest::Client::builder().for_writes().build()?;
    let stack = Stack::new().with_profile(Profile::idempotency_key());
    let (url, billing) = (url.to_owned(), stack.over(http.clone()).boxed());
    let refund = Tool::write("refund", move |arguments: Value| {
        let request = http.post(&url).body(arguments.to_string()).build();
        let billing = billing.clone();
        async move { Ok::<_, BoxError>(billing.send(request?).await.into_json()?) }
    });
    // What a reconciler finds finishes the call only if it was the only write.
    let refund = refund.key("/order").key("/amount").with_single_write();
    Ok(Executor::new(ledger).with_tool(refund))
}

/// Asks billing for a refund by the key that its request carried. Nothing else is proof.
struct Refunds {
    http: reqwest::Client,
    url: String,
}

impl LookUp for Refunds {
    fn find<'a>(&'a self, _: &'a Entry, write: &'a WriteRecord) -> LookUpFuture<'a> {
        Box::pin(async move {
            let url = format!("{}?key={}", self.url, write.wire_key);
            let answer = self.http.get(url).send().await?.bytes().await?;
            let answer: Value = serde_json::from_slice(&answer)?;
            Ok(match answer["found"].get(0) {
                Some(refund) => Found::Done(refund.clone()),
                None => Found::NotFound, // it may still land: never taken for a failure
            })
        })
    }
}
