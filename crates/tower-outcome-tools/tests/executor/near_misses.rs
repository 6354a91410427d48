//! While a call is unresolved, what is much like it is held back.

use std::time::Duration;

use serde_json::{Value, json};
use tower_outcome::{Code, MemoryLedger, Outcome};
use tower_outcome_core::ledger::State;
use tower_outcome_testkit::Step;
use tower_outcome_tools::{Executor, Lane, NearMisses, Tool, ToolCall};

use crate::support::{Bench, SHORT, Stage, call, failing, is, numbered, order, start};

fn refund(order: &str, amount: i64) -> ToolCall {
    let arguments = json!({ "order": order, "amount": amount });
    ToolCall::new("acme", "refund", arguments)
}

/// A refund of A-1 over 1000 is in doubt.
async fn in_doubt(tool: impl Fn(&Bench) -> Tool) -> (Bench, Executor) {
    let bench = Bench::scripted([failing()]).await;
    let executor = bench.executor().with_tool(tool(&bench));
    let envelope = executor.run(call("refund")).await;
    is(&envelope, Outcome::Unknown, Code::ServerError);
    (bench, executor)
}

#[tokio::test]
async fn the_same_tool_with_other_arguments_is_held_and_told_of_the_call_in_doubt() {
    let (bench, executor) = in_doubt(Bench::refund).await;
    let status = executor.status(&call("refund")).await;
    for near in [refund("A-1", 900), refund("B", 5)] {
        let held = executor.run(near.clone()).await;
        is(&held, Outcome::Unknown, Code::StillConfirming);
        assert_eq!(held.key(), status.key());
        assert!(held.message().contains("much like it"), "{held:?}");
        // It has no row: nothing of it was claimed.
        is(
            &executor.status(&near).await,
            Outcome::Failed,
            Code::NotSent,
        );
    }
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn what_has_nothing_to_do_with_the_doubt_is_sent() {
    let (bench, executor) = in_doubt(Bench::refund).await;
    let other_scope = ToolCall::new("zenith", "refund", json!({ "order": "B" }));
    is(&executor.run(other_scope).await, Outcome::Ok, Code::Done);
    let charge = bench.tool("charge", |writer, arguments| async move {
        Ok(writer.write("/charges", &arguments).await?)
    });
    let executor = executor.with_tool(charge);
    let other_tool = ToolCall::new("acme", "charge", order());
    is(&executor.run(other_tool).await, Outcome::Ok, Code::Done);
}

#[tokio::test]
async fn the_host_can_lift_it_for_a_call() {
    let (_bench, executor) = in_doubt(Bench::refund).await;
    let lifted = refund("B", 5).with_near_misses(NearMisses::Lifted);
    is(&executor.run(lifted).await, Outcome::Ok, Code::Done);
    // The very same wish stays where it is.
    let same = call("refund").with_near_misses(NearMisses::Lifted);
    is(
        &executor.run(same).await,
        Outcome::Unknown,
        Code::StillConfirming,
    );
}

#[tokio::test]
async fn the_host_can_lift_it_for_a_tool() {
    let lifted = |bench: &Bench| bench.refund().with_near_misses(NearMisses::Lifted);
    let (_bench, executor) = in_doubt(lifted).await;
    is(
        &executor.run(refund("A-1", 900)).await,
        Outcome::Ok,
        Code::Done,
    );
}

#[tokio::test]
async fn alike_holds_back_what_has_a_member_in_common() {
    let alike = |bench: &Bench| bench.refund().with_near_misses(NearMisses::Alike);
    let (_bench, executor) = in_doubt(alike).await;
    for near in [refund("A-1", 900), refund("B", 1000)] {
        let held = executor.run(near).await;
        is(&held, Outcome::Unknown, Code::StillConfirming);
    }
    is(&executor.run(refund("B", 5)).await, Outcome::Ok, Code::Done);
}

#[tokio::test]
async fn a_call_of_the_same_lane_is_held_whatever_its_tool() {
    fn lane(_: &str, arguments: &Value) -> Option<Lane> {
        let order = arguments["order"].as_str()?;
        Some(Lane::new(format!("order/{order}")))
    }
    let (bench, executor) = in_doubt(|bench| bench.refund().with_lanes(lane)).await;
    let cancel = bench.tool("cancel", |writer, arguments| async move {
        Ok(writer.write("/cancel", &arguments).await?)
    });
    let executor = executor.with_tool(cancel.with_lanes(lane));
    let cancel = |order: &str| ToolCall::new("zenith", "cancel", json!({ "order": order }));
    let held = executor.run(cancel("A-1")).await;
    is(&held, Outcome::Unknown, Code::StillConfirming);
    is(&executor.run(cancel("B")).await, Outcome::Ok, Code::Done);
    assert_eq!(bench.billing.received().len(), 2);
}

#[tokio::test]
async fn identical_calls_that_are_held_are_all_told_of_the_call_in_doubt() {
    let (_bench, executor) = in_doubt(Bench::refund).await;
    let status = executor.status(&call("refund")).await;
    for held in executor.run_all(vec![refund("B", 5); 2]).await {
        is(&held, Outcome::Unknown, Code::StillConfirming);
        assert_eq!(held.key(), status.key());
    }
}

#[tokio::test]
async fn what_is_held_waits_for_nothing() {
    let (_bench, executor) = in_doubt(Bench::refund).await;
    let stage = Stage::new();
    let executor = executor.with_tool(stage.tool("print")).with_concurrency(1);
    let running = start(&executor, call("print"));
    stage.next().await;
    let hasty = executor.clone().with_deadline(SHORT);
    is(
        &hasty.run(refund("B", 5)).await,
        Outcome::Unknown,
        Code::StillConfirming,
    );
    stage.let_go(1);
    is(&running.await.unwrap(), Outcome::Ok, Code::Done);
}

#[tokio::test]
async fn once_the_doubt_is_resolved_nothing_is_held() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let executor = bench.executor().with_tool(bench.refund());
    let lost = executor
        .clone()
        .with_deadline(SHORT)
        .run(call("refund"))
        .await;
    is(&lost, Outcome::Unknown, Code::TimeoutAfterSend);
    let held = executor.run(refund("B", 5)).await;
    is(&held, Outcome::Unknown, Code::StillConfirming);
    bench.billing.release();
    bench.until("refund", State::Done).await;
    is(&executor.run(refund("B", 5)).await, Outcome::Ok, Code::Done);
}

