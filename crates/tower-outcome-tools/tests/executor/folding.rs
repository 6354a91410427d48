//! One word from the evidence of all writes and the handler's own.

use serde_json::json;
use tower_outcome::{BoxError, Code, Outcome, Profile, Retry};
use tower_outcome_core::ledger::State;
use tower_outcome_testkit::Step;
use tower_outcome_tools::{NothingSent, Tool};

use crate::support::{Bench, Writer, failing, is, order, rejected};

/// Writes to `/a` and then to `/b`, whatever became of `/a`, and reports success.
fn careless(bench: &Bench) -> Tool {
    bench.tool("pair", |writer, arguments| async move {
        let a = writer.write("/a", &arguments).await.ok();
        let b = writer.write("/b", &arguments).await.ok();
        Ok(json!({ "a": a.is_some(), "b": b.is_some() }))
    })
}

/// Writes to `/a` and then to `/b`, and stops at the first error.
fn careful(bench: &Bench) -> Tool {
    bench.tool("pair", |writer, arguments| async move {
        writer.write("/a", &arguments).await?;
        Ok(writer.write("/b", &arguments).await?)
    })
}

#[tokio::test]
async fn writes_that_are_done_and_a_handler_that_says_so_are_ok() {
    let bench = Bench::start().await;
    let envelope = bench.run(careful(&bench)).await;
    is(&envelope, Outcome::Ok, Code::Done);
    assert_eq!(envelope.data()["id"], "re_2");
    assert!(envelope.key().is_some());
    assert!(envelope.deduplicated_until().is_some());
    let entry = bench.entry("pair").await;
    assert_eq!(entry.state, State::Done);
    assert_eq!(entry.writes.len(), 2);
}

#[tokio::test]
async fn a_write_in_doubt_keeps_its_code_and_the_handler_cannot_report_success() {
    let bench = Bench::scripted([failing()]).await;
    let envelope = bench.run(careless(&bench)).await;
    is(&envelope, Outcome::Unknown, Code::ServerError);
    assert_eq!(bench.state("pair").await, State::Unknown);
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test]
async fn writes_that_were_all_refused_are_failed_with_the_refusal() {
    let bench = Bench::scripted([rejected(), rejected()]).await;
    let envelope = bench.run(careless(&bench)).await;
    is(&envelope, Outcome::Failed, Code::Rejected);
    let entry = bench.entry("pair").await;
    assert_eq!(entry.state, State::Failed);
    assert_eq!(entry.generation, 1);
    assert_eq!(bench.billing.commits(), 0);
}

