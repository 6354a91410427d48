//! What a host can do to a call in one session.

use std::time::Duration;

use rmcp::ServiceError;
use rmcp::service::PeerRequestOptions;
use serde_json::json;
use tower_outcome_core::{Code, MemoryLedger};
use tower_outcome_mcp::ErrorFlag;
use tower_outcome_mcp::rmcp::OCCURRENCE;
use tower_outcome_testkit::{Billing, Reply, Step};
use tower_outcome_tools::ToolCall;

use crate::support::{connect, order, server};

#[tokio::test]
async fn a_timed_out_call_made_again_under_a_new_id_is_done_once() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let client = connect(&server(&billing, MemoryLedger::default())).await;

    let mut first = client.start("refund", order(7)).await;
    billing.wait_commits(1).await;
    first.options = PeerRequestOptions::with_timeout(Duration::from_millis(1));
    let timed_out = first.await_response().await.unwrap_err();
    assert!(
        matches!(timed_out, ServiceError::Timeout { .. }),
        "{timed_out}"
    );
    client.round_trip().await;

    let again = client.start("refund", order(7)).await;
    billing.release();
    let again = client.end("refund", again).await;
    assert_eq!(again.word(), "already_done/already_done");
    assert_eq!(again.envelope.data()["order"], 7);
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_call_cancelled_while_it_waits_never_leaves() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let executor = tower_outcome_agents::executor(MemoryLedger::default()).with_concurrency(1);
    let mut server = tower_outcome_mcp::rmcp::ExecutorServer::new(executor, |_| Ok("acme".into()));
    for tool in tower_outcome_agents::tools(&billing.url()).unwrap() {
        server = server.with_tool(tool);
    }
    let client = connect(&server).await;

    let running = client.start("refund", order(7)).await;
    billing.wait_commits(1).await;
    let waiting = client
        .start("book", json!({ "room": 1, "night": "2026-12-24" }))
        .await;
    client.round_trip().await;
    waiting
        .cancel(Some("changed my mind".to_owned()))
        .await
        .unwrap();
    client.round_trip().await;
    billing.release();
    assert_eq!(client.end("refund", running).await.word(), "ok/done");
    assert_eq!(server.executor().drain(Duration::from_secs(30)).await, 0);
    assert_eq!(billing.received().len(), 1);
}

