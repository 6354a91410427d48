//! Layers of the user's that make requests of their own, or hand on what is not the write's.

use std::time::Duration;

use http::{Request, Response};
use tokio::net::TcpListener;
use tower::{Service as _, ServiceBuilder, ServiceExt as _, service_fn};
use tower_outcome::transport::Wire;
use tower_outcome::{
    BoxError, ClaimLayer, Client, Code, KeyLayer, MemoryLedger, Outcome, OutcomeBody, OutcomeLayer,
    Profile, ReplyBody, RequestExt as _, ShieldLayer, Stack,
};
use tower_outcome_testkit::{Billing, Reply, Step};

use crate::clients::{hyper, write};
use crate::{intent, stalling};

/// A retry that is not ours hands on the first answer, a 500, once the second attempt could not
/// connect.
#[tokio::test]
async fn an_answer_of_an_earlier_attempt_is_not_judged_by_a_later_one() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenAnswerWith(Reply::new(500))]);
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed_url = format!("http://{}/refunds", closed.local_addr().unwrap());
    drop(closed);

    let wire = Wire::hyper(hyper());
    let fallback = service_fn(move |request: Request<OutcomeBody>| {
        let wire = wire.clone();
        let uri = closed_url.clone();
        async move {
            let mut second = Request::new(request.body().try_clone().unwrap());
            *second.method_mut() = request.method().clone();
            *second.uri_mut() = uri.parse().unwrap();
            *second.headers_mut() = request.headers().clone();
            *second.extensions_mut() = request.extensions().clone();
            let first = wire.clone().oneshot(request).await?;
            match wire.oneshot(second).await {
                Ok(answer) => Ok(answer),
                Err(_) => Ok::<_, tower_outcome::Error>(first),
            }
        }
    });
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new().with_profile(Profile::idempotency_key()))
            .layer(ShieldLayer::new())
            .layer(KeyLayer::new())
            .service(fallback),
    );
    let verdict = client
        .send(write(&billing.url()).with_intent(intent()))
        .await;
    assert_eq!(billing.commits(), 1);
    assert_eq!(verdict.outcome(), Outcome::Unknown, "{:?}", verdict.code());
}

/// A layer of the user's fetches a token with a client of this crate, and hands that one's error on.
#[tokio::test]
async fn the_error_of_another_write_is_no_word_about_this_one() {
    let tokens = Stack::new()
        .with_deadline(Duration::from_millis(300))
        .keep(hyper());
    let url = stalling().await;
    let billing = Billing::start_without_keys().await.unwrap();
    let wire = Wire::hyper(hyper());
    let authorized = service_fn(move |request: Request<OutcomeBody>| {
        let (mut tokens, wire, fetch) = (tokens.clone(), wire.clone(), write(&url));
        async move {
            tokens.call(fetch).await?;
            wire.oneshot(request).await
        }
    });
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(ShieldLayer::new())
            .layer(ClaimLayer::new(MemoryLedger::default()))
            .layer(KeyLayer::new())
            .service(authorized),
    );
    let verdict = client
        .send(write(&billing.url()).with_intent(intent()))
        .await;
    assert_eq!(billing.received().len(), 0);
    let again = client
        .send(write(&billing.url()).with_intent(intent()))
        .await;
    assert_eq!(
        verdict.outcome(),
        Outcome::Failed,
        "{:?} of what was never sent; the next call: {:?}",
        verdict.code(),
        again.code()
    );
}

/// A layer of the user's below the key, or below the claim, refuses a write.
#[tokio::test]
async fn a_write_refused_by_a_foreign_layer_is_no_read() {
    let refusing = service_fn(|_: Request<OutcomeBody>| async {
        Err::<Response<ReplyBody<String>>, BoxError>("a queue refused it".into())
    });
    let layers = ServiceBuilder::new().layer(OutcomeLayer::new());
    let keyed = layers.clone().layer(KeyLayer::new()).service(refusing);
    let claiming = layers.layer(ClaimLayer::without_ledger()).service(refusing);
    let Ok(verdict) = keyed.oneshot(write("http://billing")).await;
    assert_eq!(verdict.code(), Code::NotSent);
    let Ok(verdict) = claiming.oneshot(write("http://billing")).await;
    assert_eq!(verdict.code(), Code::NotSent);
}

/// A layer of the user's makes a request of its own out of the one that passes, extensions and all.
#[tokio::test]
async fn the_answer_to_a_copied_request_is_no_answer_to_the_write() {
    let billing = Billing::start_without_keys().await.unwrap();
    let wire = Wire::hyper(hyper());
    let tokens = format!("{}/tokens", billing.url());
    let authorized = service_fn(move |request: Request<OutcomeBody>| {
        let wire = wire.clone();
        let mut fetch = Request::post(&tokens)
            .body(OutcomeBody::from("{}"))
            .unwrap();
        *fetch.extensions_mut() = request.extensions().clone();
        async move {
            wire.clone().oneshot(fetch).await?;
            wire.oneshot(request).await
        }
    });
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(ShieldLayer::new())
            .layer(KeyLayer::new())
            .service(authorized),
    );
    let verdict = client.send(write(&billing.url())).await;
    assert_eq!(billing.commits_at("/refunds"), 0);
    assert!(
        !verdict.outcome().is_done(),
        "{:?} of what was never sent",
        verdict.code()
    );
}

/// A layer of the user's looks something up with the write's extensions on its request.
#[tokio::test]
async fn a_read_made_out_of_a_write_has_no_word_about_it() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::AnswerWith(Reply::new(422))]);
    let wire = Wire::hyper(hyper());
    let limits = format!("{}/limits", billing.url());
    let looking = service_fn(move |request: Request<OutcomeBody>| {
        let wire = wire.clone();
        let mut look = Request::get(&limits).body(OutcomeBody::empty()).unwrap();
        *look.extensions_mut() = request.extensions().clone();
        async move {
            wire.clone().oneshot(look).await?;
            wire.oneshot(request).await
        }
    });
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(ShieldLayer::new())
            .service(looking),
    );
    let verdict = client.send(write(&billing.url())).await;
    assert_eq!(billing.received().len(), 2);
    assert_eq!(verdict.code(), Code::Rejected);
}

/// A layer of the user's chooses the host, and knows under which path the API stands there.
#[tokio::test]
async fn a_write_to_another_host_and_below_another_path_is_still_the_write() {
    let billing = Billing::start_without_keys().await.unwrap();
    let wire = Wire::hyper(hyper());
    let base = format!("{}/api/v2", billing.url());
    let routed = service_fn(move |mut request: Request<OutcomeBody>| {
        let path = request.uri().path();
        *request.uri_mut() = format!("{base}{path}").parse().unwrap();
        wire.clone().oneshot(request)
    });
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(ShieldLayer::new())
            .service(routed),
    );
    let verdict = client.send(write("http://billing")).await;
    assert_eq!(verdict.code(), Code::Done);
    assert_eq!(billing.commits_at("/api/v2/refunds"), 1);
}

/// A handler gives up a write that waits for its turn, and makes it again.
#[tokio::test]
async fn a_write_given_up_before_it_was_polled_may_be_made_again() {
    let billing = Billing::start_without_keys().await.unwrap();
    let mut client = Stack::new().keep(hyper());
    let context = tower_outcome::Context::new(&intent(), 0, tower_outcome_core::Gate::new());
    let again = context
        .scope(async {
            drop(client.call(write(&billing.url())));
            client.call(write(&billing.url())).await
        })
        .await;
    assert!(
        again.is_ok(),
        "{:?}; sent: {}",
        again.err(),
        billing.received().len()
    );
}
