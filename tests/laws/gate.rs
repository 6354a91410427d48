//! Laws 1 and 2: who seals first is right for good.

use std::time::Duration;

use tower::buffer::BufferLayer;
use tower::limit::ConcurrencyLimitLayer;
use tower::retry::RetryLayer;
use tower::{Service as _, ServiceBuilder, ServiceExt as _};
use tower_outcome::transport::Wire;
use tower_outcome::{
    Call, Client, Code, Context, DeadlineLayer, Gate, KeyLayer, KeyedRetry, Outcome, OutcomeLayer,
    Profile, RequestExt as _, Seen, ShieldLayer, Stack,
};
use tower_outcome_testkit::{Billing, Refusing, Reply, Step};

use crate::clients::{hyper, over_each, write};
use crate::signal::on_signal;
use crate::{DEADLINE, intent};

/// The first attempt is refused, the deadline falls into the wait, and the port opens before the
/// wait is over.
#[tokio::test]
async fn law_1_a_second_attempt_never_leaves_once_its_call_failed() {
    let refusing = Refusing::start().unwrap();
    let (policy, mut signal) = on_signal();
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(DeadlineLayer::new(DEADLINE))
            .layer(ShieldLayer::new())
            .layer(KeyLayer::new())
            .layer(RetryLayer::new(policy))
            .service(Wire::hyper(hyper())),
    );

    let verdict = client.send(write(&refusing.url())).await;
    assert_eq!(verdict.code(), Code::TimeoutBeforeSend);
    let call = signal.first_ended().await;

    let billing = refusing.open().unwrap();
    signal.go();
    assert_eq!(call.settled().await.outcome(), Outcome::Failed);
    assert_eq!((call.attempts(), call.look()), (1, Seen::Never));
    assert_eq!(billing.timeline(), []);
}

#[tokio::test]
async fn law_1_the_wait_between_two_attempts_ends_with_the_call() {
    let stack = Stack::new()
        .with_deadline(Duration::from_hours(1))
        .with_profile(Profile::idempotency_key())
        .with_retry(KeyedRetry::new(3).with_total_time(Duration::from_hours(1)));
    for (client, stack) in over_each(&stack) {
        let billing = Billing::start().await.unwrap();
        let busy = Reply::new(503).with_header("retry-after", "300");
        billing.script([Step::AnswerWith(busy)]);
        let context = Context::new(&intent(), 0, Gate::new());

        let send = context.clone().scope(stack.send(write(&billing.url())));
        tokio::select! {
            _ = send => unreachable!("{client} waits for five minutes"),
            () = in_its_wait(&context) => {}
        }
        let write = &context.writes()[0];
        let settled = tokio::time::timeout(Duration::from_secs(20), write.settled());
        let settled = settled
            .await
            .expect("settled before the five minutes are over");
        assert_eq!(settled.outcome(), Outcome::Unknown, "{client}");
        assert_eq!(billing.received().len(), 1, "{client}");
    }
}

#[tokio::test]
async fn law_1_a_call_that_fails_in_its_wait_says_failed_and_stays_at_home() {
    for which in 0..2 {
        let stack = Stack::new()
            .with_deadline(Duration::from_hours(1))
            .with_profile(Profile::idempotency_key())
            .with_retry(KeyedRetry::new(1000).with_first_delay(Duration::from_secs(5)));
        let (client, service) = over_each(&stack).into_iter().nth(which).unwrap();
        let refusing = Refusing::start().unwrap();
        let context = Context::new(&intent(), 0, Gate::new());
        let send = context.clone().scope(service.send(write(&refusing.url())));
        let draining = async {
            in_its_wait(&context).await;
            stack.drain(Duration::ZERO).await
        };
        let (verdict, _) = tokio::join!(send, draining);
        assert_eq!(verdict.code(), Code::ShuttingDown, "{client}");
        let billing = refusing.open().unwrap();
        assert_eq!(
            context.writes()[0].settled().await.outcome(),
            Outcome::Failed
        );
        assert_eq!(billing.timeline(), [], "{client}");
    }
}

