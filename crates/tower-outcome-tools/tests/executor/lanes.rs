//! Lanes: what touches one thing happens one call after the other, and waiting is unsent.

use std::time::Duration;

use serde_json::{Value, json};
use tower_outcome::{Code, MemoryLedger, Outcome};
use tower_outcome_testkit::Step;
use tower_outcome_tools::{Executor, Lane, Lanes, NearMisses, Tool, ToolCall};

use crate::support::{Bench, SHORT, Stage, call, is, start};

/// All numbers that the arguments name are lanes.
fn lanes_of(_: &str, arguments: &Value) -> Vec<Lane> {
    let accounts = arguments["accounts"].as_array();
    let accounts = accounts.map(Vec::as_slice).unwrap_or_default();
    accounts
        .iter()
        .map(|account| Lane::new(format!("account/{account}")))
        .collect()
}

fn executor(tool: Tool) -> (Executor, Lanes) {
    let lanes = Lanes::new();
    let executor = Executor::new(MemoryLedger::default())
        .with_lanes(lanes.clone())
        .with_tool(tool.with_lanes(lanes_of));
    (executor, lanes)
}

fn edit(n: i64, accounts: &[i64]) -> ToolCall {
    ToolCall::new("acme", "edit", json!({ "n": n, "accounts": accounts }))
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_lane_run_one_after_the_other_and_others_beside_them() {
    let stage = Stage::new();
    let (executor, lanes) = executor(stage.tool("edit"));
    let first = start(&executor, edit(1, &[7]));
    assert_eq!(stage.next().await, 1);
    let second = start(&executor, edit(2, &[7]));
    assert!(stage.is_quiet().await);
    let third = start(&executor, edit(3, &[7]));
    let other = start(&executor, edit(4, &[8]));
    assert_eq!(stage.next().await, 4);
    assert!(stage.is_quiet().await);
    stage.let_go(2);
    assert_eq!(stage.next().await, 2);
    assert!(stage.is_quiet().await);
    stage.let_go(1);
    assert_eq!(stage.next().await, 3);
    stage.let_go(1);
    for call in [first, second, third, other] {
        is(&call.await.unwrap(), Outcome::Ok, Code::Done);
    }
    assert!(lanes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn calls_that_name_two_things_in_other_orders_both_get_there() {
    let stage = Stage::new();
    let (executor, lanes) = executor(stage.tool("edit"));
    let calls = [edit(1, &[7, 8]), edit(2, &[8, 7, 8]), edit(3, &[8])];
    stage.let_go(3);
    for envelope in executor.run_all(calls.into()).await {
        is(&envelope, Outcome::Ok, Code::Done);
    }
    assert!(lanes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_deadline_in_the_line_of_a_lane_is_failed_and_leaves_nothing() {
    let stage = Stage::new();
    let (executor, lanes) = executor(stage.tool("edit"));
    let first = start(&executor, edit(1, &[7]));
    assert_eq!(stage.next().await, 1);
    let hasty = executor.clone().with_deadline(Duration::from_secs(1));
    let waiting = hasty.run(edit(2, &[6, 7])).await;
    is(&waiting, Outcome::Failed, Code::TimeoutBeforeSend);
    // It claimed nothing, and holds nothing.
    let status = executor.status(&edit(2, &[6, 7])).await;
    is(&status, Outcome::Failed, Code::NotSent);
    assert_eq!(lanes.len(), 1);
    stage.let_go(1);
    is(&first.await.unwrap(), Outcome::Ok, Code::Done);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_the_line_of_a_lane_leaves_nothing() {
    let stage = Stage::new();
    let (executor, lanes) = executor(stage.tool("edit"));
    let first = start(&executor, edit(1, &[7]));
    assert_eq!(stage.next().await, 1);
    let second = start(&executor, edit(2, &[6, 7]));
    assert!(stage.is_quiet().await);
    is(
        &executor.status(&edit(2, &[6, 7])).await,
        Outcome::Skipped,
        Code::AlreadyInProgress,
    );
    assert_eq!(lanes.len(), 2);
    second.abort();
    let third = start(&executor, edit(3, &[7]));
    assert!(stage.is_quiet().await);
    assert_eq!(lanes.len(), 1);
    stage.let_go(2);
    is(&first.await.unwrap(), Outcome::Ok, Code::Done);
    is(&third.await.unwrap(), Outcome::Ok, Code::Done);
    is(
        &executor.status(&edit(2, &[6, 7])).await,
        Outcome::Failed,
        Code::NotSent,
    );
    assert!(lanes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_lane_that_the_host_holds_is_waited_for() {
    let stage = Stage::new();
    let (executor, lanes) = executor(stage.tool("edit"));
    let held = lanes.lock([Lane::new("account/7")]).await;
    let waiting = start(&executor, edit(1, &[7]));
    assert!(stage.is_quiet().await);
    drop(held);
    assert_eq!(stage.next().await, 1);
    stage.let_go(1);
    is(&waiting.await.unwrap(), Outcome::Ok, Code::Done);
}

#[tokio::test(start_paused = true)]
async fn a_lane_that_many_wait_for_costs_no_permits() {
    let stage = Stage::new();
    let (executor, _) = executor(stage.tool("edit"));
    let executor = executor.with_concurrency(2);
    let first = start(&executor, edit(1, &[7]));
    assert_eq!(stage.next().await, 1);
    let second = start(&executor, edit(2, &[7]));
    assert!(stage.is_quiet().await);
    let other = start(&executor, edit(3, &[8]));
    assert_eq!(stage.next().await, 3);
    stage.let_go(3);
    for call in [first, second, other] {
        is(&call.await.unwrap(), Outcome::Ok, Code::Done);
    }
}

/// A refund of which nobody knows whether it happened, on a lane of its own.
async fn in_doubt(bench: &Bench, near_misses: NearMisses) -> (Executor, Lanes) {
    let lanes = Lanes::new();
    let tool = bench.refund().with_near_misses(near_misses);
    let executor = bench
        .executor()
        .with_lanes(lanes.clone())
        .with_deadline(SHORT)
        .with_tool(tool.with_lanes(|_, _| [Lane::new("account/7")]));
    let envelope = executor.run(call("refund")).await;
    is(&envelope, Outcome::Unknown, Code::TimeoutAfterSend);
    (executor, lanes)
}

#[tokio::test]
async fn a_doubt_takes_the_place_of_its_lane() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let (_, lanes) = in_doubt(&bench, NearMisses::SameTool).await;
    assert!(lanes.is_empty());
}

#[tokio::test]
async fn a_doubt_that_holds_nothing_back_keeps_its_lane_until_it_is_resolved() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let (executor, lanes) = in_doubt(&bench, NearMisses::Lifted).await;
    assert_eq!(lanes.len(), 1);
    let other = ToolCall::new("acme", "refund", json!({ "order": "B" }));
    let waiting = executor.run(other.clone()).await;
    is(&waiting, Outcome::Failed, Code::TimeoutBeforeSend);
    bench.billing.release();
    let executor = executor.with_deadline(Duration::from_secs(20));
    is(&executor.run(other).await, Outcome::Ok, Code::Done);
    assert!(lanes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn whoever_waited_for_a_lane_that_ended_in_doubt_is_held_back() {
    let stage = Stage::new();
    let stop = stage.clone();
    let tool = Tool::opaque_write("edit", move |arguments: Value| {
        let stop = stop.clone();
        async move {
            stop.stop(arguments["n"].as_i64().unwrap()).await;
            Err("broken pipe".into())
        }
    });
    let (executor, lanes) = executor(tool);
    let first = start(&executor, edit(1, &[7]));
    assert_eq!(stage.next().await, 1);
    let waiting = start(&executor, edit(2, &[7]));
    assert!(stage.is_quiet().await);
    stage.let_go(1);
    let first = first.await.unwrap();
    is(&first, Outcome::Unknown, Code::ResponseLost);
    let held = waiting.await.unwrap();
    is(&held, Outcome::Unknown, Code::StillConfirming);
    assert_eq!(held.key(), first.key());
    assert!(stage.is_quiet().await);
    assert!(lanes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn lanes_are_shared_by_tools_and_scopes() {
    let stage = Stage::new();
    let (executor, _) = executor(stage.tool("edit"));
    let executor = executor.with_tool(stage.tool("drop").with_lanes(lanes_of));
    let first = start(&executor, edit(1, &[7]));
    assert_eq!(stage.next().await, 1);
    let other = json!({ "n": 2, "accounts": [7] });
    let second = start(&executor, ToolCall::new("zenith", "drop", other));
    assert!(stage.is_quiet().await);
    stage.let_go(2);
    is(&first.await.unwrap(), Outcome::Ok, Code::Done);
    is(&second.await.unwrap(), Outcome::Ok, Code::Done);
}

#[tokio::test]
async fn a_lane_function_that_panics_sends_nothing() {
    let bench = Bench::start().await;
    let tool = bench
        .refund()
        .with_lanes(|_, _| -> Option<Lane> { panic!("a bug") });
    is(&bench.run(tool).await, Outcome::Failed, Code::NotSent);
    assert!(bench.billing.received().is_empty());
}
