//! Ten thousand calls at once, and input of any size: one send for each intent, every word true,
//! nothing left behind.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tower_outcome::{Code, MemoryLedger, Outcome};
use tower_outcome_tools::{Executor, Lane, Lanes, Tool, ToolCall};

use crate::support::{Bench, call, failing, is, numbered};

async fn nothing_is_left(executor: &Executor, lanes: &Lanes, tasks: usize) {
    assert_eq!(executor.drain(Duration::from_mins(1)).await, 0);
    while Handle::current().metrics().num_alive_tasks() > tasks {
        tokio::task::yield_now().await;
    }
    let left = format!("{executor:?}");
    assert!(left.contains("open: 0, leading: 0, waiting: 0, "), "{left}");
    assert!(lanes.is_empty());
}

fn counted(envelopes: &[tower_outcome::Envelope]) -> HashMap<Code, usize> {
    let mut counts = HashMap::new();
    for envelope in envelopes {
        *counts.entry(envelope.code()).or_default() += 1;
    }
    counts
}

#[tokio::test]
async fn ten_thousand_identical_calls_send_once_and_are_all_told_the_truth() {
    for (step, leader, follower) in [
        (None, Code::Done, Code::AlreadyDone),
        (Some(failing()), Code::ServerError, Code::StillConfirming),
    ] {
        let bench = Bench::scripted(step).await;
        let lanes = Lanes::new();
        let refund = bench.refund().with_lanes(|_, _| [Lane::new("account/7")]);
        let executor = bench
            .executor()
            .with_lanes(lanes.clone())
            .with_concurrency(4)
            .with_queue(CALLS, CALLS)
            .with_patience(Duration::from_mins(1))
            .with_deadline(Duration::from_mins(1))
            .with_tool(refund);
        let calls = (0..CALLS).map(|_| executor.run(call("refund")));
        let counts = counted(&join_all(calls).await);
        assert_eq!(counts, HashMap::from([(leader, 1), (follower, CALLS - 1)]));
        assert_eq!(bench.billing.received().len(), 1);
        drop(bench.billing);
        assert_eq!(executor.drain(Duration::from_mins(1)).await, 0);
        assert!(lanes.is_empty());
        let left = format!("{executor:?}");
        assert!(left.contains("open: 0, leading: 0, waiting: 0, "), "{left}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_finds_no_place_among_ten_thousand_is_told_that_it_sent_nothing() {
    let tasks = Handle::current().metrics().num_alive_tasks();
    let print = Tool::opaque_write("print", |_| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(json!(1))
    });
    let executor = Executor::new(MemoryLedger::default()).with_tool(print);
    let calls = (0..CALLS).map(|_| executor.run(call("print")));
    let envelopes = join_all(calls).await;
    let counts = counted(&envelopes);
    assert_eq!(counts[&Code::Done], 1);
    // As many as one scope may have waiting.
    assert_eq!(counts[&Code::AlreadyDone], 256);
    assert_eq!(counts[&Code::Overloaded], CALLS - 257);
    let overloaded = envelopes.iter().find(|it| it.code() == Code::Overloaded);
    let message = overloaded.unwrap().message();
    assert!(message.contains("This call sent nothing"), "{message}");
    nothing_is_left(&executor, &Lanes::new(), tasks).await;
}

#[tokio::test(start_paused = true)]
async fn a_batch_of_ten_thousand_with_doubles_runs_each_intent_once_in_the_order_of_the_calls() {
    let tasks = Handle::current().metrics().num_alive_tasks();
    let runs = Arc::new(AtomicUsize::new(0));
    let lanes = Lanes::new();
    let counts = Arc::clone(&runs);
    let print = Tool::opaque_write("print", move |arguments| {
        counts.fetch_add(1, Ordering::SeqCst);
        async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Ok(arguments)
        }
    });
    let lane = |_: &str, arguments: &Value| {
        let n = arguments["n"].as_i64().unwrap();
        [Lane::new(format!("printer/{}", n % 8))]
    };
    let executor = Executor::new(MemoryLedger::default())
        .with_lanes(lanes.clone())
        .with_concurrency(16)
        .with_queue(CALLS, CALLS)
        .with_patience(Duration::from_mins(10))
        .with_deadline(Duration::from_mins(10))
        .with_tool(print.with_lanes(lane));
    let number = |at: usize| i64::try_from(at % (CALLS / 4)).unwrap();
    let calls = (0..CALLS).map(|at| numbered("acme", "print", number(at)));
    let envelopes = executor.run_all(calls.collect()).await;
    assert_eq!(runs.load(Ordering::SeqCst), CALLS / 4);
    for (at, envelope) in envelopes.iter().enumerate() {
        assert!(envelope.outcome().is_done(), "{envelope:?}");
        assert_eq!(envelope.data()["n"], number(at));
    }
    nothing_is_left(&executor, &lanes, tasks).await;
}

#[tokio::test]
async fn arguments_of_any_size_end_in_a_word_and_are_sent_once() {
    let bench = Bench::start().await;
    let executor = bench.executor().with_tool(bench.refund());
    let long = "x".repeat(8 << 20);
    let wide: Value = (0..100_000).map(|n| (n.to_string(), json!(n))).collect();
    let deep = (0..100).fold(json!(1), |inner, _| json!({ "a": inner }));
    for huge in [json!({ "note": long }), wide, deep] {
        let commits = bench.billing.commits();
        let call = ToolCall::new("acme", "refund", huge);
        let first = executor.run(call.clone()).await;
        let sent = bench.billing.commits() - commits;
        match first.outcome() {
            Outcome::Ok => {
                assert_eq!(sent, 1);
                let again = executor.run(call).await;
                assert_eq!(again.outcome(), Outcome::AlreadyDone, "{:?}", again.code());
            }
            // The service takes no bodies of that size.
            Outcome::Failed => assert_eq!(sent, 0),
            word => panic!("{word:?} {:?}", first.code()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn names_of_no_tool_and_arguments_that_are_no_object_are_refused_in_any_number() {
    let tasks = Handle::current().metrics().num_alive_tasks();
    let print = Tool::opaque_write("print", |_| async { Ok(json!(1)) });
    let executor = Executor::new(MemoryLedger::default()).with_tool(print);
    let names = ["", "Print", "print ", "print\0", &"p".repeat(1 << 20)];
    let arguments = [json!(1), json!("x"), json!([]), json!(true)];
    let calls = names.map(|name| ToolCall::new("acme", name, json!({})));
    let no_objects = arguments.map(|it| ToolCall::new("acme", "print", it));
    let envelopes = executor.run_all(calls.into_iter().chain(no_objects).collect());
    for envelope in envelopes.await {
        is(&envelope, Outcome::Failed, Code::InvalidArguments);
    }
    nothing_is_left(&executor, &Lanes::new(), tasks).await;
}

const CALLS: usize = 10_000;
