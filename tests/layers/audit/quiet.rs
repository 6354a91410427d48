//! What is no finding.

use http::{Request, Response};
use tower::{ServiceBuilder, ServiceExt as _};
use tower_outcome::audit::{Audit, Kind};
use tower_outcome_testkit::{Billing, Reply, Step};

use super::{Body, found, hyper, keyed, naive, without_keys, write};

#[tokio::test]
async fn a_write_that_keeps_its_key_may_be_repeated() {
    let billing = Billing::start().await.unwrap();
    let audit = Audit::new();
    billing.script([
        Step::CommitThenClose,
        Step::CommitThenAnswerWith(Reply::new(503)),
    ]);
    let client = ServiceBuilder::new()
        .layer(audit.layer())
        .layer(naive())
        .layer(audit.layer())
        .service(hyper());
    let answer = client.oneshot(keyed(&billing.url(), "k")).await.unwrap();
    assert_eq!(answer.status(), 201);
    assert_eq!(billing.received().len(), 3);
    assert_eq!(found(&audit), []);
}

#[tokio::test]
async fn a_write_that_keeps_its_key_is_recognised_below_the_retry_alone() {
    let billing = Billing::start().await.unwrap();
    let audit = Audit::new();
    billing.script([Step::CommitThenAnswerWith(Reply::new(503))]);
    let client = ServiceBuilder::new()
        .layer(naive())
        .layer(audit.layer())
        .service(hyper());
    client.oneshot(keyed(&billing.url(), "k")).await.unwrap();
    assert_eq!(billing.received().len(), 2);
    assert_eq!(found(&audit), []);
}

#[tokio::test]
async fn a_write_that_was_refused_may_be_repeated() {
    let (audit, billing) = (Audit::new(), without_keys().await);
    billing.script([Step::AnswerWith(Reply::new(401))]);
    let client = ServiceBuilder::new()
        .layer(audit.layer())
        .layer(naive())
        .layer(audit.layer())
        .service(hyper());
    client.oneshot(write(&billing.url())).await.unwrap();
    assert_eq!(billing.received().len(), 2);
    assert_eq!(found(&audit), []);
}

#[tokio::test]
async fn an_answer_that_refuses_the_second_attempt_clears_nothing_of_the_first() {
    let (audit, billing) = (Audit::new(), without_keys().await);
    billing.script([
        Step::CommitThenAnswerWith(Reply::new(503)),
        Step::AnswerWith(Reply::new(422)),
    ]);
    let client = ServiceBuilder::new()
        .layer(audit.layer())
        .layer(naive())
        .layer(audit.layer())
        .service(hyper());
    client.oneshot(write(&billing.url())).await.unwrap();
    assert_eq!(
        found(&audit),
        [(Kind::Resent, true, 2), (Kind::Resent, true, 3)]
    );
}

#[tokio::test]
async fn equal_writes_that_succeed_are_many_writes() {
    let (audit, billing) = (Audit::new(), without_keys().await);
    let client = ServiceBuilder::new()
        .layer(audit.layer())
        .layer(naive())
        .layer(audit.layer())
        .service(hyper());
    let both = tokio::join!(
        client.clone().oneshot(write(&billing.url())),
        client.clone().oneshot(write(&billing.url())),
    );
    assert!(both.0.is_ok() && both.1.is_ok());
    client.oneshot(write(&billing.url())).await.unwrap();
    assert_eq!(found(&audit), []);
}

#[tokio::test]
async fn a_read_may_be_repeated_and_given_up() {
    for method in ["GET", "HEAD", "OPTIONS", "TRACE"] {
        let audit = Audit::new();
        let client = ServiceBuilder::new()
            .layer(naive())
            .layer(audit.layer())
            .service_fn(|_: Request<Body>| async {
                Response::builder().status(503).body(Body::default())
            });
        let read = Request::builder().method(method).uri("http://billing/");
        let read = read.body(Body::default()).unwrap();
        client.clone().oneshot(read.clone()).await.unwrap();
        drop(client.oneshot(read));
        assert_eq!(found(&audit), [], "{method}");
    }
}
