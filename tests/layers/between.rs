//! Other people's layers between ours: our errors stay themselves, and theirs prove nothing.

use std::time::Duration;

use http::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tower::buffer::BufferLayer;
use tower::limit::ConcurrencyLimitLayer;
use tower::load_shed::LoadShedLayer;
use tower::retry::RetryLayer;
use tower::timeout::TimeoutLayer;
use tower::{Service as _, ServiceBuilder, ServiceExt as _};
use tower_outcome::transport::Wire;
use tower_outcome::{
    ClaimLayer, Code, DeadlineLayer, KeyLayer, KeyedRetry, MemoryLedger, Outcome, OutcomeBody,
    OutcomeLayer, ShieldLayer,
};
use tower_outcome_testkit::{Billing, Refusing, Step};
use tower_test::mock;

use crate::support::{Mock, intended, left, write};
use crate::whole::{FOREIGN, Fault, Layer, check};

macro_rules! crowded {
    () => {
        tower_outcome::Client::new(
            ServiceBuilder::new()
                .layer(OutcomeLayer::new())
                .layer(DeadlineLayer::new(Duration::from_mins(1)))
                .layer(ShieldLayer::new())
                .layer(LoadShedLayer::new())
                .layer(ConcurrencyLimitLayer::new(4))
                .layer(ClaimLayer::new(MemoryLedger::default()))
                .layer(TimeoutLayer::new(Duration::from_millis(250)))
                .layer(KeyLayer::new())
                .layer(RetryLayer::new(KeyedRetry::new(2)))
                .layer(BufferLayer::new(4))
                .service(Wire::hyper(
                    Client::builder(TokioExecutor::new()).build_http(),
                )),
        )
    };
}

/// The write that all tests make, to a server that is there.
fn to(url: &str) -> Request<OutcomeBody> {
    let mut request = intended();
    *request.uri_mut() = format!("{url}/refunds").parse::<Uri>().unwrap();
    request
}

#[tokio::test]
async fn a_verdict_comes_through_other_layers_as_it_was() {
    let client = crowded!();
    let refusing = Refusing::start().unwrap();
    let verdict = client.send(to(&refusing.url())).await;
    assert_eq!(verdict.code(), Code::ConnectFailed);

    let billing = refusing.open().unwrap();
    let verdict = client.send(to(&billing.url())).await;
    assert_eq!(verdict.code(), Code::Done);
    let verdict = client.send(to(&billing.url())).await;
    assert_eq!(verdict.code(), Code::AlreadyDone);
    assert_eq!(billing.received().len(), 1);
}

/// A timeout below us drops a write that may have left.
#[tokio::test]
async fn anothers_timeout_on_a_write_that_left_is_unknown() {
    let client = crowded!();
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenSilence]);
    let verdict = client.send(to(&billing.url())).await;
    assert_eq!(verdict.outcome(), Outcome::Unknown);
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_foreign_layer_at_any_place_makes_no_word_false() {
    let ours = [
        Layer::Deadline,
        Layer::Shield,
        Layer::Claim,
        Layer::Key,
        Layer::Retry,
    ];
    let places = FOREIGN.into_iter().flat_map(|foreign| {
        (0..=ours.len()).map(move |place| {
            let mut stack = ours.to_vec();
            stack.insert(place, foreign);
            stack
        })
    });
    let stacks: Vec<_> = places.collect();
    for fault in [
        Fault::Close,
        Fault::GatewayError,
        Fault::Refuse,
        Fault::Silence,
    ] {
        check(fault, &stacks).await;
    }
}

#[tokio::test]
async fn what_was_shed_failed() {
    let (service, mut server) = mock::pair();
    let mut client = ServiceBuilder::new()
        .layer(OutcomeLayer::new())
        .layer(LoadShedLayer::new())
        .layer(ConcurrencyLimitLayer::new(1))
        .service::<Mock>(service);
    let first = client.ready().await.unwrap().call(write());
    let _running = left(&mut server).await;
    let Ok(verdict) = client.oneshot(intended()).await;
    assert_eq!(verdict.outcome(), Outcome::Failed);
    drop(first);
}
