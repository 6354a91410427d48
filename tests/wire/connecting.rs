//! What is known when no connection came about.

use tower::ServiceBuilder;
use tower::limit::ConcurrencyLimitLayer;
use tower_outcome::transport::Wire;
use tower_outcome::{Client, Code, DeadlineLayer, KeyLayer, Outcome, OutcomeLayer, ShieldLayer};
use tower_outcome_testkit::{Billing, End, Refusing, Step, Unreachable, What};

use crate::clients::{hyper, over_each, write};
use crate::{DEADLINE, once};

#[tokio::test]
async fn a_refused_connect_failed_and_nothing_leaves_when_the_port_opens() {
    for (client, stack) in over_each(&once()) {
        let refusing = Refusing::start().unwrap();
        let verdict = stack.send(write(&refusing.url())).await;
        assert_eq!(verdict.code(), Code::ConnectFailed, "{client}");
        assert_eq!(verdict.outcome(), Outcome::Failed, "{client}");

        let billing = refusing.open().unwrap();
        let verdict = stack.send(write(&billing.url())).await;
        assert_eq!(verdict.code(), Code::Done, "{client}");
        assert_eq!(billing.received().len(), 1, "{client}");
    }
}

#[tokio::test]
async fn a_connect_that_hangs_failed_at_the_deadline() {
    let unreachable = Unreachable::start().await.unwrap();
    for (client, stack) in over_each(&once().with_deadline(DEADLINE)) {
        let verdict = stack.send(write(&unreachable.url())).await;
        assert_eq!(verdict.code(), Code::TimeoutBeforeSend, "{client}");
        assert_eq!(verdict.outcome(), Outcome::Failed, "{client}");
    }
}

#[tokio::test]
async fn a_write_without_a_permit_failed_at_the_deadline_and_never_leaves() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(DeadlineLayer::new(DEADLINE))
            .layer(ShieldLayer::new())
            .layer(ConcurrencyLimitLayer::new(1))
            .layer(KeyLayer::new())
            .service(Wire::hyper(hyper())),
    );

    let first = client.send(write(&billing.url()));
    let second = async {
        billing.wait_commits(1).await;
        client.send(write(&billing.url())).await
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.code(), Code::TimeoutAfterSend);
    assert_eq!(second.code(), Code::TimeoutBeforeSend);

    billing.release();
    let third = client.send(write(&billing.url())).await;
    assert_eq!(third.code(), Code::Done);
    assert_eq!(billing.commits(), 2);
}

#[tokio::test]
async fn a_name_that_does_not_resolve_failed() {
    for (client, stack) in over_each(&once()) {
        let verdict = stack.send(write("http://billing.invalid")).await;
        // How it failed is the resolver's business: some never answer.
        assert_eq!(verdict.outcome(), Outcome::Failed, "{client}");
    }
}

#[tokio::test]
async fn an_address_without_a_host_is_refused_before_anything_is_tried() {
    for (client, stack) in over_each(&once()) {
        let verdict = stack.send(write("")).await;
        assert_eq!(verdict.code(), Code::InvalidArguments, "{client}");
    }
}

/// A fresh connection that is closed before anything was written to it is no reason to make another
/// one, however often.
#[tokio::test]
async fn a_server_that_closes_every_connection_is_not_tried_for_ever() {
    for end in [End::Close, End::Reset] {
        for (client, stack) in over_each(&once()) {
            let billing = Billing::start_without_keys().await.unwrap();
            billing.script((0..100).map(|_| Step::StopAfter { bytes: 0, end }));
            let verdict = stack.send(write(&billing.url())).await;
            assert_ne!(verdict.outcome(), Outcome::Ok, "{client} {end:?}");
            assert_eq!(billing.commits(), 0, "{client} {end:?}");
            let mut events = billing.timeline();
            events.retain(|event| event.what == What::Accepted);
            assert_eq!(events.len(), 1, "{client} {end:?}");
        }
    }
}
