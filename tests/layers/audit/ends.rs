//! A write whose end nobody has seen.

use std::time::Duration;

use http::Response;
use tokio_test::{assert_pending, task};
use tower::timeout::{TimeoutLayer, error::Elapsed};
use tower::{Layer as _, ServiceBuilder, ServiceExt as _};
use tower_outcome::audit::{Audit, Kind};
use tower_outcome_testkit::{Refusing, Step};
use tower_test::mock;

use super::{found, hyper, naive, without_keys, write};

const LIMIT: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_write_whose_future_is_dropped_is_abandoned() {
    let (audit, billing) = (Audit::new(), without_keys().await);
    billing.script([Step::CommitThenSilence]);
    let client = ServiceBuilder::new()
        .layer(audit.layer())
        .layer(audit.layer())
        .service(hyper());
    let call = tokio::spawn(client.oneshot(write(&billing.url())));
    billing.wait_commits(1).await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    assert_eq!(found(&audit), [(Kind::Abandoned, true, 1)]);
}

/// Clients queue the request inside `call`.
#[tokio::test]
async fn a_future_that_was_never_polled_is_abandoned_as_well() {
    let audit = Audit::new();
    drop(tower::Service::call(
        &mut audit.layer().layer(hyper()),
        write("http://127.0.0.1:1"),
    ));
    assert_eq!(found(&audit), [(Kind::Abandoned, true, 1)]);
}

#[tokio::test]
async fn a_connection_that_breaks_leaves_a_write_unanswered() {
    let (audit, billing) = (Audit::new(), without_keys().await);
    billing.script([Step::CommitThenClose]);
    let client = audit.layer().layer(hyper());
    assert!(client.oneshot(write(&billing.url())).await.is_err());
    assert_eq!(found(&audit), [(Kind::Unanswered, true, 1)]);
}

#[tokio::test]
async fn a_connection_that_cannot_be_made_is_no_finding_however_often_it_is_tried() {
    let (audit, refusing) = (Audit::new(), Refusing::start().unwrap());
    let below = ServiceBuilder::new().layer(naive()).layer(audit.layer());
    let client = ServiceBuilder::new()
        .layer(audit.layer())
        .map_err(tower::BoxError::from)
        .layer(below)
        .service(hyper());
    assert!(client.oneshot(write(&refusing.url())).await.is_err());
    assert_eq!(found(&audit), []);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_reported_once_wherever_it_stands() {
    for (above, below) in [(true, false), (false, true)] {
        let audit = Audit::new();
        let (service, mut server) = mock::pair::<_, Response<()>>();
        let client = ServiceBuilder::new()
            .option_layer(above.then(|| TimeoutLayer::new(LIMIT)))
            .layer(audit.layer())
            .option_layer(below.then(|| TimeoutLayer::new(LIMIT)))
            .layer(audit.layer())
            .service(service);
        let mut sent = task::spawn(client.oneshot(write("http://billing")));
        assert_pending!(sent.poll());
        let _unanswered = server.next_request().await.unwrap();
        tokio::time::advance(LIMIT).await;
        let error = sent.await.unwrap_err();
        assert!(error.is::<Elapsed>());
        let kind = if above {
            Kind::Abandoned
        } else {
            Kind::Unanswered
        };
        assert_eq!(found(&audit), [(kind, true, 1)]);
    }
}

/// The upper layer alone could not know.
#[tokio::test(start_paused = true)]
async fn a_timeout_after_attempts_that_were_all_refused_is_no_finding() {
    let audit = Audit::new();
    let (service, mut server) = mock::pair::<_, Response<()>>();
    let client = ServiceBuilder::new()
        .layer(TimeoutLayer::new(LIMIT))
        .layer(audit.layer())
        .map_future(|attempt| async {
            let _refused: Result<Response<()>, tower::BoxError> = attempt.await;
            // A backoff that outlasts the call.
            std::future::pending::<Result<Response<()>, tower::BoxError>>().await
        })
        .layer(audit.layer())
        .service(service);
    let mut sent = task::spawn(client.oneshot(write("http://billing")));
    assert_pending!(sent.poll());
    let (_, answering) = server.next_request().await.unwrap();
    let refused = Response::builder().status(429).body(());
    answering.send_response(refused.unwrap());
    assert_pending!(sent.poll());
    tokio::time::advance(LIMIT).await;
    assert!(sent.await.unwrap_err().is::<Elapsed>());
    assert_eq!(found(&audit), []);
}
