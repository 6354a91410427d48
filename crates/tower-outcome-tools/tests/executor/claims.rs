//! A client that claims the intent of the tool call it is in: not once more in the same ledger, and
//! for itself in another one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use tower_outcome::deadline::GRACE;
use tower_outcome::{Code, MemoryLedger, Outcome};
use tower_outcome_core::ledger::{Answer, Entry, EntryKey, Event, Ledger, LedgerFuture, State};
use tower_outcome_core::{Conclusion, IntentRules};
use tower_outcome_testkit::{Step, What};
use tower_outcome_tools::{Executor, Tool, ToolCall};

use crate::claiming::Claiming;
use crate::support::{Bench, SHORT, call, is, order, start};

const LEASE: Duration = Duration::from_secs(90);

#[tokio::test]
async fn a_client_with_a_ledger_of_its_own_claims_there_what_its_tool_claimed_elsewhere() {
    let bench = Bench::start().await;
    let writer = Claiming::new(&bench, Arc::clone(&bench.ledger));
    let executor = Executor::new(MemoryLedger::default()).with_tool(writer.tool());
    is(&executor.run(call("refund")).await, Outcome::Ok, Code::Done);
    // Somebody who has the client's ledger only has to know.
    assert_eq!(bench.state("refund").await, State::Done);
    assert_eq!(writer.refund(&order()).await.0.code(), Code::AlreadyDone);
    assert_eq!(bench.billing.received().len(), 1);
}

/// A handle on a ledger that others have as well, as another process has one.
pub(crate) struct Handle {
    ledger: Arc<MemoryLedger>,
    reads: Arc<AtomicUsize>,
    hangs: bool,
}

impl Handle {
    pub(crate) fn new(ledger: &Arc<MemoryLedger>) -> Self {
        Self {
            ledger: Arc::clone(ledger),
            reads: Arc::default(),
            hangs: false,
        }
    }
}

impl Ledger for Handle {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        self.ledger.apply(key, event)
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        if self.hangs {
            return Box::pin(std::future::pending());
        }
        self.ledger.read(key)
    }

    tower_outcome_core::forward_ledger!(self => self.ledger;
        unresolved due page counts purge changed);
}

