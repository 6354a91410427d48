//! What a tool says its API promises, over clients that were told nothing.

use serde_json::json;
use tower_outcome::{Code, ForWrites as _, KeyedRetry, Outcome, OutcomeClient, Profile, Stack};
use tower_outcome_testkit::Step;
use tower_outcome_tools::Tool;

use crate::support::{Bench, call, is};

/// A service that fails after it has done the first write. Its tool asks nobody for promises.
async fn bench() -> Bench {
    Bench::scripted([Step::CommitThenClose]).await
}

fn keyed() -> Profile {
    Profile::idempotency_key().with_replay_marker("idempotent-replayed")
}

fn client(stack: &Stack) -> OutcomeClient {
    let http = reqwest::Client::builder().for_writes().build().unwrap();
    stack.over(http).boxed()
}

fn untold() -> Stack {
    Stack::new().with_retry(KeyedRetry::new(2))
}

fn refund(bench: &Bench, stack: &Stack) -> Tool {
    let url = format!("{}/refunds", bench.billing.url());
    Tool::write_request("refund", client(stack), move |order| {
        http::Request::post(&url).body(order.to_string())
    })
}

#[tokio::test]
async fn a_tool_says_for_a_client_that_was_told_nothing_that_its_api_honours_keys() {
    for host in ["127.0.0.1", "127.0.*"] {
        let bench = bench().await;
        let tool = refund(&bench, &untold()).with_profile(host, keyed());
        is(&bench.run(tool).await, Outcome::Ok, Code::DoneReplayed);
        assert_eq!(bench.billing.received().len(), 2);
        let row = bench.entry("refund").await;
        assert_eq!(row.writes[0].profile.as_deref(), Some("idempotency_key"));
    }
}

#[tokio::test]
async fn nothing_is_promised_where_the_tool_did_not_say_so() {
    let elsewhere = |tool: Tool| tool.with_profile("billing.example", keyed());
    let nowhere = |tool: Tool| tool;
    for say in [elsewhere as fn(Tool) -> Tool, nowhere] {
        let bench = bench().await;
        let tool = say(refund(&bench, &untold()));
        is(&bench.run(tool).await, Outcome::Unknown, Code::ResponseLost);
        assert_eq!(bench.billing.received().len(), 1);
    }
}

/// Whoever told it knows more of the way than the tool does.
#[tokio::test]
async fn a_client_that_was_told_a_profile_goes_by_its_own() {
    let bench = bench().await;
    let told = untold().with_profile(Profile::generic());
    let tool = refund(&bench, &told).with_profile("127.0.0.1", keyed());
    is(&bench.run(tool).await, Outcome::Unknown, Code::ResponseLost);
    assert_eq!(bench.billing.received().len(), 1);
}

/// One client serves tools of several APIs; what one of them says is not said for the others, nor
/// for a call that its handler makes by another tool.
#[tokio::test]
async fn what_a_tool_says_holds_for_its_own_writes_only() {
    let bench = bench().await;
    let inner = bench.executor().with_tool(refund(&bench, &untold()));
    let outer = Tool::write("settle", move |_| {
        let inner = inner.clone();
        async move {
            let told = inner.run(call("refund")).await;
            Ok(json!(told.code().as_str()))
        }
    });
    let outer = outer.with_profile("127.0.0.1", keyed());
    let told = bench.run(outer).await;
    assert_eq!(told.outcome(), Outcome::Unknown, "{told:?}");
    assert_eq!(bench.billing.received().len(), 1);
}

/// The worker behind a gateway knows what it writes to.
#[tokio::test]
async fn a_tool_stacked_in_the_same_call_says_it_for_its_own_writes() {
    let bench = bench().await;
    let tool = refund(&bench, &untold()).with_profile("127.0.0.1", keyed());
    let worker = bench.executor().with_tool(tool);
    let gateway = Tool::write("refund", move |_| {
        let worker = worker.clone();
        async move { Ok(worker.run(call("refund")).await.data().clone()) }
    });
    is(&bench.run(gateway).await, Outcome::Ok, Code::DoneReplayed);
}

#[tokio::test]
async fn a_call_of_which_no_request_can_be_made_has_sent_nothing() {
    let bench = bench().await;
    let tool = Tool::write_request("refund", client(&untold()), |_| {
        http::Request::post("no place").body(String::new())
    });
    is(&bench.run(tool).await, Outcome::Failed, Code::HandlerError);
}