#[tokio::test]
async fn a_refusal_that_the_handler_hands_on_is_failed_with_the_refusal() {
    let bench = Bench::scripted([rejected()]).await;
    is(
        &bench.run(careful(&bench)).await,
        Outcome::Failed,
        Code::Rejected,
    );
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn a_connection_that_was_refused_frees_the_claim() {
    let bench = Bench::start().await;
    let tool = bench.refund();
    let _closed = bench.billing.stop().await.unwrap();
    let executor = tower_outcome_tools::Executor::new(std::sync::Arc::clone(&bench.ledger));
    let envelope = executor
        .with_tool(tool)
        .run(crate::support::call("refund"))
        .await;
    is(&envelope, Outcome::Failed, Code::ConnectFailed);
}

#[tokio::test]
async fn a_part_that_is_done_and_an_error_are_partial_with_what_is_known() {
    let bench = Bench::scripted([Step::Answer, rejected()]).await;
    let envelope = bench.run(careful(&bench)).await;
    is(&envelope, Outcome::Unknown, Code::Partial);
    let writes = envelope.data()["writes"].as_array().unwrap();
    let words: Vec<_> = writes.iter().map(|write| &write["outcome"]).collect();
    assert_eq!(words, ["ok", "failed"]);
    assert_eq!(bench.state("pair").await, State::Partial);
    // It stays so.
    let again = bench.run(careful(&bench)).await;
    is(&again, Outcome::Unknown, Code::Partial);
    assert_eq!(again.data(), envelope.data());
    assert_eq!(bench.billing.received().len(), 2);
}

#[tokio::test]
async fn a_part_that_was_refused_is_not_made_good_by_the_handlers_word() {
    let bench = Bench::scripted([Step::Answer, rejected()]).await;
    let envelope = bench.run(careless(&bench)).await;
    is(&envelope, Outcome::Unknown, Code::Partial);
    assert_eq!(envelope.data()["result"], json!({ "a": true, "b": false }));
}

#[tokio::test]
async fn an_error_of_the_handler_after_a_write_is_partial() {
    let bench = Bench::start().await;
    let tool = bench.tool("refund", |writer, arguments| async move {
        writer.write("/refunds", &arguments).await?;
        Err("the receipt could not be printed".into())
    });
    is(&bench.run(tool).await, Outcome::Unknown, Code::Partial);
}

#[tokio::test]
async fn writes_that_were_all_done_before_are_already_done() {
    let bench = Bench::start().await;
    is(&bench.run(careful(&bench)).await, Outcome::Ok, Code::Done);
    // The same keys once more, by a process whose ledger was lost.
    let lost = Bench::start().await;
    let tool = careful(&bench);
    let envelope = lost.run(tool).await;
    is(&envelope, Outcome::AlreadyDone, Code::AlreadyDone);
    assert_eq!(envelope.data()["id"], "re_2");
    assert_eq!(bench.billing.commits(), 2);
}

#[tokio::test]
async fn a_part_that_was_done_before_and_one_that_is_done_now_are_ok() {
    let bench = Bench::scripted([Step::Answer, rejected()]).await;
    is(
        &bench.run(careful(&bench)).await,
        Outcome::Unknown,
        Code::Partial,
    );
    let lost = Bench::start().await;
    is(&lost.run(careful(&bench)).await, Outcome::Ok, Code::Done);
    assert_eq!(bench.billing.commits(), 2);
}

#[tokio::test]
async fn success_without_any_write_is_no_success() {
    let bench = Bench::start().await;
    let tool = Tool::write("refund", |_| async { Ok(json!("done, believe me")) });
    let envelope = bench.run(tool).await;
    is(&envelope, Outcome::Failed, Code::NotSent);
    assert!(
        envelope.message().contains("without a write"),
        "{envelope:?}"
    );
    assert_eq!(bench.state("refund").await, State::Free);
}

#[tokio::test]
async fn an_error_before_any_write_is_the_handlers() {
    let bench = Bench::start().await;
    let tool = Tool::write("refund", |_| async { Err("secret-token rejected".into()) });
    let envelope = bench.run(tool).await;
    is(&envelope, Outcome::Failed, Code::HandlerError);
    assert!(!envelope.to_json().contains("secret"), "{envelope:?}");
    assert_eq!(bench.state("refund").await, State::Free);
    // It can be mended and tried again.
    is(&bench.run(bench.refund()).await, Outcome::Ok, Code::Done);
}

#[tokio::test]
async fn an_error_of_the_arguments_names_the_field() {
    let bench = Bench::start().await;
    let tool = Tool::write("refund", |_| async {
        Err(tower_outcome_core::Error::invalid("/amount", "is more than was paid").into())
    });
    let envelope = bench.run(tool).await;
    is(&envelope, Outcome::Failed, Code::HandlerError);
    assert!(envelope.message().contains("/amount"), "{envelope:?}");
}

#[tokio::test]
async fn a_panic_before_any_write_is_failed() {
    let bench = Bench::start().await;
    let tool = Tool::write("refund", |_| async { panic!("a bug") });
    is(&bench.run(tool).await, Outcome::Failed, Code::HandlerError);
}

#[tokio::test]
async fn a_panic_after_a_write_is_in_doubt() {
    let bench = Bench::start().await;
    let tool = bench.tool("refund", |writer, arguments| async move {
        writer.write("/refunds", &arguments).await?;
        panic!("a bug")
    });
    is(
        &bench.run(tool).await,
        Outcome::Unknown,
        Code::HandlerPanicked,
    );
    assert_eq!(bench.state("refund").await, State::Unknown);
}

#[tokio::test]
async fn a_panic_after_a_refusal_is_failed_with_the_refusal() {
    let bench = Bench::scripted([rejected()]).await;
    let tool = bench.tool("refund", |writer, arguments| async move {
        let refused = writer.write("/refunds", &arguments).await;
        panic!("no refund: {}", refused.is_err())
    });
    is(&bench.run(tool).await, Outcome::Failed, Code::Rejected);
}

#[tokio::test]
async fn what_one_call_did_is_what_an_identical_one_is_told() {
    let bench = Bench::start().await;
    let first = bench.run(bench.refund()).await;
    let again = bench.run(bench.refund()).await;
    is(&again, Outcome::AlreadyDone, Code::AlreadyDone);
    assert_eq!(again.data(), first.data());
    assert_eq!(again.data()["order"], order()["order"]);
    assert!(again.deduplicated_until().is_some());
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn writes_of_which_one_never_left_and_one_was_refused_are_failed() {
    let bench = Bench::scripted([rejected()]).await;
    let refusing = Bench::start().await.billing.stop().await.unwrap();
    let writer = Writer::new(refusing.url(), Profile::idempotency_key());
    let tool = bench.tool("pair", move |here, arguments| {
        let there = writer.clone();
        async move {
            let there = there.write("/a", &arguments).await.is_ok();
            let here = here.write("/b", &arguments).await.is_ok();
            Ok(json!([there, here]))
        }
    });
    let envelope = bench.run(tool).await;
    assert_eq!(envelope.outcome(), Outcome::Failed, "{envelope:?}");
    assert_eq!(bench.state("pair").await, State::Failed);
}

#[tokio::test]
async fn a_read_back_that_fails_after_a_create_does_not_make_the_call_repeatable() {
    let bench = Bench::start().await;
    let tool = || {
        bench.tool("create", |writer, arguments| async move {
            writer.write("/refunds", &arguments).await?;
            let read_back: Result<_, BoxError> = Err("the new refund is not listed yet".into());
            read_back
        })
    };
    for _ in 0..2 {
        let envelope = bench.run(tool()).await;
        is(&envelope, Outcome::Unknown, Code::Partial);
        assert_eq!(envelope.retry(), Retry::No);
    }
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn an_error_of_the_handler_cannot_turn_a_doubt_into_a_failure() {
    let bench = Bench::scripted([failing()]).await;
    let tool = bench.tool("refund", |writer, arguments| async move {
        let _ = writer.write("/refunds", &arguments).await;
        Err(NothingSent::because("so it says").into())
    });
    let envelope = bench.run(tool).await;
    is(&envelope, Outcome::Unknown, Code::ServerError);
}