#[tokio::test]
async fn another_handle_on_the_tools_ledger_is_read_once_and_not_claimed_in_again() {
    let bench = Bench::start().await;
    let handle = Handle::new(&bench.ledger);
    let reads = Arc::clone(&handle.reads);
    let writer = Claiming::new(&bench, handle);
    let executor = bench.executor().with_tool(writer.tool());
    is(&executor.run(call("refund")).await, Outcome::Ok, Code::Done);
    let entry = bench.entry("refund").await;
    assert_eq!((entry.state, entry.writes.len()), (State::Done, 1));
    assert_eq!(reads.load(Ordering::SeqCst), 1);
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn the_tools_ledger_itself_is_not_read_to_know_it() {
    let bench = Bench::start().await;
    let handle = Arc::new(Handle::new(&bench.ledger));
    let reads = Arc::clone(&handle.reads);
    let writer = Claiming::new(&bench, Arc::clone(&handle));
    let inside = reads.clone();
    let tool = Tool::write("refund", move |arguments: Value| {
        let (writer, reads) = (writer.clone(), inside.clone());
        async move {
            let before = reads.load(Ordering::SeqCst);
            let answer = writer.refund(&arguments).await.1?;
            assert_eq!(reads.load(Ordering::SeqCst), before);
            Ok(answer)
        }
    });
    let executor = Executor::new(handle).with_tool(tool);
    is(&executor.run(call("refund")).await, Outcome::Ok, Code::Done);
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn a_client_inside_two_executors_waits_for_the_claim_of_neither() {
    for (inner, same) in [(true, true), (true, false), (false, true), (false, false)] {
        let bench = Bench::start().await;
        let far = Arc::new(MemoryLedger::default());
        let ledger = if inner { &bench.ledger } else { &far };
        let writer = if same {
            Claiming::new(&bench, Arc::clone(ledger))
        } else {
            Claiming::new(&bench, Handle::new(ledger))
        };
        let worker = bench.executor().with_tool(writer.tool());
        let gateway = Tool::write("refund", move |arguments| {
            let worker = worker.clone();
            async move {
                let call = ToolCall::new("acme", "refund", arguments);
                Ok(json!(worker.run(call).await))
            }
        });
        let outer = Executor::new(Arc::clone(&far)).with_tool(gateway);
        let envelope = outer.run(call("refund")).await;
        is(&envelope, Outcome::Ok, Code::Done);
        assert_eq!(envelope.data()["code"], "done", "{inner} {same}");
        assert_eq!(bench.state("refund").await, State::Done);
        assert_eq!(bench.billing.received().len(), 1);
    }
}

#[tokio::test]
async fn what_a_ledger_that_did_not_answer_may_know_is_not_denied() {
    let bench = Bench::start().await;
    let mut handle = Handle::new(&Arc::new(MemoryLedger::default()));
    handle.hangs = true;
    let writer = Claiming::within(&bench, handle, SHORT);
    let (tell, told) = std::sync::mpsc::channel();
    let tool = Tool::write("refund", move |arguments: Value| {
        let (writer, tell) = (writer.clone(), tell.clone());
        async move {
            let (told, answer) = writer.refund(&arguments).await;
            tell.send(told)?;
            Ok(answer?)
        }
    });
    let envelope = bench.run(tool).await;
    assert_eq!(envelope.outcome(), Outcome::Failed, "{envelope:?}");
    let narrow = Conclusion::new(Code::TimeoutBeforeSend).for_this_call();
    assert_eq!(told.recv().unwrap(), narrow);
    assert!(bench.billing.received().is_empty());
}

/// The doubt is its tool's to take down, so that nothing else has to be waited for.
#[tokio::test]
async fn a_client_that_has_found_its_tools_claim_is_told_of_a_doubt_at_its_deadline() {
    let limit = Duration::from_secs(10);
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let writer = Claiming::within(&bench, Handle::new(&bench.ledger), limit);
    let tool = Tool::write("refund", move |arguments: Value| {
        let writer = writer.clone();
        async move {
            let started = Instant::now();
            let (told, answer) = writer.refund(&arguments).await;
            assert_eq!(told, Code::TimeoutAfterSend.into());
            let took = started.elapsed();
            assert!(took < limit + GRACE, "{took:?}");
            Ok(answer?)
        }
    });
    let executor = bench.executor().with_tool(tool);
    let running = start(&executor, call("refund"));
    let billing = &bench.billing;
    billing.wait_for(|event| event.what == What::Holding).await;
    // Nothing is under way any more but clocks.
    tokio::time::pause();
    let envelope = running.await.unwrap();
    is(&envelope, Outcome::Unknown, Code::TimeoutAfterSend);
}

#[tokio::test]
async fn a_crash_after_a_write_that_the_client_claimed_leaves_its_call_in_doubt() {
    for (tool, elsewhere) in [("refund", true), ("settle", true), ("settle", false)] {
        let bench = Bench::scripted([Step::CommitThenHold]).await;
        let mut writer = if elsewhere {
            Claiming::new(&bench, MemoryLedger::default())
        } else {
            Claiming::new(&bench, Arc::clone(&bench.ledger))
        };
        writer.rules = IntentRules::new(tool);
        let crashed = bench.executor().with_tool(writer.tool());
        let caller = tokio::spawn(async move { crashed.run(call("refund")).await });
        let billing = &bench.billing;
        billing.wait_for(|event| event.what == What::Holding).await;
        // The executor knows which key to look for.
        let entry = bench.entry("refund").await;
        assert_eq!(entry.state, State::Dispatching, "{tool} {elsewhere}");
        bench.advance(LEASE);
        let next = bench.executor().with_tool(bench.refund());
        let status = next.status(&call("refund")).await;
        is(&status, Outcome::Unknown, Code::StillConfirming);
        caller.abort();
    }
}
