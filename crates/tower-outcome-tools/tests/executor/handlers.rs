//! What a handler may do, and how its writes are told apart.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tower_outcome::{BoxError, Code, Context, Outcome, Retry};
use tower_outcome_core::ledger::State;
use tower_outcome_testkit::Step;
use tower_outcome_tools::{NothingSent, Tool};

use crate::support::{Bench, SHORT, call, failing, is, rejected};

#[tokio::test]
async fn a_retry_inside_the_handler_carries_the_same_key() {
    let bench = Bench::scripted([Step::CommitThenClose]).await;
    let tool = bench.tool("refund", |writer, arguments| async move {
        match writer.write("/refunds", &arguments).await {
            Ok(answer) => Ok(answer),
            Err(_) => Ok(writer.write("/refunds", &arguments).await?),
        }
    });
    let envelope = bench.run(tool).await;
    assert!(envelope.outcome().is_done(), "{envelope:?}");
    let keys: Vec<_> = bench.billing.received();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0].key(), keys[1].key());
    assert!(keys[0].key().is_some());
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test]
async fn another_write_to_the_same_route_is_refused_and_told_of_steps() {
    let bench = Bench::start().await;
    let tool = bench.tool("refund", |writer, arguments| async move {
        writer.write("/refunds", &arguments).await?;
        Ok(writer.write("/refunds", &json!({ "order": "B" })).await?)
    });
    let envelope = bench.run(tool).await;
    is(&envelope, Outcome::Unknown, Code::Partial);
    assert!(envelope.message().contains("step"), "{envelope:?}");
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test]
async fn steps_tell_writes_to_the_same_route_apart() {
    let bench = Bench::start().await;
    let tool = bench.tool("refund", |writer, arguments| async move {
        let context = Context::current().ok_or("no context")?;
        let one = writer.write("/refunds", &arguments);
        context.step("one").scope(one).await?;
        let other = json!({ "order": "B" });
        Ok(context
            .step("two")
            .scope(writer.write("/refunds", &other))
            .await?)
    });
    is(&bench.run(tool).await, Outcome::Ok, Code::Done);
    let received = bench.billing.received();
    assert_ne!(received[0].key(), received[1].key());
    assert_eq!(bench.billing.commits(), 2);
}

#[tokio::test]
async fn a_write_of_a_task_that_lost_its_call_is_refused() {
    let bench = Bench::start().await;
    let tool = bench.tool("refund", |writer, arguments| async move {
        let lost = tokio::spawn(async move { writer.write("/refunds", &arguments).await });
        Ok(lost.await??)
    });
    let envelope = bench.run(tool).await;
    is(&envelope, Outcome::Failed, Code::NotSent);
    assert!(
        envelope.message().contains("Context::scope"),
        "{envelope:?}"
    );
    assert!(bench.billing.received().is_empty());
}

#[tokio::test]
async fn a_tool_that_reads_cannot_write() {
    let bench = Bench::start().await;
    let writer = bench.writer();
    let tool = Tool::read("refund", move |arguments| {
        let writer = writer.clone();
        async move { Ok(writer.write("/refunds", &arguments).await?) }
    });
    let envelope = bench.run(tool).await;
    is(&envelope, Outcome::Failed, Code::ReadFailed);
    assert!(envelope.message().contains("only reads"), "{envelope:?}");
    assert!(bench.billing.received().is_empty());
}

#[tokio::test]
async fn a_tool_that_reads_cannot_write_through_another_tool() {
    let bench = Bench::start().await;
    let inner = bench.executor().with_tool(bench.refund());
    let tool = Tool::read("look", move |_| {
        let inner = inner.clone();
        async move { Ok(json!(inner.run(call("refund")).await)) }
    });
    let envelope = bench.run(tool).await;
    assert_eq!(envelope.data()["outcome"], "failed");
    assert!(bench.billing.received().is_empty());
}

#[tokio::test]
async fn reads_answer_fail_time_out_and_panic_without_a_row() {
    let bench = Bench::start().await;
    let run = async |tool: Tool| bench.run(tool).await;
    let found = run(Tool::read("look", |_| async { Ok(json!(7)) })).await;
    is(&found, Outcome::Ok, Code::Done);
    assert_eq!(found.data(), &json!(7));

    let lost = run(Tool::read("look", |_| async { Err("no".into()) })).await;
    is(&lost, Outcome::Failed, Code::ReadFailed);
    assert_eq!(lost.retry(), Retry::Yes);

    let slow = Tool::read("look", |_| std::future::pending()).with_deadline(SHORT);
    is(&run(slow).await, Outcome::Failed, Code::ReadFailed);

    let broken = run(Tool::read("look", |_| async { panic!("a bug") })).await;
    is(&broken, Outcome::Failed, Code::ReadFailed);
}