#[tokio::test]
async fn a_doubt_that_another_process_resolved_holds_nothing() {
    let (bench, executor) = in_doubt(Bench::refund).await;
    let found = tower_outcome_core::ledger::Event::Find { result: None };
    let key = bench.entry("refund").await.key;
    let ledger: &dyn tower_outcome_core::Ledger = &*bench.ledger;
    ledger.apply(&key, found).await.unwrap();
    is(&executor.run(refund("B", 5)).await, Outcome::Ok, Code::Done);
}

#[tokio::test]
async fn a_doubt_holds_across_a_restart() {
    let (bench, _) = in_doubt(Bench::refund).await;
    let restarted = bench.executor().with_tool(bench.refund());
    let held = restarted.run(refund("B", 5)).await;
    is(&held, Outcome::Unknown, Code::StillConfirming);
    let other_scope = ToolCall::new("zenith", "refund", json!({ "order": "B" }));
    is(&restarted.run(other_scope).await, Outcome::Ok, Code::Done);
    assert_eq!(bench.billing.received().len(), 2);
}

#[tokio::test]
async fn an_executor_asks_nothing_of_its_ledger_before_the_first_call() {
    let (bench, _) = in_doubt(Bench::refund).await;
    let before = bench.entry("refund").await;
    let restarted = bench.executor().with_tool(bench.refund());
    tokio::task::yield_now().await;
    assert!(bench.entry("refund").await == before);
    assert_eq!(bench.billing.received().len(), 1);
    drop(restarted);
}

#[tokio::test(start_paused = true)]
async fn doubts_that_are_listed_anew_keep_what_is_open_and_forget_what_is_not() {
    let stage = Stage::new();
    let lane = |_: &str, _: &Value| [Lane::new("printer/1")];
    let executor = Executor::new(MemoryLedger::default())
        .with_tool(stage.tool("print").with_lanes(lane))
        .with_tool(stage.tool("clean").with_lanes(lane));
    let hasty = executor.clone().with_deadline(SHORT);
    let lost = hasty.run(numbered("acme", "print", 1)).await;
    is(&lost, Outcome::Unknown, Code::TimeoutAfterSend);
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_mins(1)).await;
        for tool in ["print", "clean"] {
            let held = executor.run(numbered("acme", tool, 2)).await;
            is(&held, Outcome::Unknown, Code::StillConfirming);
            assert_eq!(held.key(), lost.key());
        }
    }
    stage.let_go(3);
    tokio::time::sleep(Duration::from_mins(1)).await;
    for tool in ["print", "clean"] {
        let sent = executor.run(numbered("acme", tool, 2)).await;
        is(&sent, Outcome::Ok, Code::Done);
    }
}
