//! A process that goes down in the middle of a call inside a call: the outer call's row knows that
//! something may have left, whichever row the inner call has.

use std::time::Duration;

use serde_json::json;
use tower_outcome::{Code, MemoryLedger, Outcome};
use tower_outcome_core::ledger::{
    Answer, Entry, EntryKey, Event, Ledger, LedgerError, LedgerFuture, State,
};
use tower_outcome_testkit::{Step, What};
use tower_outcome_tools::{Executor, NothingSent, Tool};

use crate::support::{Bench, Stage, call, is, start};

const LEASE: Duration = Duration::from_secs(90);

/// A tool that does all it does by calling `refund`.
fn calling(name: &str, inner: &Executor) -> Tool {
    calling_tool(name, inner, "refund")
}

fn calling_tool(name: &str, inner: &Executor, tool: &'static str) -> Tool {
    let inner = inner.clone();
    Tool::write(name, move |_| {
        let inner = inner.clone();
        async move { Ok(json!(inner.run(call(tool)).await)) }
    })
}

/// What the next process says of a call whose owner is gone, and does when it is asked for again.
async fn is_in_doubt(bench: &Bench, tool: &str, inner: &Executor) {
    assert_eq!(bench.state(tool).await, State::Dispatching);
    bench.advance(LEASE);
    let next = bench.executor().with_tool(calling(tool, inner));
    let status = next.status(&call(tool)).await;
    is(&status, Outcome::Unknown, Code::StillConfirming);
    let again = next.run(call(tool)).await;
    is(&again, Outcome::Unknown, Code::StillConfirming);
}

#[tokio::test]
async fn a_crash_after_the_write_of_an_inner_call_leaves_the_outer_one_in_doubt() {
    for elsewhere in [false, true] {
        let bench = Bench::scripted([Step::CommitThenHold]).await;
        let inner = if elsewhere {
            Executor::new(MemoryLedger::default())
        } else {
            bench.executor()
        };
        let inner = inner.with_tool(bench.refund());
        let crashed = bench.executor().with_tool(calling("resolve", &inner));
        let caller = start(&crashed, call("resolve"));
        let holding = |event: &tower_outcome_testkit::Event| event.what == What::Holding;
        bench.billing.wait_for(holding).await;
        is_in_doubt(&bench, "resolve", &inner).await;
        assert_eq!(bench.billing.received().len(), 1);
        caller.abort();
    }
}

#[tokio::test]
async fn so_does_one_after_the_start_of_an_opaque_inner_call() {
    let bench = Bench::start().await;
    let stage = Stage::new();
    // A process that has lost its ledger would do it again.
    let inner = || Executor::new(MemoryLedger::default()).with_tool(stage.tool("refund"));
    let crashed = bench.executor().with_tool(calling("resolve", &inner()));
    let caller = start(&crashed, call("resolve"));
    stage.next().await;
    stage.let_go(2);
    is_in_doubt(&bench, "resolve", &inner()).await;
    caller.abort();
}

#[tokio::test]
async fn every_call_around_a_write_is_told_of_it() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let inner = bench.executor().with_tool(bench.refund());
    let middle = inner.clone().with_tool(calling("resolve", &inner));
    let crashed = bench.executor();
    let crashed = crashed.with_tool(calling_tool("close", &middle, "resolve"));
    let caller = start(&crashed, call("close"));
    let holding = |event: &tower_outcome_testkit::Event| event.what == What::Holding;
    bench.billing.wait_for(holding).await;
    for tool in ["refund", "resolve", "close"] {
        let entry = bench.entry(tool).await;
        assert_eq!((entry.state, entry.writes.len()), (State::Dispatching, 1));
        // Only the write's own row may be settled by what is found of it.
        assert_eq!(entry.writes[0].wire_key.is_empty(), tool != "refund");
    }
    caller.abort();
}

#[tokio::test]
async fn an_inner_call_that_sent_nothing_leaves_the_outer_one_free() {
    let bench = Bench::start().await;
    let refund = Tool::opaque_write("refund", |_| async { Err(NothingSent::new().into()) });
    let inner = bench.executor().with_tool(refund);
    let envelope = bench.run(calling("resolve", &inner)).await;
    is(&envelope, Outcome::Failed, Code::HandlerError);
    assert_eq!(bench.state("resolve").await, State::Free);
    let inner = bench.executor().with_tool(bench.refund());
    let again = bench.run(calling("resolve", &inner)).await;
    is(&again, Outcome::Ok, Code::Done);
}

/// A ledger that fails whenever something is to be sent.
struct Forgetful(MemoryLedger);

impl Ledger for Forgetful {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        if matches!(event, Event::Send { .. }) {
            return Box::pin(async { Err(LedgerError::unavailable("no space left")) });
        }
        self.0.apply(key, event)
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        self.0.read(key)
    }

    tower_outcome_core::forward_ledger!(self => self.0;
        unresolved due page counts purge changed);
}

#[tokio::test]
async fn what_the_outer_row_cannot_be_told_of_is_not_sent() {
    let print = Tool::opaque_write("refund", |_| async { panic!("it is sent") });
    for opaque in [false, true] {
        let bench = Bench::start().await;
        let tool = if opaque {
            print.clone()
        } else {
            bench.refund()
        };
        let inner = bench.executor().with_tool(tool);
        let outer = Executor::new(Forgetful(MemoryLedger::default()));
        let outer = outer.with_tool(calling("resolve", &inner));
        let envelope = outer.run(call("resolve")).await;
        assert_eq!(envelope.outcome(), Outcome::Failed, "{envelope:?}");
        assert_eq!(envelope.data()["code"], "store_unavailable");
        assert!(bench.billing.received().is_empty());
        assert_eq!(bench.state("refund").await, State::Free);
    }
}