#[tokio::test]
async fn the_request_that_may_have_left_goes_on_after_a_cancel() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let server = server(&billing, MemoryLedger::default());
    let client = connect(&server).await;

    let call = client.start("refund", order(7)).await;
    billing.wait_commits(1).await;
    call.cancel(None).await.unwrap();
    client.round_trip().await;
    billing.release();
    assert_eq!(server.executor().drain(Duration::from_secs(30)).await, 0);
    let wish = ToolCall::new("acme", "refund", order(7));
    assert_eq!(
        server.executor().status(&wish).await.code(),
        Code::AlreadyDone
    );
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn two_hosts_that_want_the_same_get_it_once() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let server = server(&billing, MemoryLedger::default());
    let (one, other) = (connect(&server).await, connect(&server).await);

    let first = one.start("refund", order(7)).await;
    billing.wait_commits(1).await;
    let second = other.start("refund", order(7)).await;
    other.round_trip().await;
    billing.release();
    assert_eq!(one.end("refund", first).await.word(), "ok/done");
    assert_eq!(
        other.end("refund", second).await.word(),
        "already_done/already_done"
    );
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn neither_the_request_nor_its_meta_is_part_of_the_key() {
    let billing = Billing::start_without_keys().await.unwrap();
    let client = connect(&server(&billing, MemoryLedger::default())).await;
    let mut keys = Vec::new();
    for meta in [
        json!({}),
        json!({ "traceparent": "00-1" }),
        json!({ "com.example/turn": 2 }),
    ] {
        let call = client.start_with_meta("refund", order(7), meta).await;
        let told = client.end("refund", call).await;
        keys.push(told.envelope.key().unwrap().to_owned());
    }
    keys.dedup();
    assert_eq!(keys.len(), 1);
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_host_makes_the_same_wish_once_more_on_purpose() {
    let billing = Billing::start_without_keys().await.unwrap();
    let client = connect(&server(&billing, MemoryLedger::default())).await;
    assert_eq!(client.call("refund", order(7)).await.word(), "ok/done");

    let more = client
        .start_with_meta("refund", order(7), json!({ OCCURRENCE: 1 }))
        .await;
    assert_eq!(client.end("refund", more).await.word(), "ok/done");
    assert_eq!(billing.commits(), 2);

    let nonsense = client
        .start_with_meta("refund", order(7), json!({ OCCURRENCE: -1 }))
        .await;
    let refused = nonsense.await_response().await.unwrap_err();
    assert!(matches!(refused, ServiceError::McpError(_)), "{refused}");
    assert_eq!(billing.received().len(), 2);
}

#[tokio::test]
async fn progress_goes_to_the_call_that_makes_it() {
    let billing = Billing::start_without_keys().await.unwrap();
    let client = connect(&server(&billing, MemoryLedger::default())).await;

    let call = client.start("refund", order(7)).await;
    let token = call.progress_token.clone();
    assert_eq!(client.end("refund", call).await.word(), "ok/done");
    client.call("refund", order(7)).await;
    // The host reads reports and answers in one order, and handles reports in tasks of their own.
    while client.reports().len() < 2 {
        tokio::task::yield_now().await;
    }
    let mut reports = client.reports();
    reports.sort_by(|one, other| one.progress.total_cmp(&other.progress));
    let messages: Vec<_> = reports
        .iter()
        .map(|report| report.message.as_deref())
        .collect();
    assert_eq!(messages, [Some("sending"), Some("answered")]);
    assert!(reports.iter().all(|report| report.progress_token == token));
    assert!(reports.iter().all(|report| report.total == Some(1.0)));
}

#[tokio::test]
async fn failed_and_unknown_are_told_as_errors_unless_the_host_wants_otherwise() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([
        Step::AnswerWith(Reply::new(422)),
        Step::CommitThenClose,
        Step::Answer,
    ]);
    let server = server(&billing, MemoryLedger::default());
    let quiet = ErrorFlag::new().with_failed(false).with_unknown(false);
    let (client, other) = (
        connect(&server).await,
        connect(&server.clone().with_error_flag(quiet)).await,
    );

    let refused = client.call("refund", order(1)).await;
    assert_eq!(
        (refused.word().as_str(), refused.is_error),
        ("failed/rejected", true)
    );
    let lost = client.call("refund", order(2)).await;
    assert_eq!(
        (lost.word().as_str(), lost.is_error),
        ("unknown/response_lost", true)
    );
    let again = client.call("refund", order(2)).await;
    assert_eq!(
        (again.word().as_str(), again.is_error),
        ("unknown/still_confirming", true)
    );
    let again = other.call("refund", order(2)).await;
    assert_eq!(
        (again.word().as_str(), again.is_error),
        ("unknown/still_confirming", false)
    );
    let done = client
        .call("book", json!({ "room": 1, "night": "2026-12-24" }))
        .await;
    assert_eq!((done.word().as_str(), done.is_error), ("ok/done", false));
}

#[tokio::test]
async fn bad_arguments_are_an_answer_and_an_unknown_tool_is_not() {
    let billing = Billing::start_without_keys().await.unwrap();
    let client = connect(&server(&billing, MemoryLedger::default())).await;

    let bad = client
        .call("refund", json!({ "order": "seven", "amount": 20 }))
        .await;
    assert_eq!(bad.word(), "failed/invalid_arguments");
    assert!(
        !bad.envelope.message().contains("seven"),
        "{}",
        bad.envelope.message()
    );
    let handle = client.start("repay", json!({})).await;
    let refused = handle.await_response().await.unwrap_err();
    assert!(matches!(refused, ServiceError::McpError(_)), "{refused}");
    assert!(billing.received().is_empty());
}
