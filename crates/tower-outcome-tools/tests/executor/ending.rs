//! Calls that are ended from outside: by their deadline, by their caller, by their handler.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;
use tower_outcome::{Code, Context, Outcome};
use tower_outcome_core::ledger::State;
use tower_outcome_testkit::{Step, Unreachable, What};
use tower_outcome_tools::Tool;

use crate::support::{Bench, SHORT, Writer, call, is};

#[tokio::test]
async fn a_deadline_before_anything_left_is_failed_and_frees_the_claim() {
    let bench = Bench::start().await;
    let silent = Unreachable::start().await.unwrap();
    let writer = Writer::new(silent.url(), tower_outcome::Profile::idempotency_key());
    let tool = Tool::write("refund", move |arguments| {
        let writer = writer.clone();
        async move { Ok(writer.write("/refunds", &arguments).await?) }
    });
    let envelope = bench.run(tool.with_deadline(SHORT)).await;
    is(&envelope, Outcome::Failed, Code::TimeoutBeforeSend);
    assert_eq!(bench.state("refund").await, State::Free);
}

#[tokio::test]
async fn a_handler_that_dawdles_sends_nothing_after_its_deadline() {
    let bench = Bench::start().await;
    let go = Arc::new(Notify::new());
    let held = Arc::clone(&go);
    let tool = bench.tool("refund", move |writer, arguments| {
        let held = Arc::clone(&held);
        async move {
            // In a task that nobody ends, but inside the call.
            let context = Context::current().unwrap();
            let late = tokio::spawn(context.scope(async move {
                held.notified().await;
                writer
                    .write("/refunds", &arguments)
                    .await
                    .map_err(|error| error.code())
            }));
            std::future::pending::<()>().await;
            Ok(json!(late.await?.is_ok()))
        }
    });
    let envelope = bench.run(tool.with_deadline(SHORT)).await;
    is(&envelope, Outcome::Failed, Code::TimeoutBeforeSend);
    go.notify_one();
    // The next call gets there; the late write does not.
    is(&bench.run(bench.refund()).await, Outcome::Ok, Code::Done);
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn a_deadline_after_a_send_is_in_doubt_and_the_late_answer_settles_it() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let envelope = bench.run(bench.refund().with_deadline(SHORT)).await;
    is(&envelope, Outcome::Unknown, Code::TimeoutAfterSend);
    assert_eq!(bench.state("refund").await, State::Unknown);
    is(
        &bench.run(bench.refund()).await,
        Outcome::Unknown,
        Code::StillConfirming,
    );

    bench.billing.release();
    bench.until("refund", State::Done).await;
    let again = bench.run(bench.refund()).await;
    is(&again, Outcome::AlreadyDone, Code::AlreadyDone);
    assert_eq!(again.data()["id"], "re_1");
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test]
async fn a_second_write_does_not_leave_after_the_deadline() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let tool = bench.tool("pair", |writer, arguments| async move {
        writer.write("/a", &arguments).await?;
        Ok(writer.write("/b", &arguments).await?)
    });
    let envelope = bench.run(tool.with_deadline(SHORT)).await;
    is(&envelope, Outcome::Unknown, Code::TimeoutAfterSend);
    bench.billing.release();
    bench.until("pair", State::Partial).await;
    assert_eq!(bench.billing.commits_at("/a"), 1);
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn a_caller_that_leaves_before_anything_left_frees_the_claim() {
    let bench = Bench::start().await;
    let (started, held) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (start, go) = (Arc::clone(&started), Arc::clone(&held));
    let tool = bench.tool("refund", move |writer, arguments| {
        let (start, go) = (Arc::clone(&start), Arc::clone(&go));
        async move {
            start.notify_one();
            go.notified().await;
            Ok(writer.write("/refunds", &arguments).await?)
        }
    });
    let executor = bench.executor().with_tool(tool);
    let caller = tokio::spawn(async move { executor.run(call("refund")).await });
    started.notified().await;
    caller.abort();
    bench.until("refund", State::Free).await;
    held.notify_one();
    let entry = bench.entry("refund").await;
    assert_eq!(entry.code, Some(Code::CancelledBeforeSend));
    is(&bench.run(bench.refund()).await, Outcome::Ok, Code::Done);
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test]
async fn a_caller_that_leaves_after_a_send_stops_nothing() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let tool = bench.tool("pair", |writer, arguments| async move {
        writer.write("/a", &arguments).await?;
        Ok(writer.write("/b", &arguments).await?)
    });
    let executor = bench.executor().with_tool(tool);
    let caller = tokio::spawn(async move { executor.run(call("pair")).await });
    bench
        .billing
        .wait_for(|event| event.what == What::Holding)
        .await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    bench.billing.release();
    bench.until("pair", State::Done).await;
    assert_eq!(bench.billing.commits(), 2);
}

