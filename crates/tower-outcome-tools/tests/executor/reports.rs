//! What went wrong elsewhere: reports from the field, as far as an executor has a part in them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tower_outcome::{BoxError, Code, MemoryLedger, Outcome, Profile};
use tower_outcome_core::ledger::{
    Answer, Entry, EntryKey, Event, Ledger, LedgerError, LedgerFuture, State, WriteRecord,
};
use tower_outcome_testkit::{Reply, Step, What};
use tower_outcome_tools::reconciler::LookUpFuture;
use tower_outcome_tools::{Executor, Found, Lane, LookUp, Reconciler, Tool, ToolCall};

use crate::support::{Bench, SHORT, Stage, Writer, call, is, numbered, rejected, start};

/// A02: one call, taken up by a gateway and a worker at the same instant.
#[tokio::test]
async fn two_processes_that_take_up_one_call_make_one_ticket() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let process = || {
        bench
            .executor()
            .with_tool(bench.refund())
            .with_patience(SHORT)
    };
    let calls = [process(), process()].map(|process| start(&process, call("refund")));
    let (first, _, rest) = futures_util::future::select_all(calls).await;
    is(&first.unwrap(), Outcome::Skipped, Code::AlreadyInProgress);
    bench.billing.release();
    for call in rest {
        is(&call.await.unwrap(), Outcome::Ok, Code::Done);
    }
    bench.until("refund", State::Done).await;
    assert_eq!(bench.billing.commits(), 1);
}

/// A03: a wrapper that makes `null` of every error, and reports that.
#[tokio::test]
async fn an_answer_that_a_wrapper_swallowed_is_in_doubt() {
    let bench = Bench::scripted([Step::CommitThenClose, Step::CommitThenClose]).await;
    let tool = bench.tool("create", |writer, arguments| async move {
        Ok(writer
            .write("/actions", &arguments)
            .await
            .unwrap_or(Value::Null))
    });
    let envelope = bench.run(tool).await;
    is(&envelope, Outcome::Unknown, Code::ResponseLost);
    assert_eq!(bench.billing.commits(), 1);
}

/// A04: accepted is not done, and nothing that only the answer carried is needed to ask later.
#[tokio::test]
async fn an_order_that_was_accepted_is_not_placed_yet() {
    let accepted = Reply::new(202).with_body(r#"{"order_uuid":"o-1","processing_status":""}"#);
    let bench = Bench::scripted([Step::CommitThenAnswerWith(accepted)]).await;
    is(
        &bench.run(bench.refund()).await,
        Outcome::Unknown,
        Code::AcceptedPending,
    );
    let entry = bench.entry("refund").await;
    let sent = bench.billing.received();
    assert_eq!(sent[0].key(), Some(&*entry.writes[0].wire_key));
    let again = bench.run(bench.refund()).await;
    is(&again, Outcome::Unknown, Code::StillConfirming);
    assert_eq!(bench.billing.received().len(), 1);
}

/// A10: a tool that returns its error is not a success.
#[tokio::test]
async fn an_error_that_a_tool_returns_as_its_result_is_a_failure() {
    let bench = Bench::scripted([rejected()]).await;
    let tool = bench.tool("create", |writer, arguments| async move {
        let refused = writer.write("/files", &arguments).await.is_err();
        Ok(json!({ "isError": refused, "content": [{ "text": "File already exists" }] }))
    });
    is(&bench.run(tool).await, Outcome::Failed, Code::Rejected);
    assert_eq!(bench.state("create").await, State::Failed);
}

/// Takes down everything but how calls ended.
struct Forgetful(Arc<MemoryLedger>);

impl Ledger for Forgetful {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        match event {
            Event::Settle { .. } => {
                Box::pin(async { Err(LedgerError::unavailable(BoxError::from("down"))) })
            }
            event => self.0.apply(key, event),
        }
    }

    tower_outcome_core::forward_ledger!(self => self.0;
        read unresolved due page counts purge changed);
}

/// A10: bookkeeping that fails afterwards does not make a success a failure.
#[tokio::test]
async fn a_success_stays_one_if_it_cannot_be_taken_down() {
    let bench = Bench::start().await;
    let executor = Executor::new(Forgetful(Arc::clone(&bench.ledger)));
    let executor = executor.with_tool(bench.refund());
    is(&executor.run(call("refund")).await, Outcome::Ok, Code::Done);
    // The next process does not know, and does not send.
    bench.advance(Duration::from_secs(90));
    is(
        &bench.run(bench.refund()).await,
        Outcome::Unknown,
        Code::StillConfirming,
    );
    assert_eq!(bench.billing.commits(), 1);
}

