//! The tool side in a few lines: a tool that refunds, and a reply that is held to what it did.
//!
//! ```sh
//! cargo run --example tool_calls
//! ```

use serde_json::json;
use tower_outcome::{BoxError, Envelope, ForWrites as _, MemoryLedger, Profile, Stack};
use tower_outcome_tools::{Executor, Lane, Tool, ToolCall};

async fn refund(url: String) -> Result<Envelope, BoxError> {
    let http = reqwest::Client::builder().for_writes().build()?;
    let stack = Stack::new().with_profile(Profile::idempotency_key());
    let refund = Tool::write_request("refund", stack.over(http.clone()), move |order| {
        http.post(&url).body(order.to_string()).build()
    });
    let refund = refund.key("/order").key("/amount").ignore("/reason");
    let refund = refund.with_lanes(|_, order| [Lane::new(format!("order/{}", order["order"]))]);
    let executor = Executor::new(MemoryLedger::default()).with_tool(refund);
    let order = json!({ "order": 7, "amount": 20, "reason": "arrived broken" });
    Ok(executor.run(ToolCall::new("acme", "refund", order)).await)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let billing = tower_outcome_testkit::Billing::start().await?;
    let told = refund(format!("{}/refunds", billing.url())).await?;
    println!("the model is told {}", told.to_json());
    let done = [tower_outcome_tools::Action::new("refund", told.outcome()).with_resource("7")];
    let verdict = tower_outcome_tools::ReplyChecker::new().check("I refunded order 7.", &done);
    println!("its reply is true: {}", verdict.is_clean());
    Ok(())
}
