//! Several calls at once: one envelope each, in order, none ended by another.

use serde_json::json;
use tower_outcome::{Code, Outcome};
use tower_outcome_tools::{Tool, ToolCall};

use crate::support::{Bench, call, is, rejected};

fn refund(order: &str) -> ToolCall {
    ToolCall::new("acme", "refund", json!({ "order": order }))
}

#[tokio::test]
async fn each_call_of_a_batch_has_its_own_end_in_the_order_of_the_calls() {
    let bench = Bench::scripted([rejected()]).await;
    let tool = bench.refund().with_concurrency(1);
    let panics = Tool::write("broken", |_| async { panic!("a bug") });
    let executor = bench.executor().with_tool(tool).with_tool(panics);
    let calls = vec![refund("A"), call("broken"), refund("B"), call("no_such")];
    let envelopes = executor.run_all(calls).await;
    is(&envelopes[0], Outcome::Failed, Code::Rejected);
    is(&envelopes[1], Outcome::Failed, Code::HandlerError);
    is(&envelopes[2], Outcome::Ok, Code::Done);
    assert_eq!(envelopes[2].data()["order"], "B");
    is(&envelopes[3], Outcome::Failed, Code::InvalidArguments);
    assert_eq!(bench.billing.commits(), 1);
}

#[tokio::test]
async fn identical_calls_of_a_batch_are_done_once() {
    let bench = Bench::start().await;
    let executor = bench.executor().with_tool(bench.refund());
    let envelopes = executor.run_all(vec![refund("A"); 9]).await;
    let done = |code| envelopes.iter().filter(|it| it.code() == code).count();
    assert_eq!((done(Code::Done), done(Code::AlreadyDone)), (1, 8));
    assert_eq!(bench.billing.received().len(), 1);
}

#[tokio::test]
async fn an_empty_batch_ends_at_once() {
    let bench = Bench::start().await;
    assert!(bench.executor().run_all(Vec::new()).await.is_empty());
}
