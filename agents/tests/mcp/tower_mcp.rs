//! The same over tower-mcp: its server, and a host of another make.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tower_mcp::schemars::{self, JsonSchema};
use tower_mcp::{CallToolResult, McpRouter, StdioTransport, ToolBuilder};
use tower_outcome::{ForWrites as _, Stack};
use tower_outcome_core::MemoryLedger;
use tower_outcome_mcp::ServedTool;
use tower_outcome_mcp::envelope::schema;
use tower_outcome_mcp::tower_mcp::ExecutorTools;
use tower_outcome_testkit::{Billing, Step};
use tower_outcome_tools::{Executor, Progress, Tool};

use crate::support::{Client, order};

#[derive(Deserialize, JsonSchema)]
struct Refund {
    order: u32,
    amount: u32,
    reason: Option<String>,
}

/// A server whose refund is a typed handler of tower-mcp under our layer, and whose other tools are
/// ready-made.
async fn connect(billing: &Billing, executor: Executor) -> Client {
    let http = reqwest::Client::builder().for_writes().build().unwrap();
    let client = Stack::new().requiring_context().over(http.clone()).boxed();
    let url = format!("{}/refunds", billing.url());
    let tools = ExecutorTools::new(executor, |_| "acme".into());

    let refund = ToolBuilder::new("refund")
        .description("Refunds an order.")
        .output_schema(schema())
        .handler(move |refund: Refund| {
            let body = json!({ "order": refund.order, "amount": refund.amount });
            let request = http.post(&url).body(body.to_string()).build();
            let client = client.clone();
            async move {
                Progress::of(0.0, 1.0).with_message("sending").report();
                let request = request.map_err(|error| tower_mcp::Error::tool(error.to_string()))?;
                let answer = client.send(request).await.into_json();
                let answer = answer.map_err(|error| tower_mcp::Error::tool(error.to_string()))?;
                drop(refund.reason);
                Ok(CallToolResult::json(answer))
            }
        })
        .layer(tools.layer(|handler| {
            Tool::write("refund", handler)
                .ignore("/reason")
                .with_single_write()
        }))
        .build();
    let [_, book] = tower_outcome_agents::tools(&billing.url()).unwrap();
    let router = McpRouter::new()
        .tool(refund)
        .tool(tools.tool(book))
        .tool(tools.tool(ServedTool::outcome_status()));

    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(ours);
    tokio::spawn(async move {
        let mut transport = StdioTransport::new(router);
        transport.run_with_streams(reader, writer).await
    });
    Client::over(theirs).await
}

#[tokio::test]
async fn a_call_cancelled_mid_write_and_made_again_is_done_once() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let client = connect(&billing, Executor::new(MemoryLedger::default())).await;

    let lost = client.start("refund", order(7)).await;
    billing.wait_commits(1).await;
    lost.cancel(None).await.unwrap();
    client.round_trip().await;
    let again = client.start("refund", order(7)).await;
    billing.release();
    let again = client.end("refund", again).await;
    assert_eq!(again.word(), "already_done/already_done");
    assert_eq!(again.envelope.data()["order"], 7);
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_lost_answer_is_unknown_until_somebody_proves_it() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenClose]);
    let client = connect(&billing, Executor::new(MemoryLedger::default())).await;

    let lost = client.call("refund", order(7)).await;
    assert_eq!(
        (lost.word().as_str(), lost.is_error),
        ("unknown/response_lost", true)
    );
    let again = client.call("refund", order(7)).await;
    assert_eq!(again.word(), "unknown/still_confirming");
    let asked = json!({ "key": lost.envelope.key().unwrap() });
    let told = client.call("outcome_status", asked).await;
    assert_eq!(told.word(), "unknown/still_confirming");
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_handler_that_refuses_its_input_has_sent_nothing() {
    let billing = Billing::start_without_keys().await.unwrap();
    let client = connect(&billing, Executor::new(MemoryLedger::default())).await;
    let refused = client.call("refund", json!({ "order": "seven" })).await;
    assert_eq!(
        (refused.word().as_str(), refused.is_error),
        ("failed/handler_error", true)
    );
    assert!(billing.received().is_empty());
}

#[tokio::test]
async fn a_call_cancelled_while_it_waits_never_leaves() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let executor = Executor::new(MemoryLedger::default()).with_concurrency(1);
    let client = connect(&billing, executor.clone()).await;

    let running = client.start("refund", order(7)).await;
    billing.wait_commits(1).await;
    let night = json!({ "room": 1, "night": "2026-12-24" });
    let waiting = client.start("book", night).await;
    client.round_trip().await;
    waiting.cancel(None).await.unwrap();
    client.round_trip().await;
    billing.release();
    assert_eq!(client.end("refund", running).await.word(), "ok/done");
    assert_eq!(executor.drain(Duration::from_secs(30)).await, 0);
    assert_eq!(billing.received().len(), 1);
}

#[tokio::test]
async fn the_ready_made_tools_come_with_schemas_and_hints() {
    let billing = Billing::start_without_keys().await.unwrap();
    let client = connect(&billing, Executor::new(MemoryLedger::default())).await;
    let book = client.tool("book");
    assert_eq!(book.input_schema["required"], json!(["room", "night"]));
    let hints = book.annotations.as_ref().unwrap();
    assert!(!hints.is_destructive() && hints.is_idempotent());
    let status = client.tool("outcome_status").annotations.as_ref().unwrap();
    assert_eq!(status.read_only_hint, Some(true));
}