/// A11: a second worker starts at 181 s, while the first one's call takes 240 s.
#[tokio::test(start_paused = true)]
async fn a_long_call_is_not_taken_for_dead_while_it_runs() {
    let bench = Bench::start().await;
    let stage = Stage::new();
    let worker = || {
        let executor = bench.executor().with_tool(stage.tool("print"));
        executor.with_deadline(Duration::from_mins(5))
    };
    let first = start(&worker(), call("print"));
    stage.next().await;
    bench.advance(Duration::from_secs(181));
    let second = worker().with_patience(Duration::ZERO);
    is(
        &second.run(call("print")).await,
        Outcome::Skipped,
        Code::AlreadyInProgress,
    );
    bench.advance(Duration::from_secs(59));
    stage.let_go(1);
    is(&first.await.unwrap(), Outcome::Ok, Code::Done);
    is(
        &second.run(call("print")).await,
        Outcome::AlreadyDone,
        Code::AlreadyDone,
    );
}

/// A12: an engine runs a node again from its top, for each approval once more.
#[tokio::test]
async fn a_node_that_is_entered_again_makes_each_write_once() {
    let bench = Bench::start().await;
    let executor = bench.executor().with_tool(bench.refund());
    let calls = ["A", "B", "C"].map(|it| ToolCall::new("acme", "refund", json!({ "order": it })));
    for approved in 1..=calls.len() {
        let pass = executor.run_all(calls[..approved].to_vec()).await;
        for envelope in &pass[..approved - 1] {
            is(envelope, Outcome::AlreadyDone, Code::AlreadyDone);
        }
        is(&pass[approved - 1], Outcome::Ok, Code::Done);
    }
    assert_eq!(bench.billing.received().len(), 3);
}

/// A14: two edits of one account at once, of which the last one wins.
#[tokio::test]
async fn two_edits_of_one_account_are_both_in_it() {
    let accounts = Arc::new([const { AtomicI64::new(0) }; 9]);
    let books = Arc::clone(&accounts);
    let tool = Tool::opaque_write("edit", move |arguments: Value| {
        let books = Arc::clone(&books);
        async move {
            let account = &books[usize::try_from(arguments["account"].as_u64().unwrap())?];
            let read = account.load(Ordering::SeqCst);
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            account.store(read + arguments["add"].as_i64().unwrap(), Ordering::SeqCst);
            Ok(Value::Null)
        }
    });
    let tool = tool.with_lanes(|_, arguments| [Lane::new(arguments["account"].to_string())]);
    let executor = Executor::new(MemoryLedger::default()).with_tool(tool);
    let edit = |account: i64, add: i64| {
        ToolCall::new("acme", "edit", json!({ "account": account, "add": add }))
    };
    let calls = vec![edit(7, 1), edit(7, 20), edit(8, 300)];
    for envelope in executor.run_all(calls).await {
        is(&envelope, Outcome::Ok, Code::Done);
    }
    let now = [7, 8].map(|account: usize| accounts[account].load(Ordering::SeqCst));
    assert_eq!(now, [21, 300]);
}

/// A15: the user cancels a batch of which one call is under way and two wait.
#[tokio::test]
async fn a_batch_that_is_cancelled_ends_what_has_not_left_and_nothing_else() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let executor = bench
        .executor()
        .with_tool(bench.refund())
        .with_concurrency(1);
    let refund = |it: &str| ToolCall::new("acme", "refund", json!({ "order": it }));
    let calls = vec![call("refund"), refund("B"), refund("C")];
    let batch = tokio::spawn({
        let executor = executor.clone();
        async move { executor.run_all(calls).await }
    });
    bench
        .billing
        .wait_for(|event| event.what == What::Holding)
        .await;
    batch.abort();
    assert!(batch.await.unwrap_err().is_cancelled());
    for queued in ["B", "C"] {
        let told = executor.status(&refund(queued)).await;
        is(&told, Outcome::Failed, Code::NotSent);
    }
    bench.billing.release();
    bench.until("refund", State::Done).await;
    assert_eq!(bench.billing.received().len(), 1);
}

