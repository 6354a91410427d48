//! Calls inside calls: they inherit what the outer one holds, and nobody waits for itself.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use tower_outcome::{Code, MemoryLedger, Outcome};
use tower_outcome_core::IntentRules;
use tower_outcome_core::ledger::State;
use tower_outcome_testkit::{Step, What};
use tower_outcome_tools::{Executor, Lane, Lanes, NothingSent, Tool};

use crate::claiming::Claiming;
use crate::support::{Bench, SHORT, Stage, call, failing, is, rejected};

/// A tool that does all it does by making a call.
fn calling(name: &str, inner: Executor, tool: &'static str) -> Tool {
    Tool::write(name, move |_| {
        let inner = inner.clone();
        async move { Ok(json!(inner.run(call(tool)).await)) }
    })
}

fn account(_: &str, _: &Value) -> [Lane; 1] {
    [Lane::new("account/7")]
}

#[tokio::test]
async fn an_inner_call_has_the_lanes_and_the_permit_of_the_outer_one() {
    let bench = Bench::start().await;
    let lanes = Lanes::new();
    let executor = bench
        .executor()
        .with_lanes(lanes.clone())
        .with_concurrency(1)
        .with_tool(bench.refund().with_lanes(account));
    let outer = calling("resolve", executor.clone(), "refund").with_lanes(account);
    let envelope = executor.with_tool(outer).run(call("resolve")).await;
    is(&envelope, Outcome::Ok, Code::Done);
    assert!(lanes.is_empty());
}

