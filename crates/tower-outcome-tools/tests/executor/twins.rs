//! Identical calls at the same time.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use tower_outcome::{Code, Outcome};
use tower_outcome_core::ledger::State;
use tower_outcome_testkit::{Step, What};
use tower_outcome_tools::{Executor, Tool, ToolCall};

use crate::support::{Bench, SHORT, call, failing, is, order, rejected};

async fn two(bench: &Bench) -> (tower_outcome::Envelope, tower_outcome::Envelope) {
    let executor = bench.executor().with_tool(bench.refund());
    tokio::join!(executor.run(call("refund")), executor.run(call("refund")))
}

#[tokio::test]
async fn a_follower_of_a_success_gets_the_same_data_as_already_done() {
    let bench = Bench::start().await;
    let (leader, follower) = two(&bench).await;
    is(&leader, Outcome::Ok, Code::Done);
    is(&follower, Outcome::AlreadyDone, Code::AlreadyDone);
    assert_eq!(leader.data(), follower.data());
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn a_follower_of_a_doubt_is_told_that_it_is_being_confirmed() {
    let bench = Bench::scripted([failing()]).await;
    let (leader, follower) = two(&bench).await;
    is(&leader, Outcome::Unknown, Code::ServerError);
    is(&follower, Outcome::Unknown, Code::StillConfirming);
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn a_follower_of_a_failure_fails_with_it() {
    let bench = Bench::scripted([rejected()]).await;
    let (leader, follower) = two(&bench).await;
    is(&leader, Outcome::Failed, Code::Rejected);
    is(&follower, Outcome::Failed, Code::Rejected);
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn a_follower_that_has_waited_long_enough_is_skipped() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let executor = bench
        .executor()
        .with_tool(bench.refund())
        .with_patience(SHORT);
    let leader = tokio::spawn({
        let executor = executor.clone();
        async move { executor.run(call("refund")).await }
    });
    bench
        .billing
        .wait_for(|event| event.what == What::Holding)
        .await;
    is(
        &executor.run(call("refund")).await,
        Outcome::Skipped,
        Code::AlreadyInProgress,
    );
    // The same from another process, through the ledger.
    let other = bench
        .executor()
        .with_tool(bench.refund())
        .with_patience(SHORT);
    is(
        &other.run(call("refund")).await,
        Outcome::Skipped,
        Code::AlreadyInProgress,
    );
    bench.billing.release();
    is(&leader.await.unwrap(), Outcome::Ok, Code::Done);
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test]
async fn a_call_waits_for_an_identical_one_of_another_process() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let [one, other] = [(); 2].map(|()| bench.executor().with_tool(bench.refund()));
    let first = tokio::spawn(async move { one.run(call("refund")).await });
    bench
        .billing
        .wait_for(|event| event.what == What::Holding)
        .await;
    let second = tokio::spawn(async move { other.run(call("refund")).await });
    tokio::task::yield_now().await;
    bench.billing.release();
    is(&first.await.unwrap(), Outcome::Ok, Code::Done);
    let second = second.await.unwrap();
    is(&second, Outcome::AlreadyDone, Code::AlreadyDone);
    assert_eq!(second.data()["id"], "re_1");
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test]
async fn a_leader_that_is_cancelled_unsent_hands_over() {
    let bench = Bench::start().await;
    let started = Arc::new(Notify::new());
    let start = Arc::clone(&started);
    let tool = bench.tool("refund", move |writer, arguments| {
        let start = Arc::clone(&start);
        async move {
            start.notify_one();
            if arguments["order"] == "held" {
                std::future::pending::<()>().await;
            }
            Ok(writer.write("/refunds", &arguments).await?)
        }
    });
    let executor = bench.executor().with_tool(tool).with_concurrency(1);
    // Somebody else has the only permit, so that leader and follower both wait.
    let held = ToolCall::new("acme", "refund", json!({ "order": "held" }));
    let blocker = tokio::spawn({
        let executor = executor.clone();
        async move { executor.run(held).await }
    });
    started.notified().await;
    let spawn = || {
        let executor = executor.clone();
        tokio::spawn(async move { executor.run(call("refund")).await })
    };
    let leader = spawn();
    tokio::task::yield_now().await;
    let follower = spawn();
    tokio::task::yield_now().await;
    leader.abort();
    blocker.abort();
    is(&follower.await.unwrap(), Outcome::Ok, Code::Done);
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test]
async fn a_call_that_differs_where_it_must_not_is_no_twin() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let tool = || bench.refund().key("/order").matches("/amount");
    let executor = bench.executor().with_tool(tool());
    let leader = tokio::spawn({
        let executor = executor.clone();
        async move { executor.run(call("refund")).await }
    });
    bench
        .billing
        .wait_for(|event| event.what == What::Holding)
        .await;
    let mut arguments = order();
    arguments["amount"] = json!(1);
    let other = ToolCall::new("acme", "refund", arguments);
    is(
        &executor.run(other.clone()).await,
        Outcome::Unknown,
        Code::StillConfirming,
    );
    bench.billing.release();
    is(&leader.await.unwrap(), Outcome::Ok, Code::Done);
    let differs = executor.run(other).await;
    is(&differs, Outcome::Failed, Code::KeyConflict);
    assert!(differs.message().contains("/amount"), "{differs:?}");
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn a_call_without_a_permit_holds_no_claim_and_ends_at_its_deadline() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let executor = capped(&bench);
    let other = ToolCall::new("acme", "refund", json!({ "order": "B" }));
    let first = tokio::spawn({
        let executor = executor.clone();
        async move { executor.run(other).await }
    });
    bench
        .billing
        .wait_for(|event| event.what == What::Holding)
        .await;
    // The caller leaves; its write runs on and keeps the permit.
    first.abort();
    let queued = executor
        .clone()
        .with_deadline(SHORT)
        .run(call("refund"))
        .await;
    is(&queued, Outcome::Failed, Code::TimeoutBeforeSend);
    let status = executor.status(&call("refund")).await;
    is(&status, Outcome::Failed, Code::NotSent);
    bench.billing.release();
    is(&executor.run(call("refund")).await, Outcome::Ok, Code::Done);
    assert_eq!(bench.state("refund").await, State::Done);
}

fn capped(bench: &Bench) -> Executor {
    let executor = bench.executor().with_tool(bench.refund());
    executor
        .with_concurrency(1)
        .with_patience(Duration::from_secs(20))
}

#[tokio::test]
async fn a_handler_whose_part_was_skipped_is_in_doubt() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let executor = bench
        .executor()
        .with_tool(bench.refund())
        .with_patience(SHORT);
    let first = executor.clone();
    let first = tokio::spawn(async move { first.run(call("refund")).await });
    bench
        .billing
        .wait_for(|event| event.what == What::Holding)
        .await;
    let inner = executor.clone();
    let outer = Tool::write("resolve", move |_| {
        let inner = inner.clone();
        async move { Ok(json!(inner.run(call("refund")).await)) }
    });
    let envelope = executor.with_tool(outer).run(call("resolve")).await;
    is(&envelope, Outcome::Unknown, Code::StillConfirming);
    bench.billing.release();
    is(&first.await.unwrap(), Outcome::Ok, Code::Done);
}
