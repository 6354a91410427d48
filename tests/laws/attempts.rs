//! Law 3: one record per call, and what its attempts left behind adds up.

use tower::ServiceBuilder;
use tower::retry::RetryLayer;
use tower_outcome::transport::Wire;
use tower_outcome::{
    Client, Code, Context, Gate, KeyLayer, Outcome, OutcomeLayer, Profile, RequestExt as _, Seen,
    ShieldLayer, Stack,
};
use tower_outcome_testkit::{Billing, Refusing, Reply, Step};

use crate::clients::{hyper, over_each, write};
use crate::intent;
use crate::signal::on_signal;

#[tokio::test]
async fn law_3_a_refused_connect_after_a_503_is_unknown() {
    let billing = Billing::start_without_keys().await.unwrap();
    let busy = Reply::new(503).with_header("connection", "close");
    billing.script([Step::CommitThenAnswerWith(busy)]);
    let (policy, mut signal) = on_signal();
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new().with_profile(Profile::idempotency_key()))
            .layer(ShieldLayer::new())
            .layer(KeyLayer::new())
            .layer(RetryLayer::new(policy))
            .service(Wire::hyper(hyper())),
    );

    let url = billing.url();
    let stop = async {
        let call = signal.first_ended().await;
        let refusing = billing.stop().await.unwrap();
        signal.go();
        (call, refusing)
    };
    let (verdict, (call, _refusing)) =
        tokio::join!(client.send(write(&url).with_intent(intent())), stop);
    assert_eq!(call.attempts(), 2);
    assert_eq!(call.last(), Some(Code::ConnectFailed));
    assert_eq!(verdict.outcome(), Outcome::Unknown);
    assert_eq!(verdict.code(), Code::ServerError);
}

#[tokio::test]
async fn law_3_two_refused_connects_are_as_good_as_one() {
    let refusing = Refusing::start().unwrap();
    let (policy, mut signal) = on_signal();
    signal.go();
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(RetryLayer::new(policy))
            .service(Wire::hyper(hyper())),
    );
    let verdict = client.send(write(&refusing.url())).await;
    assert_eq!(signal.first_ended().await.attempts(), 2);
    assert_eq!(verdict.code(), Code::ConnectFailed);
}

#[tokio::test]
async fn law_3_a_refusal_after_an_attempt_that_may_have_left_proves_nothing() {
    for status in [401, 404, 409, 412, 422, 429] {
        for first in [
            Step::CommitThenClose,
            Step::CommitThenAnswerWith(Reply::new(503)),
        ] {
            let stack = Stack::new().with_profile(Profile::idempotency_key());
            for (client, stack) in over_each(&stack) {
                let billing = Billing::start().await.unwrap();
                let refusal = Step::AnswerWith(Reply::new(status));
                billing.script([first.clone(), refusal.clone(), refusal]);
                let verdict = stack
                    .send(write(&billing.url()).with_intent(intent()))
                    .await;
                assert_eq!(verdict.outcome(), Outcome::Unknown, "{client} {status}");
            }
        }
    }
}

#[tokio::test]
async fn law_3_a_repeat_that_is_replayed_proves_this_calls_own_write() {
    let profile = Profile::idempotency_key().with_replay_marker("idempotent-replayed");
    for (client, stack) in over_each(&Stack::new().with_profile(profile)) {
        let billing = Billing::start().await.unwrap();
        billing.script([Step::CommitThenClose]);
        let verdict = stack
            .send(write(&billing.url()).with_intent(intent()))
            .await;
        assert_eq!(verdict.code(), Code::DoneReplayed, "{client}");
        assert_eq!(billing.commits(), 1, "{client}");

        let other = stack
            .send(write(&billing.url()).with_intent(intent()))
            .await;
        assert_eq!(other.code(), Code::AlreadyDone, "{client}");
        assert_eq!(billing.commits(), 1, "{client}");
    }
}

#[tokio::test]
async fn law_3_the_writes_of_a_tool_call_share_its_gate() {
    let refusing = Refusing::start().unwrap();
    for (client, stack) in over_each(&Stack::new()) {
        let billing = Billing::start().await.unwrap();
        let gate = Gate::new();
        let context = Context::new(&intent(), 0, gate.clone());
        context
            .scope(stack.send(write(&billing.url())))
            .await
            .into_json()
            .unwrap();
        let context = Context::new(&intent(), 0, gate.clone());
        let verdict = context
            .clone()
            .scope(stack.send(write(&refusing.url())))
            .await;
        assert_eq!(verdict.outcome(), Outcome::Failed, "{client}");
        assert_eq!(context.writes()[0].look(), Seen::Never, "{client}");
        assert_eq!(gate.look(), Seen::Left, "{client}");
    }
}
