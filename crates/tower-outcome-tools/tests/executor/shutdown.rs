//! The end of a process, and what the next one finds.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use tower_outcome::{Code, MemoryLedger, Outcome};
use tower_outcome_core::ledger::State;
use tower_outcome_testkit::{Step, What};
use tower_outcome_tools::{Executor, Tool};
use tower_service::Service as _;

use crate::support::{Bench, SHORT, Stage, call, is, numbered, start};

const LONG: Duration = Duration::from_secs(20);

#[tokio::test(start_paused = true)]
async fn what_has_not_left_never_will_and_new_calls_are_refused() {
    let stage = Stage::new();
    let idle = Tool::write("idle", |_| std::future::pending());
    let executor = Executor::new(MemoryLedger::default())
        .with_tool(stage.tool("print"))
        .with_tool(idle)
        .with_tool(Tool::read("look", |_| async { Ok(json!(7)) }))
        .with_concurrency(1);
    let running = start(&executor, call("idle"));
    let waiting = start(&executor, numbered("acme", "print", 1));
    assert!(stage.is_quiet().await);
    assert_eq!(executor.drain(LONG).await, 0);
    for call in [running, waiting] {
        is(&call.await.unwrap(), Outcome::Failed, Code::ShuttingDown);
    }
    for tool in ["print", "look"] {
        let refused = executor.run(call(tool)).await;
        is(&refused, Outcome::Failed, Code::ShuttingDown);
    }
    assert!(stage.is_quiet().await);
}

#[tokio::test]
async fn what_may_have_left_is_waited_for() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let executor = bench.executor().with_tool(bench.refund());
    let running = start(&executor, call("refund"));
    let holding = |event: &tower_outcome_testkit::Event| event.what == What::Holding;
    bench.billing.wait_for(holding).await;
    let drain = tokio::spawn({
        let executor = executor.clone();
        async move { executor.drain(LONG).await }
    });
    while executor.run(call("refund")).await.code() != Code::ShuttingDown {}
    bench.billing.release();
    assert_eq!(drain.await.unwrap(), 0);
    is(&running.await.unwrap(), Outcome::Ok, Code::Done);
    assert_eq!(bench.state("refund").await, State::Done);
}

#[tokio::test]
async fn what_is_still_open_then_is_taken_down_as_unknown_and_counted() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let executor = bench.executor().with_tool(bench.refund());
    let running = start(&executor, call("refund"));
    let holding = |event: &tower_outcome_testkit::Event| event.what == What::Holding;
    bench.billing.wait_for(holding).await;
    assert_eq!(executor.drain(SHORT).await, 1);
    assert_eq!(bench.state("refund").await, State::Unknown);
    is(
        &running.await.unwrap(),
        Outcome::Unknown,
        Code::ResponseLost,
    );
    // The process lives on for a while, and the answer comes.
    bench.billing.release();
    bench.until("refund", State::Done).await;
    assert_eq!(executor.drain(LONG).await, 0);
}

