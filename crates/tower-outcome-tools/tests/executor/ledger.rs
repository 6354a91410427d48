//! What stays in the ledger when a process goes away, and what it answers.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tower_outcome::{BoxError, Code, MemoryLedger, Outcome, Profile};
use tower_outcome_core::ledger::{
    Answer, Entry, EntryKey, Event, Ledger, LedgerError, LedgerFuture, Listing, State,
};
use tower_outcome_testkit::{Step, What};
use tower_outcome_tools::{Executor, Tool};

use crate::support::{Bench, Writer, call, is, rejected};

const LEASE: Duration = Duration::from_secs(90);

#[tokio::test]
async fn a_crash_between_claim_and_first_write_frees_the_claim() {
    let bench = Bench::start().await;
    let started = Arc::new(Notify::new());
    let start = Arc::clone(&started);
    let tool = Tool::write("refund", move |_| {
        start.notify_one();
        std::future::pending()
    });
    let crashed = bench.executor().with_tool(tool);
    let caller = tokio::spawn(async move { crashed.run(call("refund")).await });
    started.notified().await;
    assert_eq!(bench.state("refund").await, State::Claimed);
    bench.advance(LEASE);
    is(&bench.run(bench.refund()).await, Outcome::Ok, Code::Done);
    caller.abort();
}

#[tokio::test]
async fn a_crash_after_a_write_may_have_left_is_in_doubt_and_runs_no_handler_again() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let crashed = bench.executor().with_tool(bench.refund());
    let caller = tokio::spawn(async move { crashed.run(call("refund")).await });
    bench
        .billing
        .wait_for(|event| event.what == What::Holding)
        .await;
    let entry = bench.entry("refund").await;
    assert_eq!(entry.state, State::Dispatching);
    let sent = bench.billing.received();
    assert_eq!(sent[0].key(), Some(&*entry.writes[0].wire_key));
    bench.advance(LEASE);
    is(
        &bench.run(bench.refund()).await,
        Outcome::Unknown,
        Code::StillConfirming,
    );
    assert_eq!(bench.billing.received().len(), 1);
    caller.abort();
}

#[tokio::test]
async fn an_opaque_tool_that_crashed_is_in_doubt() {
    let bench = Bench::start().await;
    let started = Arc::new(Notify::new());
    let start = Arc::clone(&started);
    let tool = Tool::opaque_write("print", move |_| {
        start.notify_one();
        std::future::pending()
    });
    let crashed = bench.executor().with_tool(tool);
    let caller = tokio::spawn(async move { crashed.run(call("print")).await });
    started.notified().await;
    bench.advance(LEASE);
    assert_eq!(bench.state("print").await, State::Unknown);
    caller.abort();
}

#[tokio::test]
async fn the_status_of_a_call_is_what_the_ledger_says() {
    let bench = Bench::scripted([rejected(), Step::CommitThenHold]).await;
    let executor = bench.executor().with_tool(bench.refund());
    let status = async || executor.status(&call("refund")).await;
    is(&status().await, Outcome::Failed, Code::NotSent);
    executor.run(call("refund")).await;
    is(&status().await, Outcome::Failed, Code::Rejected);

    let running = executor.clone();
    let caller = tokio::spawn(async move { running.run(call("refund")).await });
    bench
        .billing
        .wait_for(|event| event.what == What::Holding)
        .await;
    is(&status().await, Outcome::Skipped, Code::AlreadyInProgress);
    bench.billing.release();
    let done = caller.await.unwrap();
    let told = status().await;
    is(&told, Outcome::AlreadyDone, Code::AlreadyDone);
    assert_eq!(told.data(), done.data());
    assert_eq!(told.key(), done.key());
}

#[tokio::test]
async fn a_higher_occurrence_waits_for_what_became_of_the_lower_one() {
    let bench = Bench::scripted([crate::support::failing()]).await;
    let executor = bench.executor().with_tool(bench.refund());
    is(
        &executor.run(call("refund")).await,
        Outcome::Unknown,
        Code::ServerError,
    );
    let again = executor.run(call("refund").with_occurrence(1)).await;
    is(&again, Outcome::Unknown, Code::StillConfirming);
    assert_eq!(bench.billing.received().len(), 1);

    let done = Bench::start().await;
    let executor = done.executor().with_tool(done.refund());
    is(&executor.run(call("refund")).await, Outcome::Ok, Code::Done);
    is(
        &executor.run(call("refund").with_occurrence(1)).await,
        Outcome::Ok,
        Code::Done,
    );
    assert_eq!(done.billing.commits(), 2);
}

