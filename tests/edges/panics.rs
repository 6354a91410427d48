//! What the user's own parts do: panic, hang, ask for a lease without end.

use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use tower::{ServiceBuilder, service_fn};
use tower_outcome::transport::Wire;
use tower_outcome::{
    BoxError, ClaimLayer, Client, Code, KeyLayer, MemoryLedger, Outcome, OutcomeBody, OutcomeLayer,
    ReplyBody, RequestExt as _, ShieldLayer, Stack,
};
use tower_outcome_testkit::{Billing, Reply, Step};

use crate::clients::{hyper, write};
use crate::intent;

/// Something of the user's below the claim panics before anything has left.
#[tokio::test]
async fn a_panic_below_the_claim_leaves_no_claim_behind_a_failed() {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(ShieldLayer::new())
            .layer(ClaimLayer::new(MemoryLedger::default()).with_patience(Duration::ZERO))
            .layer(KeyLayer::new())
            .service(service_fn(move |_: Request<OutcomeBody>| {
                let first = count.fetch_add(1, Ordering::SeqCst) == 0;
                async move {
                    assert!(!first, "a layer of the user's panics");
                    Ok::<_, BoxError>(Response::new(ReplyBody::<String>::whole("ok".into())))
                }
            })),
    );
    let first = client
        .send(write("http://billing").with_intent(intent()))
        .await;
    let second = client
        .send(write("http://billing").with_intent(intent()))
        .await;
    let told = (first.code(), second.code());
    assert!(
        first.outcome() != Outcome::Failed || calls.load(Ordering::SeqCst) == 2,
        "a proven `failed` frees the intent: {told:?}"
    );
}

/// New credentials end in a panic, after an answer that proves that nothing happened.
#[tokio::test]
async fn a_refresh_that_panics_leaves_no_claim_behind_a_failed() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::AnswerWith(Reply::new(401))]);
    let fetch = || async { panic!("the vault is closed") };
    let claims = ClaimLayer::new(MemoryLedger::default()).with_patience(Duration::ZERO);
    let stack = Stack::new()
        .with_claims(claims)
        .with_retry(tower_outcome::KeyedRetry::new(3).with_refresh(fetch));
    let client = stack.over(hyper()).boxed();
    let first = client
        .send(write(&billing.url()).with_intent(intent()))
        .await;
    let second = client
        .send(write(&billing.url()).with_intent(intent()))
        .await;
    assert!(
        first.outcome() != Outcome::Failed || second.code() == Code::Done,
        "{:?}, then {:?}",
        first.code(),
        second.code()
    );
}

/// New credentials never come.
#[tokio::test(start_paused = true)]
async fn a_refresh_that_hangs_ends_with_the_deadline() {
    let service = service_fn(|_: Request<OutcomeBody>| {
        let body = http_body_util::Full::<Bytes>::from("{}");
        ready(Ok::<_, BoxError>(
            Response::builder().status(401).body(body).unwrap(),
        ))
    });
    let stack = Stack::new()
        .with_deadline(Duration::from_secs(1))
        .with_retry(tower_outcome::KeyedRetry::new(3).with_refresh(pending::<HeaderMap>));
    let client = Client::new(tower::Layer::layer(&stack, Wire::unknown(service)));
    let sent = tokio::time::timeout(
        Duration::from_hours(1),
        client.send(write("http://billing")),
    );
    assert_eq!(sent.await.unwrap().code(), Code::TimeoutBeforeSend);
}

#[tokio::test]
async fn a_lease_without_end_does_not_panic() {
    let billing = Billing::start_without_keys().await.unwrap();
    let claims = ClaimLayer::new(MemoryLedger::default()).with_lease(Duration::MAX);
    let client = Stack::new().with_claims(claims).over(hyper()).boxed();
    let verdict = client
        .send(write(&billing.url()).with_intent(intent()))
        .await;
    assert_eq!(verdict.code(), Code::Done);
}
