//! Panics wherever code of the host runs: an envelope that is true, a row that is, nothing left.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tower::service_fn;
use tower_outcome::{BoxError, Code, MemoryLedger, Outcome};
use tower_outcome_core::ledger::{Answer, EntryKey, Event, Ledger, LedgerFuture, State};
use tower_outcome_tools::{Executor, Lane, Lanes, Tool};

use crate::support::{Bench, call, is, numbered, start};

fn account(_: &str, _: &Value) -> [Lane; 1] {
    [Lane::new("account/7")]
}

/// Waits until nothing of the executor is left.
async fn nothing_is_left(executor: &Executor, lanes: &Lanes) {
    assert_eq!(executor.drain(Duration::from_mins(1)).await, 0);
    let left = format!("{executor:?}");
    assert!(left.contains("open: 0, leading: 0, waiting: 0, "), "{left}");
    assert!(lanes.is_empty());
}

struct Thorny;

impl<'de> Deserialize<'de> for Thorny {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("a bug")
    }
}

impl Serialize for Thorny {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("a bug")
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_that_cannot_be_checked_for_a_panic_end_their_own_call_and_no_other() {
    let thorny = service_fn(|_: Thorny| async { Ok::<_, BoxError>(()) });
    for tool in [
        Tool::write_service("thorny", thorny),
        Tool::opaque_write_service("thorny", thorny),
        Tool::read_service("thorny", thorny),
    ] {
        let print = Tool::opaque_write("print", |_| async { Ok(json!(1)) });
        let executor = Executor::new(MemoryLedger::default());
        let executor = executor.with_tool(tool).with_tool(print);
        let calls = vec![call("print"), call("thorny")];
        let envelopes = executor.run_all(calls).await;
        is(&envelopes[0], Outcome::Ok, Code::Done);
        is(&envelopes[1], Outcome::Failed, Code::InvalidArguments);
        let asked = executor.status(&call("thorny")).await;
        assert_eq!(asked.code(), Code::InvalidArguments);
        nothing_is_left(&executor, &Lanes::new()).await;
    }
}

#[tokio::test]
async fn a_lane_function_that_panics_leaves_no_row_no_task_and_no_twin() {
    let bench = Bench::start().await;
    let tasks = Handle::current().metrics().num_alive_tasks();
    let lanes = Lanes::new();
    let broken = Arc::new(AtomicBool::new(true));
    let breaks = Arc::clone(&broken);
    let tool = bench.refund().with_lanes(move |_, _| {
        assert!(!breaks.load(Ordering::SeqCst), "a bug");
        [Lane::new("account/7")]
    });
    let executor = bench.executor().with_lanes(lanes.clone()).with_tool(tool);
    let envelopes = executor.run_all(vec![call("refund"); 9]).await;
    for envelope in envelopes {
        is(&envelope, Outcome::Failed, Code::NotSent);
        assert!(envelope.key().is_some());
    }
    assert!(bench.ledger.counts().await.unwrap().total() == 0);
    while Handle::current().metrics().num_alive_tasks() > tasks {
        tokio::task::yield_now().await;
    }
    // The failure was a promise: the same call can be made.
    broken.store(false, Ordering::SeqCst);
    is(&executor.run(call("refund")).await, Outcome::Ok, Code::Done);
    assert_eq!(bench.billing.commits(), 1);
    nothing_is_left(&executor, &lanes).await;
}

#[tokio::test]
async fn a_result_that_panics_while_it_is_written_down_leaves_its_write_in_doubt() {
    let bench = Bench::start().await;
    let lanes = Lanes::new();
    let writer = bench.writer();
    let refund = service_fn(move |arguments: Value| {
        let writer = writer.clone();
        async move {
            writer.write("/refunds", &arguments).await?;
            Ok::<_, BoxError>(Thorny)
        }
    });
    let tool = Tool::write_service("refund", refund).with_lanes(account);
    let executor = bench.executor().with_lanes(lanes.clone()).with_tool(tool);
    let envelope = executor.run(call("refund")).await;
    is(&envelope, Outcome::Unknown, Code::HandlerPanicked);
    assert_eq!(bench.state("refund").await, State::Unknown);
    assert_eq!(bench.billing.commits(), 1);
    nothing_is_left(&executor, &lanes).await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_before_its_first_await_is_failed_and_free() {
    let lanes = Lanes::new();
    // Not in the future, but before there is one.
    let tool = Tool::write(
        "refund",
        |_| -> std::future::Ready<Result<Value, BoxError>> { panic!("a bug") },
    );
    let look = Tool::read("look", |_| -> std::future::Ready<Result<Value, BoxError>> {
        panic!("a bug")
    });
    let executor = Executor::new(MemoryLedger::default())
        .with_lanes(lanes.clone())
        .with_concurrency(1)
        .with_tool(tool.with_lanes(account))
        .with_tool(look);
    for _ in 0..2 {
        let envelope = executor.run(call("refund")).await;
        is(&envelope, Outcome::Failed, Code::HandlerError);
        let envelope = executor.run(call("look")).await;
        is(&envelope, Outcome::Failed, Code::ReadFailed);
    }
    nothing_is_left(&executor, &lanes).await;
}

/// A ledger that panics at one kind of step, after it has taken it.
struct Thorned(Arc<MemoryLedger>, &'static str);

impl Ledger for Thorned {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(async move {
            let panics = event.as_str() == self.1;
            let answer = self.0.apply(key, event).await;
            assert!(!panics, "a bug");
            answer
        })
    }

    tower_outcome_core::forward_ledger!(self => self.0;
        read unresolved due page counts purge changed);
}

#[tokio::test]
async fn a_ledger_that_panics_makes_no_word_false() {
    for (step, outcome, commits) in [
        ("claim", Outcome::Failed, 0),
        ("send", Outcome::Failed, 0),
        ("settle", Outcome::Unknown, 1),
    ] {
        let bench = Bench::start().await;
        let lanes = Lanes::new();
        let ledger = Thorned(Arc::clone(&bench.ledger), step);
        let executor = Executor::new(ledger)
            .with_lanes(lanes.clone())
            .with_tool(bench.refund().with_lanes(account));
        let envelope = executor.run(call("refund")).await;
        assert_eq!(envelope.outcome(), outcome, "{envelope:?}");
        assert_eq!(bench.billing.commits(), commits);
        // Whatever was said, the next owner does it at most once in all.
        bench.advance(Duration::from_secs(200));
        let next = bench.executor().with_tool(bench.refund());
        let told = next.run(call("refund")).await;
        assert!(bench.billing.commits() <= 1, "{told:?}");
        nothing_is_left(&executor, &lanes).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_panics_over_its_lanes_hands_nothing_false_to_those_behind() {
    // The first call of the kind panics in its ledger while others wait for its answer.
    let ledger = Arc::new(MemoryLedger::default());
    let thorned = Thorned(Arc::clone(&ledger), "claim");
    let print = Tool::opaque_write("print", |_| async { Ok(json!(1)) });
    let executor = Executor::new(thorned).with_tool(print);
    let calls = [(); 5].map(|()| start(&executor, numbered("acme", "print", 1)));
    for call in calls {
        let envelope = call.await.unwrap();
        let word = envelope.outcome();
        assert!(
            matches!(word, Outcome::Failed | Outcome::Skipped),
            "{envelope:?}"
        );
    }
    nothing_is_left(&executor, &Lanes::new()).await;
}
