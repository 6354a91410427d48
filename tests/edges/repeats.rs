//! The same write twice, by one watch or under one key.

use std::time::Duration;

use http::Request;
use tower::{Service as _, ServiceBuilder, ServiceExt as _, service_fn};
use tower_outcome::transport::Wire;
use tower_outcome::{
    Client, Conclusion, KeyLayer, OutcomeBody, OutcomeLayer, Profile, RequestExt as _, ShieldLayer,
    Stack, Watch,
};
use tower_outcome_testkit::{Billing, Step};

use crate::clients::{hyper, write};
use crate::intent;

/// Two requests with one watch, the second made before the first has left.
#[tokio::test]
async fn one_watch_lets_no_two_unkeyed_writes_out() {
    let billing = Billing::start_without_keys().await.unwrap();
    let mut client = Stack::new().keep(hyper());
    let watch = Watch::new();
    let make = || {
        let mut request = write(&billing.url());
        request.extensions_mut().insert(watch.clone());
        request
    };
    let first = client.call(make());
    let second = client.call(make());
    let _ = tokio::join!(first, second);
    assert_eq!(billing.received().len(), 1);
}

/// Two calls under one key that nobody honours; a layer between key and transport takes its time.
#[tokio::test]
async fn two_calls_under_a_key_that_nobody_honours_make_one_write() {
    let billing = Billing::start_without_keys().await.unwrap();
    let wire = Wire::hyper(hyper());
    let slow = service_fn(move |request: Request<OutcomeBody>| {
        let wire = wire.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            wire.oneshot(request).await
        }
    });
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(ShieldLayer::new())
            .layer(KeyLayer::new())
            .service(slow),
    );
    let make = || write(&billing.url()).with_intent(intent());
    let _ = tokio::join!(client.send(make()), client.send(make()));
    assert_eq!(billing.received().len(), 1);
}

/// Two calls that are both safe to repeat share a watch, and the first one ends.
#[tokio::test]
async fn a_watch_does_not_give_one_call_the_word_of_another() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let unkept = Stack::new().with_profile(Profile::idempotency_key());
    let mut client = unkept.keep(hyper());
    let watch = Watch::new();
    let make = |url: &str| {
        let mut request = write(url).with_intent(intent());
        request.extensions_mut().insert(watch.clone());
        request
    };
    let refused = client.call(make("http://127.0.0.1:1"));
    let held = tokio::spawn(client.call(make(&billing.url())));
    billing.wait_commits(1).await;
    let _ = refused.await;
    let told = watch.verdict().map(|it| it.code());
    let latest = watch.call().unwrap();
    held.abort();
    assert!(
        told.is_none() || told == latest.conclusion().map(Conclusion::code),
        "the watch says {told:?}, of {latest:?}"
    );
}