/// A16: a session that has expired is opened anew, and what was refused for it is sent once more.
#[tokio::test]
async fn what_an_expired_session_refused_is_sent_once_more_and_what_was_lost_is_not() {
    let expired = || Step::AnswerWith(Reply::new(404).with_body(r#"{"error":"no session"}"#));
    for (step, outcome, code, requests) in [
        (expired(), Outcome::Ok, Code::Done, 2),
        (
            Step::CommitThenClose,
            Outcome::Unknown,
            Code::ResponseLost,
            1,
        ),
    ] {
        let bench = Bench::scripted([step]).await;
        let tool = bench.tool("call", |writer, arguments| async move {
            match writer.write("/tools/call", &arguments).await {
                // By the word, and not by what the text says.
                Err(refused) if refused.outcome() == Outcome::Failed => {
                    Ok(writer.write("/tools/call", &arguments).await?)
                }
                told => Ok(told?),
            }
        });
        is(&bench.run(tool).await, outcome, code);
        assert_eq!(bench.billing.received().len(), requests);
        assert_eq!(bench.billing.commits(), 1);
    }
}

/// A19: nothing that a tool says of itself makes it be tried again.
#[tokio::test]
async fn a_lost_answer_of_a_service_without_keys_is_not_tried_again() {
    let bench = Bench::scripted([Step::CommitThenClose]).await;
    let writer = Writer::new(bench.billing.url(), Profile::default());
    let tool = Tool::write("refund", move |arguments| {
        let writer = writer.clone();
        async move { Ok(writer.write("/automations", &arguments).await?) }
    });
    is(&bench.run(tool).await, Outcome::Unknown, Code::ResponseLost);
    assert_eq!(bench.billing.received().len(), 1);
}

/// A22: mail is handed over, and the confirmation comes after the client gave up.
#[tokio::test(start_paused = true)]
async fn a_mail_whose_confirmation_is_late_is_sent_once() {
    let stage = Stage::new();
    let executor = Executor::new(MemoryLedger::default())
        .with_tool(stage.tool("send"))
        .with_deadline(Duration::from_mins(1));
    let mail = || numbered("acme", "send", 1);
    is(
        &executor.run(mail()).await,
        Outcome::Unknown,
        Code::TimeoutAfterSend,
    );
    assert_eq!(stage.next().await, 1);
    for _ in 0..4 {
        let again = executor.run(mail()).await;
        is(&again, Outcome::Unknown, Code::StillConfirming);
    }
    stage.let_go(1);
    assert!(stage.is_quiet().await);
    is(
        &executor.run(mail()).await,
        Outcome::AlreadyDone,
        Code::AlreadyDone,
    );
}

/// Finds a write at the third look, as behind a replica that lags.
struct Lagging {
    looks: AtomicI64,
}

impl LookUp for Lagging {
    fn find<'a>(&'a self, _: &'a Entry, _: &'a WriteRecord) -> LookUpFuture<'a> {
        Box::pin(async {
            match self.looks.fetch_add(1, Ordering::SeqCst) {
                0 => Ok(Found::NotFound),
                1 => Err("503".into()),
                _ => Ok(Found::Done(json!({ "id": "re_1" }))),
            }
        })
    }
}

/// A18: a list that does not show it yet, or cannot be read, is no evidence of absence.
#[tokio::test]
async fn what_is_not_found_at_first_stays_in_doubt_until_it_is() {
    let bench = Bench::scripted([Step::CommitThenClose, Step::CommitThenClose]).await;
    let executor = bench.executor();
    let executor = executor.with_tool(bench.refund().with_single_write());
    let lost = executor.run(call("refund")).await;
    is(&lost, Outcome::Unknown, Code::ResponseLost);
    let looks = AtomicI64::new(0);
    let reconciler = Reconciler::new(Arc::clone(&bench.ledger), Lagging { looks });
    for _ in 0..2 {
        assert_eq!(reconciler.pass().await.unwrap().open.len(), 1);
        bench.advance(Duration::from_mins(1));
        let told = executor.run(call("refund")).await;
        is(&told, Outcome::Unknown, Code::StillConfirming);
    }
    assert_eq!(reconciler.pass().await.unwrap().confirmed.len(), 1);
    let told = executor.run(call("refund")).await;
    is(&told, Outcome::AlreadyDone, Code::AlreadyDone);
    assert_eq!(bench.billing.commits(), 1);
}

/// A24: a card that is declined does not stand in the way of another one, nor of itself.
#[tokio::test]
async fn a_decline_does_not_block_a_later_valid_try() {
    let bench = Bench::scripted([rejected()]).await;
    let charge = bench.tool("charge", |writer, arguments| async move {
        Ok(writer.write("/charges", &arguments).await?)
    });
    let executor = bench.executor().with_tool(charge);
    let charge = |card: &str| ToolCall::new("acme", "charge", json!({ "card": card }));
    is(
        &executor.run(charge("old")).await,
        Outcome::Failed,
        Code::Rejected,
    );
    for card in ["new", "old"] {
        is(&executor.run(charge(card)).await, Outcome::Ok, Code::Done);
    }
    assert_eq!(bench.billing.commits(), 2);
}

/// A24: the provider answers in time, the client gave up before; and one order for two amounts.
#[tokio::test]
async fn a_charge_of_another_amount_is_not_answered_with_the_first_one() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let tool = bench.refund().key("/order").matches("/amount");
    let executor = bench.executor().with_tool(tool);
    let hasty = executor.clone().with_deadline(SHORT);
    is(
        &hasty.run(call("refund")).await,
        Outcome::Unknown,
        Code::TimeoutAfterSend,
    );
    let other = ToolCall::new("acme", "refund", json!({ "order": "A-1", "amount": 500 }));
    is(
        &executor.run(other.clone()).await,
        Outcome::Unknown,
        Code::StillConfirming,
    );
    bench.billing.release();
    while executor.status(&call("refund")).await.outcome() != Outcome::AlreadyDone {
        tokio::task::yield_now().await;
    }
    is(
        &executor.run(other).await,
        Outcome::Failed,
        Code::KeyConflict,
    );
    assert_eq!(bench.billing.commits(), 1);
}
