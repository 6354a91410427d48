//! Arguments that break a tool's schema are refused before anything else.

use serde_json::json;
use tower_outcome::{Code, Outcome};
use tower_outcome_tools::ToolCall;

use crate::support::{Bench, is};

fn schema() -> serde_json::Value {
    json!({
        "type": "object",
        "required": ["order", "amount"],
        "properties": {
            "order": { "type": "string" },
            "amount": { "type": "integer", "minimum": 1, "maximum": 5000 },
        },
        "additionalProperties": false,
    })
}

#[tokio::test]
async fn what_breaks_the_schema_is_named_by_place_and_rule_and_never_by_value() {
    let bench = Bench::start().await;
    let tool = bench.refund().with_schema(&schema()).unwrap();
    let executor = bench.executor().with_tool(tool);
    for (arguments, place, rule) in [
        (
            json!({ "order": "A", "amount": 987_654 }),
            "/amount",
            "maximum",
        ),
        (
            json!({ "order": "A", "amount": "987654" }),
            "/amount",
            "type",
        ),
        (json!({ "order": "A" }), "arguments", "required"),
        (
            json!({ "order": "A", "amount": 1, "x987654": 1 }),
            "arguments",
            "additionalProperties",
        ),
        (json!("987654"), "arguments", "type"),
    ] {
        let call = ToolCall::new("acme", "refund", arguments);
        let envelope = executor.run(call).await;
        is(&envelope, Outcome::Failed, Code::InvalidArguments);
        let message = envelope.message();
        assert!(message.contains(place), "{message}");
        assert!(message.contains(rule), "{message}");
        assert!(!message.contains("987654"), "{message}");
    }
    assert!(bench.billing.received().is_empty());
    let call = ToolCall::new("acme", "refund", json!({ "order": "A", "amount": 20 }));
    is(&executor.run(call).await, Outcome::Ok, Code::Done);
}

#[tokio::test]
async fn all_that_is_wrong_is_counted() {
    let bench = Bench::start().await;
    let tool = bench.refund().with_schema(&schema()).unwrap();
    let call = ToolCall::new("acme", "refund", json!({ "order": 1, "amount": "x" }));
    let envelope = bench.executor().with_tool(tool).run(call).await;
    assert!(envelope.message().contains("1 more"), "{envelope:?}");
}

#[tokio::test]
async fn what_is_no_schema_or_needs_the_network_is_no_tool() {
    let bench = Bench::start().await;
    for schema in [
        json!({ "type": "no such type" }),
        json!({ "$ref": "https://example.com/refund.json" }),
    ] {
        let error = bench.refund().with_schema(&schema).unwrap_err();
        assert_eq!(error.field(), "schema");
    }
}