/// A ledger that takes down no end of a call.
struct Forgetful<L>(L);

impl<L: Ledger> Ledger for Forgetful<L> {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        match event {
            Event::Claim(_) | Event::Send { .. } => self.0.apply(key, event),
            _ => Box::pin(async { Err(LedgerError::unavailable(BoxError::from("no disk"))) }),
        }
    }

    tower_outcome_core::forward_ledger!(self => self.0;
        read unresolved due page counts purge changed);
}

#[tokio::test]
async fn a_refusal_is_failed_only_once_it_is_taken_down() {
    let bench = Bench::scripted([rejected(), Step::Answer]).await;
    let forgetful = || Executor::new(Forgetful(Arc::clone(&bench.ledger)));
    let envelope = forgetful()
        .with_tool(bench.refund())
        .run(call("refund"))
        .await;
    is(&envelope, Outcome::Unknown, Code::StillConfirming);

    let bench = Bench::start().await;
    let ledger = Forgetful(Arc::clone(&bench.ledger));
    let executor = Executor::new(ledger).with_tool(bench.refund());
    is(&executor.run(call("refund")).await, Outcome::Ok, Code::Done);

    let bench = Bench::start().await;
    let unsent = Tool::write("refund", |_| async { Err("no".into()) });
    let ledger = Forgetful(Arc::clone(&bench.ledger));
    let envelope = Executor::new(ledger)
        .with_tool(unsent)
        .run(call("refund"))
        .await;
    is(&envelope, Outcome::Failed, Code::HandlerError);
    assert_eq!(envelope.retry(), tower_outcome::Retry::Later);
}

/// A ledger that can be unplugged.
struct Unplugged<L>(L, Arc<std::sync::atomic::AtomicBool>);

impl<L: Ledger> Unplugged<L> {
    fn answer<'a, T: Send + 'a>(&self, answer: LedgerFuture<'a, T>) -> LedgerFuture<'a, T> {
        if self.1.load(std::sync::atomic::Ordering::SeqCst) {
            return Box::pin(async { Err(LedgerError::unavailable(BoxError::from("no power"))) });
        }
        answer
    }
}

impl<L: Ledger> Ledger for Unplugged<L> {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        self.answer(self.0.apply(key, event))
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        self.answer(self.0.read(key))
    }

    fn unresolved(&self, limit: usize) -> LedgerFuture<'_, Listing> {
        self.answer(self.0.unresolved(limit))
    }

    tower_outcome_core::forward_ledger!(self => self.0; due page counts purge changed);
}

#[tokio::test]
async fn without_its_ledger_a_call_sends_nothing_and_a_known_doubt_stays_one() {
    let bench = Bench::scripted([crate::support::failing()]).await;
    let unplugged = Arc::<std::sync::atomic::AtomicBool>::default();
    let ledger = Unplugged(Arc::clone(&bench.ledger), Arc::clone(&unplugged));
    let executor = Executor::new(ledger).with_tool(bench.refund());
    is(
        &executor.run(call("refund")).await,
        Outcome::Unknown,
        Code::ServerError,
    );
    unplugged.store(true, std::sync::atomic::Ordering::SeqCst);
    is(
        &executor.run(call("refund")).await,
        Outcome::Unknown,
        Code::StillConfirming,
    );
    let other = tower_outcome_tools::ToolCall::new("acme", "refund", serde_json::json!({}));
    is(
        &executor.run(other).await,
        Outcome::Failed,
        Code::StoreUnavailable,
    );
    assert_eq!(bench.billing.received().len(), 1);
}

/// A ledger that may forget what it acknowledged.
struct Lossy(MemoryLedger);

impl Ledger for Lossy {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        self.0.apply(key, event)
    }

    tower_outcome_core::forward_ledger!(self => self.0;
        read unresolved due page counts purge changed);

    fn may_lose_writes(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn on_a_ledger_that_may_forget_only_writes_under_honoured_keys_leave() {
    for honoured in [false, true] {
        let bench = Bench::start().await;
        let profile = if honoured {
            Profile::idempotency_key()
        } else {
            Profile::generic()
        };
        let writer = Writer::new(bench.billing.url(), profile);
        let tool = Tool::write("refund", move |arguments| {
            let writer = writer.clone();
            async move { Ok(writer.write("/refunds", &arguments).await?) }
        });
        let executor = Executor::new(Lossy(MemoryLedger::default())).with_tool(tool);
        let envelope = executor.run(call("refund")).await;
        assert_eq!(envelope.outcome() == Outcome::Ok, honoured, "{envelope:?}");
        assert_eq!(bench.billing.received().len(), usize::from(honoured));
    }
}