#[tokio::test]
async fn law_1_no_wait_is_begun_that_the_deadline_would_end() {
    let stack = Stack::new()
        .with_deadline(Duration::from_mins(1))
        .with_profile(Profile::idempotency_key());
    for (client, stack) in over_each(&stack) {
        let billing = Billing::start().await.unwrap();
        let busy = Reply::new(503).with_header("retry-after", "60");
        billing.script([Step::AnswerWith(busy)]);
        let send = stack.send(write(&billing.url()).with_intent(intent()));
        let verdict = tokio::time::timeout(Duration::from_secs(20), send).await;
        let verdict = verdict.expect("told before the minute is over");
        assert_eq!(verdict.code(), Code::ServerError, "{client}");
        assert_eq!(billing.received().len(), 1, "{client}");
    }
}

/// Until the only write of `context` waits for its second attempt.
async fn in_its_wait(context: &Context) {
    let waits = |call: &Call| call.last_decision().is_some_and(|it| it.wait.is_some());
    while !context.writes().first().is_some_and(waits) {
        tokio::task::yield_now().await;
    }
}

/// A queue below that comes round to the request after `failed` was said.
#[tokio::test]
async fn law_1_a_queued_request_never_leaves_once_its_call_failed() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(DeadlineLayer::new(DEADLINE))
            .layer(ShieldLayer::new())
            .layer(BufferLayer::new(8))
            .layer(ConcurrencyLimitLayer::new(1))
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

    // The queue is in order: once the third was answered, the second has had its turn.
    billing.release();
    let third = client.send(write(&billing.url())).await;
    assert_eq!(third.code(), Code::Done);
    assert_eq!(billing.received().len(), 2);
}

#[tokio::test]
async fn law_1_a_call_that_its_caller_dropped_in_a_queue_never_leaves() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(DeadlineLayer::new(Duration::from_mins(1)))
            .layer(ShieldLayer::new())
            .layer(BufferLayer::new(8))
            .layer(ConcurrencyLimitLayer::new(1))
            .service(Wire::hyper(hyper())),
    );

    let mut first = tokio_test::task::spawn(client.send(write(&billing.url())));
    tokio_test::assert_pending!(first.poll());
    billing.wait_commits(1).await;
    let mut second = tokio_test::task::spawn(client.send(write(&billing.url())));
    tokio_test::assert_pending!(second.poll());
    drop(second);

    billing.release();
    let third = client.send(write(&billing.url())).await;
    assert_eq!(third.code(), Code::Done);
    assert_eq!(billing.received().len(), 2);
}

#[tokio::test]
async fn law_1_no_write_of_a_tool_call_leaves_after_the_call_has_ended() {
    for (client, stack) in over_each(&Stack::new()) {
        let billing = Billing::start().await.unwrap();
        let gate = Gate::new();
        let context = Context::new(&intent(), 0, gate.clone());
        let first = context
            .clone()
            .scope(stack.send(write(&billing.url())))
            .await;
        assert_eq!(first.code(), Code::Done, "{client}");

        assert_eq!(gate.seal(), Seen::Left, "{client}");
        let spawned = context.step("second").scope(async move {
            let verdict = stack.send(write(&billing.url())).await;
            (verdict.outcome(), billing.received().len())
        });
        let (outcome, received) = tokio::spawn(spawned).await.unwrap();
        assert_eq!(outcome, Outcome::Failed, "{client}");
        assert_eq!(received, 1, "{client}");
    }
}

/// A child that has not left when the tool call ends is taken back, and that is proof.
#[tokio::test]
#[expect(
    clippy::async_yields_async,
    reason = "called and not yet polled is the point"
)]
async fn law_2_a_request_passes_the_gate_before_it_is_polled() {
    macro_rules! check {
        ($wire:expr) => {{
            let billing = Billing::start().await.unwrap();
            let gate = Gate::new();
            let context = Context::new(&intent(), 0, gate.clone());
            let mut service = ServiceBuilder::new()
                .layer(OutcomeLayer::new())
                .service($wire);
            service.ready().await.unwrap();
            let request = write(&billing.url());
            let answer = context.scope(async { service.call(request) }).await;

            assert_eq!(gate.seal(), Seen::InFlight);
            let Ok(verdict) = answer.await;
            assert_eq!(verdict.outcome(), Outcome::Failed);
            assert_eq!(gate.look(), Seen::Never);
            assert_eq!(billing.received(), []);
        }};
    }
    check!(Wire::hyper(hyper()));
    check!(Wire::reqwest(tower_outcome::WritesClient::trust(
        reqwest::Client::new()
    )));
}
