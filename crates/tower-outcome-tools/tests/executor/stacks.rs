//! Executors on top of each other, and with a client that claims: one claim, one send, nobody waits
//! for itself, and what the inner one was told to keep is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use tower_outcome::{BoxError, Code, Context, MemoryLedger, Outcome};
use tower_outcome_core::ledger::State;
use tower_outcome_tools::{Executor, Lane, Lanes, Tool, ToolCall};

use crate::claiming::Claiming;
use crate::support::{Bench, Stage, call, is, numbered, order, start};

/// A gateway that hands every call of this tool on to `worker`, as it is.
fn gateway(worker: &Executor, tool: &str) -> Tool {
    let (worker, name) = (worker.clone(), tool.to_owned());
    Tool::write(tool, move |arguments| {
        let (worker, name) = (worker.clone(), name.clone());
        async move {
            Ok(json!(
                worker.run(ToolCall::new("acme", name, arguments)).await
            ))
        }
    })
}

fn account(_: &str, _: &Value) -> [Lane; 1] {
    [Lane::new("account/7")]
}

#[tokio::test(start_paused = true)]
async fn calls_of_one_intent_and_of_two_through_stacked_executors_wait_for_no_claim_of_their_own() {
    let ledger = Arc::new(MemoryLedger::default());
    let print = Tool::opaque_write("print", |arguments| async { Ok(arguments) });
    let worker = Executor::new(Arc::clone(&ledger)).with_tool(print);
    // "print" is the same intent on both levels, "send" is one of its own around it.
    let send = {
        let worker = worker.clone();
        Tool::write("send", move |_| {
            let worker = worker.clone();
            async move { Ok(json!(worker.run(numbered("acme", "print", 2)).await)) }
        })
    };
    let outer = Executor::new(Arc::clone(&ledger));
    let outer = outer.with_tool(gateway(&worker, "print")).with_tool(send);
    let started = Instant::now();
    for (tool, n) in [("print", 1), ("send", 3)] {
        let envelope = outer.run(numbered("acme", tool, n)).await;
        is(&envelope, Outcome::Ok, Code::Done);
        assert_eq!(envelope.data()["outcome"], "ok", "{envelope:?}");
    }
    assert_eq!(started.elapsed(), Duration::ZERO);
}

/// A tool that counts how often it runs, and never knows what became of it.
fn doubtful(runs: &Arc<AtomicUsize>) -> Tool {
    let runs = Arc::clone(runs);
    Tool::opaque_write("print", move |_| {
        runs.fetch_add(1, Ordering::SeqCst);
        async { Err("broken pipe".into()) }
    })
}

