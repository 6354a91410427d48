//! What became of a call, for the host and for a model.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tower_outcome::{Code, Outcome};
use tower_outcome_core::ledger::{Answer, Entry, EntryKey, Event, Ledger, LedgerFuture, Listing};
use tower_outcome_tools::{Executor, Tool, ToolCall};

use crate::support::{Bench, Stage, call, failing, is, numbered, order, start};

fn ask(arguments: Value) -> ToolCall {
    ToolCall::new("acme", "outcome_status", arguments)
}

#[tokio::test]
async fn a_model_learns_what_became_of_a_call_by_its_key_or_its_arguments() {
    let bench = Bench::start().await;
    let executor = bench
        .executor()
        .with_tool(bench.refund())
        .with_tool(Tool::outcome_status());
    let done = executor.run(call("refund")).await;
    let by_key = ask(json!({ "key": done.key() }));
    let by_arguments = ask(json!({ "tool": "refund", "arguments": order() }));
    for question in [by_key, by_arguments] {
        let told = executor.run(question).await;
        is(&told, Outcome::AlreadyDone, Code::AlreadyDone);
        assert_eq!((told.data(), told.key()), (done.data(), done.key()));
    }
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn a_model_that_asks_about_a_doubt_sends_nothing() {
    let bench = Bench::scripted([failing()]).await;
    let executor = bench.executor().with_tool(bench.refund());
    let lost = executor.run(call("refund")).await;
    is(&lost, Outcome::Unknown, Code::ServerError);
    // Also in the next process, which knows it from the ledger alone.
    for executor in [executor, bench.executor().with_tool(bench.refund())] {
        let executor = executor.with_tool(Tool::outcome_status());
        let told = executor.run(ask(json!({ "key": lost.key() }))).await;
        is(&told, Outcome::Unknown, Code::StillConfirming);
        assert_eq!(told.key(), lost.key());
    }
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn a_question_about_nothing_says_what_is_wrong_with_it() {
    let bench = Bench::start().await;
    let executor = bench
        .executor()
        .with_tool(bench.refund())
        .with_tool(Tool::outcome_status());
    let unknown = executor.run(ask(json!({ "key": "00000000" }))).await;
    is(&unknown, Outcome::Failed, Code::NotSent);
    assert!(unknown.message().contains("not known here"), "{unknown:?}");
    for (question, named) in [
        (json!({}), "key"),
        (json!({ "key": 7 }), "/key"),
        (json!({ "key": "+1234567" }), "/key"),
        (json!({ "key": "00000000", "tool": "refund" }), "either"),
        (json!({ "tool": "no_such", "arguments": {} }), "tool"),
        (
            json!({ "tool": "outcome_status", "arguments": {} }),
            "only reads",
        ),
    ] {
        let envelope = executor.run(ask(question)).await;
        is(&envelope, Outcome::Failed, Code::InvalidArguments);
        assert!(envelope.message().contains(named), "{envelope:?}");
    }
}

#[tokio::test]
async fn a_key_is_known_in_its_own_scope_only() {
    let bench = Bench::start().await;
    let executor = bench
        .executor()
        .with_tool(bench.refund())
        .with_tool(Tool::outcome_status());
    let done = executor.run(call("refund")).await;
    let question = json!({ "key": done.key() });
    let other = ToolCall::new("zenith", "outcome_status", question);
    is(&executor.run(other).await, Outcome::Failed, Code::NotSent);
}

#[tokio::test]
async fn a_host_asks_by_scope_and_key() {
    let bench = Bench::start().await;
    let executor = bench.executor().with_tool(bench.refund());
    let done = executor.run(call("refund")).await;
    let key = bench.entry("refund").await.key.key;
    let told = executor.status_of("acme", &key).await;
    is(&told, Outcome::AlreadyDone, Code::AlreadyDone);
    assert_eq!(told.data(), done.data());
    let elsewhere = executor.status_of("zenith", &key).await;
    is(&elsewhere, Outcome::Failed, Code::NotSent);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_its_turn_is_on_its_way() {
    let stage = Stage::new();
    let executor = Executor::new(tower_outcome::MemoryLedger::default())
        .with_tool(stage.tool("print"))
        .with_concurrency(1);
    let calls = [1, 2].map(|n| start(&executor, numbered("acme", "print", n)));
    assert_eq!(stage.next().await, 1);
    assert!(stage.is_quiet().await);
    let told = executor.status(&numbered("acme", "print", 2)).await;
    is(&told, Outcome::Skipped, Code::AlreadyInProgress);
    stage.let_go(2);
    for call in calls {
        is(&call.await.unwrap(), Outcome::Ok, Code::Done);
    }
}

/// Never answers.
#[derive(Default)]
struct Silent(tower_outcome::MemoryLedger);

impl Ledger for Silent {
    fn apply<'a>(&'a self, _: &'a EntryKey, _: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(std::future::pending())
    }

    fn read<'a>(&'a self, _: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        Box::pin(std::future::pending())
    }

    fn unresolved(&self, _: usize) -> LedgerFuture<'_, Listing> {
        Box::pin(std::future::pending())
    }

    tower_outcome_core::forward_ledger!(self => self.0; due page counts purge changed);
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_never_answers_ends_the_question_at_its_deadline() {
    let stage = Stage::new();
    let limit = Duration::from_secs(2);
    let executor = Executor::new(Arc::new(Silent::default()))
        .with_tool(stage.tool("print"))
        .with_tool(Tool::outcome_status())
        .with_status_deadline(limit);
    let asked = tokio::time::Instant::now();
    let told = executor.status(&numbered("acme", "print", 1)).await;
    is(&told, Outcome::Failed, Code::StoreUnavailable);
    assert_eq!(asked.elapsed(), limit);
    let question = json!({ "tool": "print", "arguments": { "n": 1 } });
    is(
        &executor.run(ask(question)).await,
        Outcome::Failed,
        Code::StoreUnavailable,
    );
}
