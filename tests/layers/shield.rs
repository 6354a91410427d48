//! A write runs in a task of its own and is never given up by its caller.

use tokio_test::{assert_pending, task};
use tower::limit::ConcurrencyLimitLayer;
use tower::{Service as _, ServiceBuilder, ServiceExt as _};
use tower_outcome::{Code, Outcome, OutcomeLayer, Seen, ShieldLayer};
use tower_test::mock;

use crate::support::{Mock, call, left, paid, queued, read, write};

#[tokio::test(start_paused = true)]
async fn a_cap_below_the_shield_holds_while_the_write_runs() {
    let (service, mut server) = mock::pair();
    let mut client = ServiceBuilder::new()
        .layer(ShieldLayer::new())
        .layer(ConcurrencyLimitLayer::new(1))
        .service::<Mock>(service);

    let first = client.ready().await.unwrap().call(write());
    let (request, answering) = left(&mut server).await;
    drop(first);

    let mut ready = task::spawn(client.ready());
    assert_pending!(ready.poll());
    answering.send_response(paid());
    call(&request).settled().await;
    ready.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cap_above_the_shield_is_none() {
    let (service, mut server) = mock::pair();
    let mut client = ServiceBuilder::new()
        .layer(ConcurrencyLimitLayer::new(1))
        .layer(ShieldLayer::new())
        .service::<Mock>(service);
    let first = client.ready().await.unwrap().call(write());
    let _running = left(&mut server).await;
    drop(first);
    client.ready().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_caller_left_is_sealed_and_runs_on() {
    let (service, mut server) = mock::pair();
    let mut client = ServiceBuilder::new()
        .layer(ShieldLayer::new())
        .service::<Mock>(service);
    let answer = client.ready().await.unwrap().call(write());
    let (request, answering) = left(&mut server).await;
    drop(answer);
    assert!(call(&request).gate().is_sealed());
    answering.send_response(paid());
    call(&request).settled().await;
}

#[tokio::test(start_paused = true)]
async fn a_read_is_dropped_with_its_caller() {
    let (service, mut server) = mock::pair();
    let mut client = ServiceBuilder::new()
        .layer(ShieldLayer::new())
        .layer(ConcurrencyLimitLayer::new(1))
        .service::<Mock>(service);
    let answer = client.ready().await.unwrap().call(read());
    let _unanswered = queued(&mut server).await;
    drop(answer);
    client.ready().await.unwrap();
}

#[tokio::test]
async fn a_panic_below_failed_if_nothing_left_and_is_unknown_otherwise() {
    for (leaves, outcome) in [(false, Outcome::Failed), (true, Outcome::Unknown)] {
        let client = ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(ShieldLayer::new())
            .service_fn(
                move |request: http::Request<tower_outcome::OutcomeBody>| async move {
                    let call = call(&request);
                    if leaves {
                        drop(call.gate().pass());
                    }
                    assert_eq!(call.look(), Seen::InFlight, "a panic on purpose");
                    Err::<crate::support::Reply, tower::BoxError>("not reached".into())
                },
            );
        let Ok(verdict) = client.oneshot(write()).await;
        assert_eq!(verdict.outcome(), outcome, "{}", verdict.code());
        assert_ne!(verdict.code(), Code::Done);
    }
}