#[tokio::test(start_paused = true)]
async fn a_gateway_that_tries_again_runs_no_handler_twice_that_may_have_sent() {
    for dropped in [false, true] {
        let runs = Arc::new(AtomicUsize::new(0));
        let ledger = Arc::new(MemoryLedger::default());
        let mut print = doubtful(&runs);
        if dropped {
            let runs = Arc::clone(&runs);
            print = Tool::opaque_write("print", move |_| {
                runs.fetch_add(1, Ordering::SeqCst);
                std::future::pending()
            });
        }
        let worker = Executor::new(Arc::clone(&ledger)).with_tool(print);
        let retrying = Tool::write("print", move |arguments: Value| {
            let worker = worker.clone();
            async move {
                let mut told = Vec::new();
                for _ in 0..2 {
                    let call = ToolCall::new("acme", "print", arguments.clone());
                    // The gateway's own patience: what it gives up on is dropped.
                    let call = timeout(Duration::from_secs(1), worker.run(call));
                    told.push(call.await.ok());
                }
                Ok(json!(told))
            }
        });
        let outer = Executor::new(ledger).with_tool(retrying);
        let envelope = outer.run(call("print")).await;
        is(&envelope, Outcome::Unknown, Code::ResponseLost);
        assert_eq!(envelope.data()[1]["code"], "still_confirming");
        assert_eq!(runs.load(Ordering::SeqCst), 1, "dropped: {dropped}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_gateway_that_asks_again_after_success_is_told_of_the_first() {
    let print = Tool::opaque_write("print", |_| async { Ok(json!({ "job": 1 })) });
    let ledger = Arc::new(MemoryLedger::default());
    let worker = Executor::new(Arc::clone(&ledger)).with_tool(print);
    let twice = Tool::write("print", move |arguments: Value| {
        let worker = worker.clone();
        async move {
            let call = ToolCall::new("acme", "print", arguments);
            let first = worker.run(call.clone()).await;
            Ok(json!([first, worker.run(call).await]))
        }
    });
    let envelope = Executor::new(ledger)
        .with_tool(twice)
        .run(call("print"))
        .await;
    is(&envelope, Outcome::Ok, Code::Done);
    assert_eq!(envelope.data()[1]["outcome"], "already_done");
    assert_eq!(envelope.data()[1]["data"]["job"], 1);
}

#[tokio::test(start_paused = true)]
async fn the_lanes_and_caps_of_the_inner_executor_hold_for_stacked_calls() {
    for capped in [false, true] {
        let stage = Stage::new();
        let ledger = Arc::new(MemoryLedger::default());
        let mut worker = Executor::new(Arc::clone(&ledger));
        worker = if capped {
            let worker = worker.with_concurrency(1);
            worker.with_tool(stage.tool("print"))
        } else {
            worker.with_tool(stage.tool("print").with_lanes(account))
        };
        let outer = Executor::new(ledger).with_tool(gateway(&worker, "print"));
        let calls = [1, 2].map(|n| start(&outer, numbered("acme", "print", n)));
        let first = stage.next().await;
        assert!(stage.is_quiet().await, "both run at once");
        stage.let_go(1);
        assert_ne!(stage.next().await, first);
        stage.let_go(1);
        for call in calls {
            is(&call.await.unwrap(), Outcome::Ok, Code::Done);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_stacked_handler_makes_has_the_stacked_lanes_and_permit() {
    let ledger = Arc::new(MemoryLedger::default());
    let lanes = Lanes::new();
    let note = Tool::opaque_write("note", |_| async { Ok(json!(1)) }).with_lanes(account);
    let worker = Executor::new(Arc::clone(&ledger))
        .with_lanes(lanes.clone())
        .with_concurrency(1)
        .with_tool(note);
    let inner = worker.clone();
    let refund = Tool::write("refund", move |_| {
        let inner = inner.clone();
        async move { Ok(json!(inner.run(numbered("acme", "note", 1)).await)) }
    });
    let worker = worker.with_tool(refund.with_lanes(account));
    let outer = Executor::new(ledger).with_tool(gateway(&worker, "refund"));
    let started = Instant::now();
    is(&outer.run(call("refund")).await, Outcome::Ok, Code::Done);
    assert_eq!(started.elapsed(), Duration::ZERO);
    assert!(lanes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_stacked_call_whose_lane_is_taken_ends_unsent_at_its_deadline() {
    let stage = Stage::new();
    let ledger = Arc::new(MemoryLedger::default());
    let lanes = Lanes::new();
    let held = lanes.lock(account("", &Value::Null)).await;
    let worker = Executor::new(Arc::clone(&ledger))
        .with_lanes(lanes.clone())
        .with_deadline(Duration::from_secs(1))
        .with_tool(stage.tool("print").with_lanes(account));
    let outer = Executor::new(ledger).with_tool(gateway(&worker, "print"));
    let envelope = outer.run(numbered("acme", "print", 1)).await;
    is(&envelope, Outcome::Failed, Code::NotSent);
    assert_eq!(envelope.data()["code"], "timeout_before_send");
    assert!(stage.is_quiet().await);
    drop(held);
    assert!(lanes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn draining_the_inner_executor_ends_what_is_stacked_in_it() {
    // What has not left never will.
    let idle = Tool::write("print", |_| std::future::pending());
    let ledger = Arc::new(MemoryLedger::default());
    let worker = Executor::new(Arc::clone(&ledger)).with_tool(idle);
    let outer = Executor::new(ledger).with_tool(gateway(&worker, "print"));
    let running = start(&outer, call("print"));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(worker.drain(Duration::ZERO).await, 0);
    let envelope = running.await.unwrap();
    is(&envelope, Outcome::Failed, Code::NotSent);
    assert_eq!(envelope.data()["code"], "shutting_down");

    // What may have left is given the time that there is.
    for (limit, outcome) in [(0, Outcome::Unknown), (9, Outcome::Ok)] {
        let stage = Stage::new();
        let ledger = Arc::new(MemoryLedger::default());
        let worker = Executor::new(Arc::clone(&ledger)).with_tool(stage.tool("print"));
        let outer = Executor::new(ledger).with_tool(gateway(&worker, "print"));
        let running = start(&outer, numbered("acme", "print", 1));
        stage.next().await;
        let drain = async { worker.drain(Duration::from_secs(limit)).await };
        let go_on = async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            stage.let_go(1);
        };
        let (open, ()) = tokio::join!(drain, go_on);
        assert_eq!(open, 0);
        assert_eq!(running.await.unwrap().outcome(), outcome);
    }
}

#[tokio::test]
async fn a_task_of_a_stacked_handler_writes_nothing_once_that_call_was_told() {
    let bench = Bench::start().await;
    let (go, over) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (held, end) = (Arc::clone(&go), Arc::clone(&over));
    let refund = bench.tool("refund", move |writer, arguments| {
        let (held, end) = (Arc::clone(&held), Arc::clone(&end));
        async move {
            let context = Context::current().unwrap();
            tokio::spawn(context.scope(async move {
                held.notified().await;
                let _ = writer.write("/refunds", &arguments).await;
                end.notify_one();
            }));
            Err("no such order".into())
        }
    });
    let worker = bench.executor().with_tool(refund);
    let waits = (Arc::clone(&go), Arc::clone(&over));
    let outer = bench.tool("refund", move |_, arguments| {
        let (worker, (go, over)) = (worker.clone(), waits.clone());
        async move {
            let call = ToolCall::new("acme", "refund", arguments);
            let told = worker.run(call).await;
            // The outer call goes on, and so does the task.
            go.notify_one();
            over.notified().await;
            Ok(json!(told))
        }
    });
    let envelope = bench.run(outer).await;
    assert_eq!(envelope.data()["code"], "handler_error");
    assert_eq!(envelope.outcome(), Outcome::Failed, "{envelope:?}");
    assert!(bench.billing.received().is_empty());
}

#[tokio::test]
async fn a_client_that_claims_inside_two_executors_waits_for_neither() {
    let bench = Bench::start().await;
    let refund = Claiming::new(&bench, Arc::clone(&bench.ledger)).tool();
    let worker = bench.executor().with_tool(refund);
    let outer = bench.executor().with_tool(gateway(&worker, "refund"));
    is(&outer.run(call("refund")).await, Outcome::Ok, Code::Done);
    assert_eq!(bench.state("refund").await, State::Done);
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test]
async fn a_worker_with_a_ledger_of_its_own_claims_there_too() {
    let bench = Bench::start().await;
    let worker = bench.executor().with_tool(bench.refund());
    let outer = Executor::new(MemoryLedger::default()).with_tool(gateway(&worker, "refund"));
    let envelope = outer.run(call("refund")).await;
    is(&envelope, Outcome::Ok, Code::Done);
    // Somebody who calls the worker without the gateway has to know.
    assert_eq!(bench.state("refund").await, State::Done);
    let direct = worker.run(call("refund")).await;
    is(&direct, Outcome::AlreadyDone, Code::AlreadyDone);
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn a_panic_of_a_stacked_handler_is_in_doubt_only_after_a_write() {
    for (writes, outcome, code) in [
        (false, Outcome::Failed, Code::HandlerError),
        (true, Outcome::Unknown, Code::HandlerPanicked),
    ] {
        let bench = Bench::start().await;
        let refund = bench.tool("refund", move |writer, arguments| async move {
            if writes {
                writer.write("/refunds", &arguments).await?;
            }
            panic!("a bug")
        });
        let worker = bench.executor().with_tool(refund);
        let outer = bench.executor().with_tool(gateway(&worker, "refund"));
        let envelope = outer.run(call("refund")).await;
        assert_eq!(envelope.data()["code"], code.as_str());
        assert_eq!(envelope.data()["outcome"], outcome.as_str());
        // The gateway's handler did not panic.
        let ends = if writes { Outcome::Ok } else { Outcome::Failed };
        assert_eq!(envelope.outcome(), ends, "{envelope:?}");
        assert_eq!(bench.billing.commits(), usize::from(writes));
    }
}

#[tokio::test]
async fn a_part_that_was_refused_for_its_arguments_is_not_made_good_by_the_handlers_word() {
    let bench = Bench::start().await;
    let inner = bench.executor().with_tool(bench.refund());
    let notify = inner.clone();
    let tool = bench.tool("resolve", move |_, _| {
        let inner = notify.clone();
        async move {
            let done = inner.run(ToolCall::new("acme", "refund", order())).await;
            let refused = ToolCall::new("acme", "refund", json!(["no object"]));
            Ok::<_, BoxError>(json!([done, inner.run(refused).await]))
        }
    });
    let envelope = inner.with_tool(tool).run(call("resolve")).await;
    is(&envelope, Outcome::Unknown, Code::Partial);
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test(start_paused = true)]
async fn handlers_that_want_each_others_lane_end_at_a_deadline_and_leave_nothing() {
    let lanes = Lanes::new();
    let named = |_: &str, arguments: &Value| {
        let n = arguments["n"].as_i64().unwrap();
        let both = n > 2;
        let names = if both { vec![1, 2] } else { vec![n] };
        names.into_iter().map(|n| Lane::new(n.to_string()))
    };
    let edit = Tool::opaque_write("edit", |_| async { Ok(json!(1)) }).with_lanes(named);
    let executor = Executor::new(MemoryLedger::default())
        .with_lanes(lanes.clone())
        .with_tool(edit);
    let inner = executor.clone();
    let outer = Tool::write("outer", move |arguments: Value| {
        let inner = inner.clone();
        async move {
            // Until both have their lane.
            tokio::time::sleep(Duration::from_millis(1)).await;
            let n = arguments["n"].as_i64().unwrap() + 2;
            Ok(json!(inner.run(numbered("acme", "edit", n)).await))
        }
    });
    let executor = executor.with_tool(outer.with_lanes(named));
    let calls = [1, 2].map(|n| start(&executor, numbered("acme", "outer", n)));
    for call in calls {
        let envelope = call.await.unwrap();
        assert_eq!(envelope.outcome(), Outcome::Failed, "{envelope:?}");
    }
    assert_eq!(executor.drain(Duration::from_mins(1)).await, 0);
    assert!(lanes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_makes_its_own_call_outside_of_its_context_is_not_blocked_for_ever() {
    let itself = Arc::new(std::sync::OnceLock::<Executor>::new());
    let inside = Arc::clone(&itself);
    let tool = Tool::write("refund", move |_| {
        let executor = inside.get().unwrap().clone();
        async move {
            // A task of its own knows nothing of the call that it is a part of.
            let again = tokio::spawn(async move {
                assert!(Context::current().is_none());
                executor.run(call("refund")).await
            });
            Ok(json!(again.await?))
        }
    });
    let executor = Executor::new(MemoryLedger::default()).with_tool(tool.with_lanes(account));
    let _ = itself.set(executor.clone());
    let envelope = executor.run(call("refund")).await;
    is(&envelope, Outcome::Failed, Code::NotSent);
    assert_eq!(envelope.data()["code"], "already_in_progress");
}
