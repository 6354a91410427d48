//! Caps, turns between scopes, and a queue with an end.

use std::time::Duration;

use tower_outcome::{Code, MemoryLedger, Outcome};
use tower_outcome_tools::{Executor, Lane, Lanes};

use crate::support::{Stage, is, numbered, start};

fn executor(stage: &Stage) -> Executor {
    Executor::new(MemoryLedger::default()).with_tool(stage.tool("print"))
}

#[tokio::test(start_paused = true)]
async fn a_cap_holds_for_all_tools_together() {
    let stage = Stage::new();
    let executor = executor(&stage)
        .with_tool(stage.tool("fax"))
        .with_concurrency(2);
    let calls = [("print", 1), ("fax", 2), ("print", 3), ("fax", 4)];
    let calls = calls.map(|(tool, n)| start(&executor, numbered("acme", tool, n)));
    let (one, other) = (stage.next().await, stage.next().await);
    assert_eq!((one, other), (1, 2));
    for next in [3, 4] {
        assert!(stage.is_quiet().await);
        stage.let_go(1);
        assert_eq!(stage.next().await, next);
    }
    stage.let_go(2);
    for call in calls {
        is(&call.await.unwrap(), Outcome::Ok, Code::Done);
    }
}

#[tokio::test(start_paused = true)]
async fn a_tools_own_cap_holds_for_that_tool() {
    let stage = Stage::new();
    let executor = executor(&stage)
        .with_tool(stage.tool("fax").with_concurrency(1))
        .with_concurrency(3);
    let calls = [("fax", 1), ("fax", 2), ("fax", 3), ("print", 4)];
    let calls = calls.map(|(tool, n)| start(&executor, numbered("acme", tool, n)));
    assert_eq!(stage.next().await, 1);
    // Those that wait for their tool keep no other from running.
    assert_eq!(stage.next().await, 4);
    assert!(stage.is_quiet().await);
    stage.let_go(4);
    for call in calls {
        is(&call.await.unwrap(), Outcome::Ok, Code::Done);
    }
}

#[tokio::test(start_paused = true)]
async fn a_permit_comes_back_after_a_panic_and_a_deadline() {
    let stage = Stage::new();
    let broken = tower_outcome_tools::Tool::write("broken", |_| async { panic!("a bug") });
    let slow = tower_outcome_tools::Tool::write("slow", |_| std::future::pending());
    let executor = executor(&stage)
        .with_tool(broken)
        .with_tool(slow.with_deadline(Duration::from_secs(1)))
        .with_concurrency(1);
    for (tool, code) in [
        ("broken", Code::HandlerError),
        ("slow", Code::TimeoutBeforeSend),
    ] {
        let envelope = executor.run(numbered("acme", tool, 1)).await;
        is(&envelope, Outcome::Failed, code);
    }
    stage.let_go(1);
    let envelope = executor.run(numbered("acme", "print", 1)).await;
    is(&envelope, Outcome::Ok, Code::Done);
}

#[tokio::test(start_paused = true)]
async fn a_scope_with_many_calls_delays_another_by_one() {
    let stage = Stage::new();
    let executor = executor(&stage)
        .with_concurrency(1)
        .with_queue(1001, 1000)
        .with_deadline(Duration::from_hours(1));
    let mut calls: Vec<_> = (0..1000)
        .map(|n| start(&executor, numbered("acme", "print", n)))
        .collect();
    assert_eq!(stage.next().await, 0);
    assert!(stage.is_quiet().await);
    calls.push(start(&executor, numbered("zenith", "print", 100)));
    assert!(stage.is_quiet().await);
    let mut order = Vec::new();
    for _ in 0..1000 {
        stage.let_go(1);
        order.push(stage.next().await);
    }
    stage.let_go(1);
    assert!(order[..2].contains(&100), "{order:?}");
    order.retain(|n| *n != 100);
    assert!(order.is_sorted(), "within a scope in order: {order:?}");
    for call in calls {
        is(&call.await.unwrap(), Outcome::Ok, Code::Done);
    }
}

#[tokio::test(start_paused = true)]
async fn those_that_leave_the_line_for_a_permit_leave_nothing() {
    let stage = Stage::new();
    let executor = executor(&stage).with_concurrency(1).with_queue(2, 2);
    let first = start(&executor, numbered("acme", "print", 0));
    assert_eq!(stage.next().await, 0);
    for n in 1..20 {
        let leaver = start(&executor, numbered("acme", "print", n));
        assert!(stage.is_quiet().await);
        leaver.abort();
        assert!(stage.is_quiet().await);
    }
    let last = start(&executor, numbered("acme", "print", 20));
    assert!(stage.is_quiet().await);
    stage.let_go(2);
    assert_eq!(stage.next().await, 20);
    is(&first.await.unwrap(), Outcome::Ok, Code::Done);
    is(&last.await.unwrap(), Outcome::Ok, Code::Done);
}

#[tokio::test(start_paused = true)]
async fn what_finds_no_place_in_the_queue_is_overloaded() {
    let stage = Stage::new();
    let executor = executor(&stage).with_concurrency(1).with_queue(3, 2);
    let mut calls: Vec<_> = (0..3)
        .map(|n| start(&executor, numbered("acme", "print", n)))
        .collect();
    assert_eq!(stage.next().await, 0);
    assert!(stage.is_quiet().await);
    // The scope's share is full; another scope's is not, until all is.
    let refused = executor.run(numbered("acme", "print", 3)).await;
    is(&refused, Outcome::Failed, Code::Overloaded);
    calls.push(start(&executor, numbered("zenith", "print", 4)));
    assert!(stage.is_quiet().await);
    let refused = executor.run(numbered("apex", "print", 5)).await;
    is(&refused, Outcome::Failed, Code::Overloaded);
    // Nothing was claimed for it, and it can be made once there is room.
    stage.let_go(4);
    for call in calls {
        is(&call.await.unwrap(), Outcome::Ok, Code::Done);
    }
    stage.let_go(1);
    let again = executor.run(numbered("acme", "print", 3)).await;
    is(&again, Outcome::Ok, Code::Done);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_lane_and_for_an_identical_call_takes_a_place_too() {
    let stage = Stage::new();
    let lanes = Lanes::new();
    let tool = stage
        .tool("edit")
        .with_lanes(|_, _| [Lane::new("account/7")]);
    let executor = executor(&stage)
        .with_tool(tool)
        .with_lanes(lanes.clone())
        .with_queue(1, 1);
    let held = lanes.lock([Lane::new("account/7")]).await;
    let waiting = start(&executor, numbered("acme", "edit", 1));
    assert!(stage.is_quiet().await);
    for call in [numbered("acme", "edit", 2), numbered("acme", "edit", 1)] {
        is(&executor.run(call).await, Outcome::Failed, Code::Overloaded);
    }
    // Nobody waits in order to run at once.
    stage.let_go(2);
    let beside = executor.run(numbered("acme", "print", 1)).await;
    is(&beside, Outcome::Ok, Code::Done);
    drop(held);
    is(&waiting.await.unwrap(), Outcome::Ok, Code::Done);
}