#[tokio::test]
async fn so_it_has_through_another_executor_in_between() {
    let bench = Bench::start().await;
    let lanes = Lanes::new();
    let first = bench
        .executor()
        .with_lanes(lanes.clone())
        .with_concurrency(1)
        .with_tool(bench.refund().with_lanes(account));
    let between = bench.executor().with_lanes(lanes.clone());
    let between = between.with_tool(calling("middle", first.clone(), "refund"));
    let outer = calling("resolve", between, "middle").with_lanes(account);
    let envelope = first.with_tool(outer).run(call("resolve")).await;
    is(&envelope, Outcome::Ok, Code::Done);
    assert!(lanes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_inner_call_waits_for_a_lane_that_none_around_it_holds() {
    let stage = Stage::new();
    let lanes = Lanes::new();
    let executor = Executor::new(MemoryLedger::default())
        .with_lanes(lanes.clone())
        .with_tool(stage.tool("edit").with_lanes(account));
    let held = lanes.lock(account("", &Value::Null)).await;
    let outer = calling("resolve", executor.clone(), "edit");
    let executor = executor.with_tool(outer);
    let running = crate::support::start(&executor, call("resolve"));
    assert!(stage.is_quiet().await);
    drop(held);
    stage.let_go(1);
    is(&running.await.unwrap(), Outcome::Ok, Code::Done);
}

/// A gateway and a worker that know the same tool, on one ledger.
fn stacked(bench: &Bench, tool: Tool) -> Executor {
    let worker = bench.executor().with_tool(tool);
    let gateway = bench.executor();
    gateway.with_tool(calling("refund", worker, "refund"))
}

#[tokio::test]
async fn a_call_stacked_in_itself_does_not_wait_for_its_own_claim() {
    for (step, outcome, code, state) in [
        (Step::Answer, Outcome::Ok, Code::Done, State::Done),
        (
            failing(),
            Outcome::Unknown,
            Code::ServerError,
            State::Unknown,
        ),
        (rejected(), Outcome::Failed, Code::Rejected, State::Failed),
    ] {
        let bench = Bench::scripted([step]).await;
        let gateway = stacked(&bench, bench.refund());
        let envelope = gateway.run(call("refund")).await;
        is(&envelope, outcome, code);
        // What the worker said.
        assert_eq!(envelope.data()["code"], code.as_str());
        assert_eq!(bench.state("refund").await, state);
        assert_eq!(bench.billing.received().len(), 1);
    }
}

#[tokio::test]
async fn a_stacked_opaque_tool_counts_as_sent_unless_it_knows_better() {
    for (word, outcome, code, state) in [
        (Ok(json!(1)), Outcome::Ok, Code::Done, State::Done),
        (
            Err(None),
            Outcome::Unknown,
            Code::ResponseLost,
            State::Unknown,
        ),
        (
            Err(Some(NothingSent::new())),
            Outcome::Failed,
            Code::HandlerError,
            State::Free,
        ),
    ] {
        let bench = Bench::start().await;
        let tool = Tool::opaque_write("refund", move |_| {
            let word = word.clone();
            async move {
                word.map_err(|knows| match knows {
                    Some(knows) => knows.into(),
                    None => "broken pipe".into(),
                })
            }
        });
        let envelope = stacked(&bench, tool).run(call("refund")).await;
        is(&envelope, outcome, code);
        assert_eq!(bench.state("refund").await, state);
    }
}

#[tokio::test]
async fn a_stacked_opaque_tool_is_taken_down_before_it_starts() {
    let bench = Bench::start().await;
    let ledger = Arc::clone(&bench.ledger);
    let tool = Tool::opaque_write("refund", move |_| {
        let ledger = Arc::clone(&ledger);
        async move {
            let open = tower_outcome_core::Ledger::unresolved(&*ledger, 1).await?;
            Ok(json!(open.entries.len()))
        }
    });
    let gateway = stacked(&bench, tool);
    is(&gateway.run(call("refund")).await, Outcome::Ok, Code::Done);
    let writes = bench.entry("refund").await.writes;
    assert_eq!(writes[0].label, "opaque");
}

#[tokio::test(start_paused = true)]
async fn a_stacked_handler_ends_at_the_inner_deadline() {
    let ledger = Arc::new(MemoryLedger::default());
    let slow = Tool::write("refund", |_| std::future::pending());
    let worker = Executor::new(Arc::clone(&ledger)).with_tool(slow);
    let worker = worker.with_deadline(Duration::from_secs(1));
    // A clone is the same executor: another one is needed to be stacked.
    let gateway = Executor::new(ledger);
    let gateway = gateway.with_tool(calling("refund", worker, "refund"));
    let started = tokio::time::Instant::now();
    let envelope = gateway.run(call("refund")).await;
    is(&envelope, Outcome::Failed, Code::NotSent);
    assert_eq!(envelope.data()["code"], "timeout_before_send");
    assert_eq!(started.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_makes_itself_is_told_that_it_is_running() {
    let executor = Executor::new(MemoryLedger::default());
    let (tell, told) = std::sync::mpsc::channel();
    // The same executor, directly and through another call.
    let once = std::sync::OnceLock::<Executor>::new();
    let once = Arc::new(once);
    let itself = Arc::clone(&once);
    let tool = Tool::write("refund", move |_| {
        let (itself, tell) = (Arc::clone(&itself), tell.clone());
        async move {
            let executor = itself.get().unwrap();
            for tool in ["refund", "resolve"] {
                tell.send(executor.run(call(tool)).await).unwrap();
            }
            Err("nothing to be done".into())
        }
    });
    let resolve = Arc::clone(&once);
    let resolve = Tool::write("resolve", move |_| {
        let resolve = Arc::clone(&resolve);
        async move { Ok(json!(resolve.get().unwrap().run(call("refund")).await)) }
    });
    let executor = executor.with_tool(tool).with_tool(resolve);
    let _ = once.set(executor.clone());
    let started = tokio::time::Instant::now();
    executor.run(call("refund")).await;
    is(
        &told.recv().unwrap(),
        Outcome::Skipped,
        Code::AlreadyInProgress,
    );
    // The call in between did nothing but that.
    let between = told.recv().unwrap();
    assert_eq!(between.data()["code"], "already_in_progress", "{between:?}");
    assert_eq!(started.elapsed(), Duration::ZERO);
}

/// It would be sent under a key of the call in between, and be that call's evidence.
#[tokio::test]
async fn a_call_is_no_part_of_another_call_that_is_made_inside_it() {
    let bench = Bench::start().await;
    let worker = bench.executor().with_tool(bench.refund());
    let between = bench.executor();
    let between = between.with_tool(calling("resolve", worker, "refund"));
    let gateway = bench.executor();
    let gateway = gateway.with_tool(calling("refund", between, "resolve"));
    let envelope = gateway.run(call("refund")).await;
    let inner = &envelope.data()["data"];
    assert_eq!(inner["code"], "already_in_progress", "{envelope:?}");
    assert_eq!(bench.billing.received().len(), 0);
}

/// An inner call whose answer is late, told of once the outer handler has gone on.
async fn late(gives_up: bool) -> Bench {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let refund = bench.refund();
    let refund = if gives_up {
        refund
    } else {
        refund.with_deadline(SHORT)
    };
    let executor = bench.executor().with_tool(refund);
    let worker = executor.clone();
    let enough = Arc::new(Notify::new());
    let wait = Arc::clone(&enough);
    let outer = Tool::write("resolve", move |_| {
        let (worker, wait) = (worker.clone(), Arc::clone(&wait));
        async move {
            let told = worker.run(call("refund"));
            Ok(tokio::select! {
                told = told => json!(told),
                () = wait.notified() => json!("took too long"),
            })
        }
    });
    let executor = executor.with_tool(outer);
    let running = crate::support::start(&executor, call("resolve"));
    let holding = |event: &tower_outcome_testkit::Event| event.what == What::Holding;
    bench.billing.wait_for(holding).await;
    if gives_up {
        enough.notify_one();
    }
    let envelope = running.await.unwrap();
    assert_eq!(envelope.outcome(), Outcome::Unknown, "{envelope:?}");
    assert_eq!(bench.state("resolve").await, State::Unknown);
    bench.billing.release();
    bench
}

#[tokio::test]
async fn the_late_end_of_an_inner_call_settles_the_outer_one() {
    // The outer handler gave up on the inner call, or the inner call ended in doubt.
    for gives_up in [true, false] {
        let bench = late(gives_up).await;
        bench.until("refund", State::Done).await;
        bench.until("resolve", State::Done).await;
        assert_eq!(bench.billing.commits(), 1);
    }
}

#[tokio::test]
async fn a_client_that_claims_the_same_intent_does_not_wait_for_its_tools_claim() {
    let bench = Bench::start().await;
    let tool = Claiming::new(&bench, Arc::clone(&bench.ledger)).tool();
    is(&bench.run(tool).await, Outcome::Ok, Code::Done);
    let entry = bench.entry("refund").await;
    assert_eq!((entry.state, entry.writes.len()), (State::Done, 1));
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test]
async fn a_client_that_claims_an_intent_of_its_own_claims_it() {
    let bench = Bench::start().await;
    let settling = Claiming {
        rules: IntentRules::new("settle"),
        ..Claiming::new(&bench, Arc::clone(&bench.ledger))
    };
    let tool = settling.tool();
    is(&bench.run(tool).await, Outcome::Ok, Code::Done);
    assert_eq!(bench.state("settle").await, State::Done);
}