#[tokio::test]
async fn a_write_that_the_handler_left_behind_is_in_doubt_until_it_is_answered() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let sent = Arc::new(Notify::new());
    let wait = Arc::clone(&sent);
    let tool = bench.tool("refund", move |writer, arguments| {
        let wait = Arc::clone(&wait);
        async move {
            let context = Context::current().unwrap();
            tokio::spawn(context.scope(async move { writer.write("/refunds", &arguments).await }));
            wait.notified().await;
            Ok(json!({ "queued": true }))
        }
    });
    let executor = bench.executor().with_tool(tool);
    let caller = tokio::spawn(async move { executor.run(call("refund")).await });
    bench
        .billing
        .wait_for(|event| event.what == What::Holding)
        .await;
    sent.notify_one();
    is(&caller.await.unwrap(), Outcome::Unknown, Code::ResponseLost);
    bench.billing.release();
    bench.until("refund", State::Done).await;
}

#[tokio::test]
async fn a_write_whose_task_the_handler_aborts_is_in_doubt_until_it_is_answered() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let sent = Arc::new(Notify::new());
    let wait = Arc::clone(&sent);
    let tool = bench.tool("refund", move |writer, arguments| {
        let wait = Arc::clone(&wait);
        async move {
            let context = Context::current().unwrap();
            let write = async move { writer.write("/refunds", &arguments).await };
            let write = tokio::spawn(context.scope(write));
            wait.notified().await;
            write.abort();
            Ok(json!(write.await.is_ok()))
        }
    });
    let executor = bench.executor().with_tool(tool);
    let caller = tokio::spawn(async move { executor.run(call("refund")).await });
    bench
        .billing
        .wait_for(|event| event.what == What::Holding)
        .await;
    sent.notify_one();
    is(&caller.await.unwrap(), Outcome::Unknown, Code::ResponseLost);
    bench.billing.release();
    bench.until("refund", State::Done).await;
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test]
async fn a_write_that_the_handler_gave_up_on_is_refused_late() {
    let bench = Bench::scripted([Step::CommitThenHold]).await;
    let sent = Arc::new(Notify::new());
    let wait = Arc::clone(&sent);
    let tool = bench.tool("refund", move |writer, arguments| {
        let wait = Arc::clone(&wait);
        async move {
            tokio::select! {
                answer = writer.write("/refunds", &arguments) => Ok(answer?),
                () = wait.notified() => Err("took too long".into()),
            }
        }
    });
    let executor = bench.executor().with_tool(tool);
    let caller = tokio::spawn(async move { executor.run(call("refund")).await });
    bench
        .billing
        .wait_for(|event| event.what == What::Holding)
        .await;
    sent.notify_one();
    is(&caller.await.unwrap(), Outcome::Unknown, Code::ResponseLost);
    // It is done after all, and the handler said that it had stopped.
    bench.billing.release();
    bench.until("refund", State::Partial).await;
}

#[tokio::test]
async fn the_next_write_of_a_handler_that_returned_stays_at_home() {
    let bench = Bench::start().await;
    let (go, over) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (held, end) = (Arc::clone(&go), Arc::clone(&over));
    let tool = bench.tool("pair", move |writer, arguments| {
        let (held, end) = (Arc::clone(&held), Arc::clone(&end));
        async move {
            let first = writer.write("/a", &arguments).await?;
            let context = Context::current().unwrap();
            tokio::spawn(context.scope(async move {
                held.notified().await;
                let _ = writer.write("/b", &arguments).await;
                end.notify_one();
            }));
            Ok(first)
        }
    });
    is(&bench.run(tool).await, Outcome::Ok, Code::Done);
    go.notify_one();
    over.notified().await;
    assert_eq!(bench.billing.commits_at("/b"), 0);
}

#[tokio::test]
async fn a_single_write_that_was_late_settles_by_the_promise_that_there_is_no_other() {
    for (promised, ends) in [(true, State::Done), (false, State::Unknown)] {
        let bench = Bench::scripted([Step::CommitThenHold]).await;
        let writer = Writer::with_deadline(bench.billing.url(), SHORT);
        let tool = Tool::write("refund", move |arguments| {
            let writer = writer.clone();
            async move { Ok(writer.write("/refunds", &arguments).await?) }
        });
        let tool = if promised {
            tool.with_single_write()
        } else {
            tool
        };
        is(
            &bench.run(tool).await,
            Outcome::Unknown,
            Code::TimeoutAfterSend,
        );
        bench.billing.release();
        bench.until("refund", ends).await;
    }
}
