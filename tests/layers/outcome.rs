//! Every call ends in a verdict, and nothing that is not proof is taken for it.

use tokio_test::{assert_pending, task};
use tower::limit::ConcurrencyLimitLayer;
use tower::{Service as _, ServiceBuilder, ServiceExt as _};
use tower_outcome::{Code, Context, Gate, Outcome, OutcomeLayer};
use tower_test::mock;

use crate::support::{Mock, intent, left, paid, queued, read, write};

#[tokio::test]
async fn an_error_that_nobody_knows_is_unknown_once_the_request_left() {
    let (service, mut server) = mock::pair();
    let client = ServiceBuilder::new()
        .layer(OutcomeLayer::new())
        .service::<Mock>(service);
    let mut sent = task::spawn(client.clone().oneshot(write()));
    assert_pending!(sent.poll());
    left(&mut server).await.1.send_error("who knows");
    let Ok(verdict) = sent.await;
    assert_eq!(verdict.outcome(), Outcome::Unknown);

    let mut sent = task::spawn(client.oneshot(write()));
    assert_pending!(sent.poll());
    queued(&mut server).await.1.send_error("who knows");
    let Ok(verdict) = sent.await;
    assert_eq!(verdict.outcome(), Outcome::Failed);
}

/// Nobody below us has vouched for it.
#[tokio::test]
async fn an_answer_from_a_transport_that_is_not_ours_is_unknown() {
    let (service, mut server) = mock::pair();
    let client = ServiceBuilder::new()
        .layer(OutcomeLayer::new())
        .service::<Mock>(service);
    let mut sent = task::spawn(client.oneshot(write()));
    assert_pending!(sent.poll());
    left(&mut server).await.1.send_response(paid());
    let Ok(verdict) = sent.await;
    assert_eq!(verdict.outcome(), Outcome::Unknown);
}

#[tokio::test]
async fn a_service_that_is_not_ready_is_waited_for() {
    let (service, mut server) = mock::pair();
    let mut client = ServiceBuilder::new()
        .layer(OutcomeLayer::new())
        .layer(ConcurrencyLimitLayer::new(1))
        .service::<Mock>(service);
    let first = client.ready().await.unwrap().call(read());
    let mut ready = task::spawn(client.ready());
    assert_pending!(ready.poll());
    drop(first);
    assert!(ready.is_woken());
    let Ok(client) = ready.await;
    let mut second = task::spawn(client.call(read()));
    assert_pending!(second.poll());
    queued(&mut server).await.1.send_response(paid());
    queued(&mut server).await.1.send_response(paid());
    let Ok(verdict) = second.await;
    assert_eq!(verdict.code(), Code::Done);
}

#[tokio::test]
async fn a_service_that_cannot_be_ready_is_a_verdict_as_well() {
    for (request, code) in [(write(), Code::NotSent), (read(), Code::ReadFailed)] {
        let (service, mut server) = mock::pair();
        server.send_error("out of order");
        let client = ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .service::<Mock>(service);
        let Ok(verdict) = client.oneshot(request).await;
        assert_eq!(verdict.code(), code);
    }
}

#[tokio::test]
async fn a_write_that_lost_its_tool_call_is_refused() {
    let (service, mut server) = mock::pair();
    let layer = OutcomeLayer::new().requiring_context();
    let client = ServiceBuilder::new().layer(layer).service::<Mock>(service);
    let Ok(verdict) = client.clone().oneshot(write()).await;
    assert_eq!(verdict.code(), Code::NotSent);
    assert_pending!(server.poll_request());

    let context = Context::new(&intent(), 0, Gate::new());
    let mut sent = task::spawn(context.scope(client.oneshot(write())));
    assert_pending!(sent.poll());
    let _arrived = queued(&mut server).await;
}
