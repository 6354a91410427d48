//! The tool side in a few lines: a tool that refunds, and a reply that is held to what it did.
//!
//! ```sh
//! cargo run --example tool_calls
//! ```

use serde_json::{Value, json};
use tower_outcome::{BoxError, ForWrites as _, MemoryLedger, Profile, Stack};
use tower_outcome_tools::{Action, Executor, ReplyChecker, Tool, ToolCall};

async fn tools(url: String) -> Result<(), BoxError> {
    let http = reqwest::Client::builder().for_writes().build()?;
    let stack = Stack::new().with_profile(Profile::idempotency_key());
    let billing = stack.requiring_context().over(http.clone()).boxed();
    let refund = Tool::write("refund", move |arguments: Value| {
        let request = http.post(&url).body(arguments.to_string()).build();
        let billing = billing.clone();
        async move { Ok::<_, BoxError>(billing.send(request?).await.into_json()?) }
    });
    let refund = refund.key("/order").key("/amount").ignore("/reason");
    let executor = Executor::new(MemoryLedger::default()).with_tool(refund);

    let arguments = json!({ "order": 7, "amount": 20, "reason": "arrived broken" });
    let told = executor
        .run(ToolCall::new("acme/chat-3", "refund", arguments))
        .await;
    println!("the model is told {}", told.to_json());
    let done = [Action::new("refund", told.outcome()).with_resource("7")];
    let verdict = ReplyChecker::new().check("I refunded order 7.", &done);
    println!("its reply is true: {}", verdict.is_clean());
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let billing = tower_outcome_testkit::Billing::start().await?;
    tools(format!("{}/refunds", billing.url())).await
}
