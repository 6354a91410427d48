//! Laws 6 and 7: the end of a call does not undo what has happened.

use std::time::Duration;

use http::{Request, Response};
use tokio_test::{assert_pending, assert_ready_err, assert_ready_ok, task};
use tower::{Service as _, ServiceBuilder, ServiceExt as _};
use tower_outcome::{Code, DeadlineLayer, OutcomeBody, Profile, RequestExt as _, Stack};
use tower_outcome_core::ledger::State;
use tower_outcome_testkit::{Billing, Reply, Step, What};
use tower_test::mock;

use crate::clients::{over_each, write};
use crate::intent;
use crate::ledger::Watched;

#[tokio::test]
async fn law_6_a_write_whose_caller_left_is_answered_and_settled() {
    for which in 0..2 {
        let ledger = Watched::new();
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::CommitThenHold]);
        let stack = Stack::new().with_ledger(ledger.clone());
        let (client, stack) = over_each(&stack).into_iter().nth(which).unwrap();

        let request = write(&billing.url()).with_intent(intent());
        let mut call = task::spawn(stack.send(request));
        assert_pending!(call.poll());
        billing.wait_commits(1).await;
        drop(call);

        billing.release();
        ledger.wait_for(&intent(), State::Done).await;
        let again = stack
            .send(write(&billing.url()).with_intent(intent()))
            .await;
        assert_eq!(again.code(), Code::AlreadyDone, "{client}");
        assert_eq!(again.into_json().unwrap()["id"], "re_1", "{client}");
        assert_eq!(billing.received().len(), 1, "{client}");
    }
}

#[tokio::test]
async fn law_6_a_write_whose_caller_left_starts_no_new_attempt() {
    for which in 0..2 {
        let ledger = Watched::new();
        let billing = Billing::start().await.unwrap();
        let busy = Reply::new(503).with_header("retry-after", "300");
        billing.script([Step::AnswerWith(busy)]);
        let stack = Stack::new()
            .with_profile(Profile::idempotency_key())
            .with_ledger(ledger.clone());
        let (client, stack) = over_each(&stack).into_iter().nth(which).unwrap();

        let request = write(&billing.url()).with_intent(intent());
        let mut call = task::spawn(stack.send(request));
        assert_pending!(call.poll());
        billing
            .wait_for(|event| event.what == What::Answered { status: 503 })
            .await;
        drop(call);

        ledger.wait_for(&intent(), State::Unknown).await;
        assert_eq!(billing.received().len(), 1, "{client}");
    }
}

#[tokio::test]
async fn law_6_a_call_that_was_never_polled_sends_nothing() {
    for (client, stack) in over_each(&Stack::new()) {
        let billing = Billing::start().await.unwrap();
        drop(stack.send(write(&billing.url())));
        stack.send(write(&billing.url())).await.into_json().unwrap();
        assert_eq!(billing.received().len(), 1, "{client}");
    }
}

#[tokio::test(start_paused = true)]
async fn law_7_an_answer_that_comes_with_the_deadline_counts() {
    let (service, mut server) = mock::pair::<Request<OutcomeBody>, Response<&'static str>>();
    let limit = Duration::from_secs(2);
    let mut service = ServiceBuilder::new()
        .layer(DeadlineLayer::new(limit))
        .service(service);

    let mut call = task::spawn(service.ready().await.unwrap().call(write("")));
    assert_pending!(call.poll());
    let (_, respond) = server.next_request().await.unwrap();
    respond.send_response(Response::new("paid"));
    tokio::time::advance(limit).await;
    assert_eq!(*assert_ready_ok!(call.poll()).body(), "paid");
}

#[tokio::test(start_paused = true)]
async fn law_7_an_answer_that_comes_after_the_deadline_is_late() {
    let (service, mut server) = mock::pair::<Request<OutcomeBody>, Response<&'static str>>();
    let limit = Duration::from_secs(2);
    let mut service = ServiceBuilder::new()
        .layer(DeadlineLayer::new(limit))
        .service(service);

    let mut call = task::spawn(service.ready().await.unwrap().call(Request::new("".into())));
    assert_pending!(call.poll());
    let (_, respond) = server.next_request().await.unwrap();
    tokio::time::advance(limit).await;
    assert!(call.is_woken());
    let error = assert_ready_err!(call.poll());
    assert_eq!(error.code(), Code::ReadFailed);
    respond.send_response(Response::new("paid"));
}