#[tokio::test]
async fn an_opaque_tool_is_believed_when_it_says_that_it_is_done() {
    let bench = Bench::start().await;
    let tool = || Tool::opaque_write("print", |_| async { Ok(json!({ "job": 1 })) });
    is(&bench.run(tool()).await, Outcome::Ok, Code::Done);
    let again = bench.run(tool()).await;
    is(&again, Outcome::AlreadyDone, Code::AlreadyDone);
    assert_eq!(again.data(), &json!({ "job": 1 }));
}

#[tokio::test]
async fn an_opaque_tool_that_fails_is_in_doubt_unless_it_knows_better() {
    let bench = Bench::start().await;
    let knows = Tool::opaque_write("print", |_| async {
        Err(BoxError::from(NothingSent::because("out of paper")))
    });
    let envelope = bench.run(knows).await;
    is(&envelope, Outcome::Failed, Code::HandlerError);
    assert!(envelope.message().contains("out of paper"));
    assert_eq!(bench.state("print").await, State::Free);

    let fails = Tool::opaque_write("print", |_| async { Err("broken pipe".into()) });
    is(
        &bench.run(fails).await,
        Outcome::Unknown,
        Code::ResponseLost,
    );
    assert_eq!(bench.state("print").await, State::Unknown);
}

#[tokio::test]
async fn an_opaque_tool_that_hangs_or_panics_is_in_doubt() {
    let bench = Bench::start().await;
    let hangs = Tool::opaque_write("print", |_| std::future::pending()).with_deadline(SHORT);
    is(
        &bench.run(hangs).await,
        Outcome::Unknown,
        Code::TimeoutAfterSend,
    );
    assert_eq!(bench.state("print").await, State::Unknown);

    let panics = Tool::opaque_write("fax", |_| async { panic!("a bug") });
    is(
        &bench.run(panics).await,
        Outcome::Unknown,
        Code::HandlerPanicked,
    );
}

#[tokio::test]
async fn an_opaque_tool_that_says_done_over_a_refused_write_did_a_part() {
    let bench = Bench::scripted([rejected()]).await;
    let writer = bench.writer();
    let tool = Tool::opaque_write("refund", move |arguments| {
        let writer = writer.clone();
        async move { Ok(json!(writer.write("/refunds", &arguments).await.is_ok())) }
    });
    is(&bench.run(tool).await, Outcome::Unknown, Code::Partial);
}

#[tokio::test]
async fn what_a_tool_does_through_another_tool_is_its_own_doing() {
    for (step, outcome, code) in [
        (Step::Answer, Outcome::Ok, Code::Done),
        (failing(), Outcome::Unknown, Code::ServerError),
        (rejected(), Outcome::Failed, Code::Rejected),
    ] {
        let bench = Bench::scripted([step]).await;
        let executor = bench
            .executor()
            .with_concurrency(1)
            .with_tool(bench.refund());
        let inner = executor.clone();
        let outer = Tool::write("resolve", move |_| {
            let inner = inner.clone();
            async move { Ok(json!(inner.run(call("refund")).await)) }
        });
        let envelope = executor.with_tool(outer).run(call("resolve")).await;
        is(&envelope, outcome, code);
    }
}

#[tokio::test]
async fn what_a_tool_does_through_another_executor_is_its_own_doing() {
    let bench = Bench::start().await;
    let other = Bench::start().await;
    let inner = other.executor().with_tool(other.refund());
    let outer = Tool::write("resolve", move |_| {
        let inner = inner.clone();
        async move { Ok(json!(inner.run(call("refund")).await)) }
    });
    let envelope = bench.run(outer).await;
    is(&envelope, Outcome::Ok, Code::Done);
    assert_eq!(other.billing.commits(), 1);
}

#[tokio::test]
async fn nothing_of_a_call_that_wrote_is_kept_once_it_has_ended() {
    for step in [Step::Answer, rejected(), failing()] {
        let bench = Bench::scripted([step]).await;
        let kept = Arc::new(());
        let held = Arc::clone(&kept);
        let tool = bench.tool("refund", move |writer, arguments| {
            let held = Arc::clone(&held);
            async move {
                let told = writer.write("/refunds", &arguments).await;
                drop(held);
                Ok(told?)
            }
        });
        let executor = bench.executor().with_tool(tool);
        executor.run(call("refund")).await;
        assert_eq!(executor.drain(Duration::from_secs(20)).await, 0);
        drop(executor);
        // The ledger goes with the executor, the executor with its calls.
        let gone = async {
            while Arc::strong_count(&bench.ledger) > 1 || Arc::strong_count(&kept) > 1 {
                tokio::task::yield_now().await;
            }
        };
        let gone = tokio::time::timeout(Duration::from_secs(20), gone).await;
        assert!(gone.is_ok(), "something of it is kept");
    }
}
