//! Many writes at once over one HTTP/2 connection that takes a few and refuses others.

use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::json;
use tokio::task::JoinSet;
use tower_outcome::{Code, Intent, OutcomeClient, Profile, RequestExt as _, Stack};
use tower_outcome_testkit::{Billing, ErrorCode, Frames, Step};

use crate::at_once;

fn over_http2(stack: &Stack) -> OutcomeClient {
    let http = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http();
    stack.over(http).boxed()
}

/// The codes of as many writes, each of an order of its own.
async fn storm(client: &OutcomeClient, billing: &Billing, with_keys: bool) -> Vec<Code> {
    let mut calls = JoinSet::new();
    for order in 0..WRITES {
        let body = json!({ "order": format!("A-{order}"), "amount": 1000 });
        let request = http::Request::post(format!("{}/refunds", billing.url()));
        let request = request.body(body.to_string()).unwrap();
        let client = client.clone();
        calls.spawn(async move {
            let intent = Intent::new("acme", "refund", &body).unwrap();
            let request = if with_keys {
                request.with_intent(intent)
            } else {
                request.map(Into::into)
            };
            client.send(request).await.code()
        });
    }
    calls.join_all().await
}

/// How often each order was committed; orders that were not are left out.
fn commits(billing: &Billing, codes: &[Code]) {
    let done = codes.iter().filter(|code| code.outcome().is_done()).count();
    assert_eq!(billing.commits(), done, "{codes:?}");
}

/// Every third request is refused on its head.
fn refusals() -> impl Iterator<Item = Step> {
    let refused = || Step::Frames(Frames::on_head().reset_stream(ErrorCode::REFUSED_STREAM));
    (0..WRITES).map(move |n| if n % 3 == 0 { refused() } else { Step::Answer })
}

#[tokio::test]
async fn a_storm_of_writes_under_keys_commits_each_once() {
    let billing = Billing::start().await.unwrap();
    billing.allow_streams(8);
    billing.script(refusals());
    let stack = Stack::new()
        .with_profile(Profile::idempotency_key())
        .with_retry(at_once(20));
    let codes = storm(&over_http2(&stack), &billing, true).await;
    assert_eq!(codes, [Code::Done; WRITES]);
    assert_eq!(billing.commits(), WRITES);
}

#[tokio::test]
async fn a_storm_of_writes_without_keys_repeats_the_refused_ones_alone() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.allow_streams(8);
    billing.script(refusals());
    let stack = Stack::new().with_retry(at_once(20).with_unsent_retries());
    let codes = storm(&over_http2(&stack), &billing, false).await;
    assert_eq!(codes, [Code::Done; WRITES]);
    assert_eq!(billing.commits(), WRITES);
}

#[tokio::test]
async fn a_storm_of_writes_without_keys_is_sent_once_and_told_what_was_refused() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.allow_streams(8);
    billing.script(refusals());
    let codes = storm(&over_http2(&Stack::new()), &billing, false).await;
    let refused = codes.iter().filter(|it| **it == Code::RefusedByProtocol);
    assert_eq!(refused.count(), WRITES.div_ceil(3));
    commits(&billing, &codes);
    assert_eq!(billing.received().len(), WRITES);
}

const WRITES: usize = 200;