#[tokio::test]
async fn a_handler_makes_no_further_write_once_the_process_ends() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let tool = bench.tool("pair", |writer, arguments| async move {
        writer.write("/a", &arguments).await?;
        Ok(writer.write("/b", &arguments).await?)
    });
    let executor = bench.executor().with_tool(tool);
    let running = start(&executor, call("pair"));
    let holding = |event: &tower_outcome_testkit::Event| event.what == What::Holding;
    bench.billing.wait_for(holding).await;
    let drain = tokio::spawn({
        let executor = executor.clone();
        async move { executor.drain(LONG).await }
    });
    while executor.run(call("pair")).await.code() != Code::ShuttingDown {}
    bench.billing.release();
    assert_eq!(drain.await.unwrap(), 0);
    is(&running.await.unwrap(), Outcome::Unknown, Code::Partial);
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_may_have_left_is_given_all_the_time_that_there_is() {
    let stage = Stage::new();
    let executor = Executor::new(MemoryLedger::default()).with_tool(stage.tool("print"));
    let running = start(&executor, numbered("acme", "print", 1));
    assert_eq!(stage.next().await, 1);
    let drain = tokio::spawn({
        let executor = executor.clone();
        async move { executor.drain(LONG).await }
    });
    tokio::time::sleep(LONG / 2).await;
    stage.let_go(1);
    is(&running.await.unwrap(), Outcome::Ok, Code::Done);
    assert_eq!(drain.await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_made_before_and_starts_after_is_refused() {
    let stage = Stage::new();
    let mut executor = Executor::new(MemoryLedger::default()).with_tool(stage.tool("print"));
    let Ok(()) = std::future::poll_fn(|cx| executor.poll_ready(cx)).await;
    let made = executor.call(numbered("acme", "print", 1));
    assert_eq!(executor.drain(LONG).await, 0);
    let Ok(envelope) = made.await;
    is(&envelope, Outcome::Failed, Code::ShuttingDown);
    stage.let_go(1);
    assert!(stage.is_quiet().await);
}

#[tokio::test(start_paused = true)]
async fn an_opaque_handler_that_goes_on_is_counted_until_it_ends() {
    let stage = Stage::new();
    let executor = Executor::new(MemoryLedger::default()).with_tool(stage.tool("print"));
    let running = start(&executor, numbered("acme", "print", 1));
    assert_eq!(stage.next().await, 1);
    assert_eq!(executor.drain(Duration::from_secs(1)).await, 1);
    is(
        &running.await.unwrap(),
        Outcome::Unknown,
        Code::ResponseLost,
    );
    stage.let_go(1);
    assert_eq!(executor.drain(LONG).await, 0);
    let told = executor.status(&numbered("acme", "print", 1)).await;
    is(&told, Outcome::AlreadyDone, Code::AlreadyDone);
}

#[tokio::test]
async fn a_call_that_waited_for_an_identical_one_is_told_as_well() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let executor = bench
        .executor()
        .with_tool(bench.refund())
        .with_patience(LONG);
    let leader = start(&executor, call("refund"));
    let holding = |event: &tower_outcome_testkit::Event| event.what == What::Holding;
    bench.billing.wait_for(holding).await;
    let follower = start(&executor, call("refund"));
    tokio::task::yield_now().await;
    assert_eq!(executor.drain(SHORT).await, 1);
    is(&leader.await.unwrap(), Outcome::Unknown, Code::ResponseLost);
    is(
        &follower.await.unwrap(),
        Outcome::Failed,
        Code::ShuttingDown,
    );
    bench.billing.release();
}

#[test]
fn a_runtime_that_goes_down_in_the_middle_leaves_a_true_row() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(1).enable_all().build().unwrap()
    };
    let server = runtime();
    let bench = server.block_on(Bench::scripted([Step::CommitThenHold]));
    let dying = runtime();
    let sent = Arc::new(Notify::new());
    let executor = bench.executor().with_tool(bench.refund());
    let (refund, waiting) = (executor.clone(), Arc::clone(&sent));
    dying.spawn(async move { refund.run(call("refund")).await });
    let idle = bench.executor().with_tool(Tool::write("idle", move |_| {
        waiting.notify_one();
        std::future::pending()
    }));
    dying.spawn(async move { idle.run(call("idle")).await });
    server.block_on(async {
        sent.notified().await;
        bench
            .billing
            .wait_for(|event| event.what == What::Holding)
            .await;
    });
    dying.shutdown_background();
    server.block_on(async {
        bench.advance(Duration::from_secs(90));
        assert_eq!(bench.state("refund").await, State::Unknown);
        assert_eq!(bench.state("idle").await, State::Free);
        // The next process takes up what its ledger says, and sends nothing by itself.
        let next = bench.executor().with_tool(bench.refund());
        let told = next.run(call("refund")).await;
        is(&told, Outcome::Unknown, Code::StillConfirming);
        assert_eq!(bench.billing.received().len(), 1);
    });
}
