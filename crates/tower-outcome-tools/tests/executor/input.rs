//! Bad input ends before anything is sent, and names what is wrong.

use serde_json::{Value, json};
use tower_outcome::{Code, Outcome};
use tower_outcome_testkit::Step;
use tower_outcome_tools::ToolCall;

use crate::support::{Bench, is, order};

async fn refused(call: ToolCall, named: &str) {
    let bench = Bench::scripted([Step::Answer]).await;
    let envelope = bench.executor().with_tool(bench.refund()).run(call).await;
    is(&envelope, Outcome::Failed, Code::InvalidArguments);
    assert!(envelope.message().contains(named), "{envelope:?}");
    assert!(bench.billing.received().is_empty());
}

#[tokio::test]
async fn input_that_makes_no_key_is_refused_by_name() {
    refused(ToolCall::new("acme", "no_such_tool", order()), "tool").await;
    refused(ToolCall::new("", "refund", order()), "scope").await;
    refused(ToolCall::new("acme", "refund", json!([1])), "object").await;
    let merged = json!({ "order": 9_007_199_254_740_993_u64 });
    refused(ToolCall::new("acme", "refund", merged), "/order").await;
}

#[tokio::test]
async fn text_shows_what_a_value_has_lost() {
    let twice = r#"{"order":1,"order":2}"#;
    let call = ToolCall::from_json_str("acme", "refund", twice).unwrap();
    refused(call, "order").await;
    let error = ToolCall::from_json_str("acme", "refund", "{").unwrap_err();
    assert_eq!(error.code(), Code::InvalidArguments);
}

#[tokio::test]
async fn rules_of_another_tool_are_refused() {
    let bench = Bench::start().await;
    let rules = tower_outcome_core::IntentRules::new("charge");
    let envelope = bench.run(bench.refund().with_rules(rules)).await;
    is(&envelope, Outcome::Failed, Code::InvalidArguments);
}

#[test]
fn debug_shows_no_arguments() {
    let call = ToolCall::new("acme", "refund", Value::from("secret"));
    assert!(!format!("{call:?}").contains("secret"));
}
