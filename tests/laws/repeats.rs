//! Law 5: a write without a key that counts leaves once at most.

use std::time::Duration;

use tower_outcome::{Code, KeyedRetry, Outcome, Profile, RequestExt as _, Stack};
use tower_outcome_testkit::{Billing, End, Refusing, Reply, Step, What};

use crate::clients::{over_each, write};
use crate::{DEADLINE, intent};

fn eager() -> KeyedRetry {
    KeyedRetry::new(5).with_first_delay(Duration::ZERO)
}

/// Everything that a server can do to a first attempt.
fn faults() -> Vec<Step> {
    let mut steps = vec![
        Step::Answer,
        Step::CommitThenClose,
        Step::CommitThenReset,
        Step::CommitThenSilence,
        Step::ReadAllThenSilence,
        Step::ReadHeadThenSilence,
    ];
    for end in [End::Close, End::Reset] {
        steps.extend([
            Step::AnswerThen(end),
            Step::EarlyAnswer {
                reply: Reply::new(503),
                end,
            },
            Step::HalfAnswer { bytes: 20, end },
            Step::HalfAnswer { bytes: 80, end },
            Step::StopAfter { bytes: 1, end },
            Step::StopAfter { bytes: 1000, end },
        ]);
    }
    for status in [
        200, 202, 303, 307, 400, 401, 404, 408, 409, 422, 425, 429, 500, 502, 503, 504,
    ] {
        let reply = Reply::new(status).with_header("retry-after", "0");
        steps.push(Step::AnswerWith(reply.clone()));
        steps.push(Step::CommitThenAnswerWith(reply));
    }
    steps
}

async fn check(stack: impl Fn() -> Stack, with_intent: bool) {
    for step in faults() {
        for which in 0..2 {
            // A stack of its own: a port may come again, and with it the same write.
            let stack = stack().with_deadline(DEADLINE / 2);
            let (client, stack) = over_each(&stack).into_iter().nth(which).unwrap();
            let billing = Billing::start_without_keys().await.unwrap();
            billing.script([step.clone()]);
            let request = write(&billing.url());
            let verdict = if with_intent {
                stack.send(request.with_intent(intent())).await
            } else {
                stack.send(request).await
            };
            let context = format!("{client} {step:?} {}", verdict.code());
            assert!(billing.received().len() <= 1, "{context}");
            let connections = billing.timeline().into_iter();
            let connections = connections.filter(|event| event.what == What::Accepted);
            assert_eq!(connections.count(), 1, "{context}");
            if verdict.outcome() == Outcome::Failed {
                // A refusal is taken at its word, also from a server that lies.
                let refused = [Code::Rejected, Code::RateLimited, Code::RedirectRefused];
                assert!(refused.contains(&verdict.code()), "{context}");
            }
        }
    }
}

#[tokio::test]
async fn law_5_a_write_without_a_key_is_sent_once_whatever_comes_back() {
    let stack = || {
        Stack::new()
            .with_profile(Profile::idempotency_key())
            .with_retry(eager())
    };
    check(stack, false).await;
}

#[tokio::test]
async fn law_5_a_key_that_nobody_promised_to_honour_is_none() {
    check(|| Stack::new().with_retry(eager()), true).await;
}

#[tokio::test]
async fn law_5_retries_of_what_was_never_sent_repeat_nothing_else() {
    check(
        || Stack::new().with_retry(eager().with_unsent_retries()),
        false,
    )
    .await;
}

#[tokio::test]
async fn law_5_a_proven_unsent_write_without_a_key_is_retried_only_on_demand() {
    for (retry, attempts) in [(eager(), 1), (eager().with_unsent_retries(), 5)] {
        for (client, stack) in over_each(&Stack::new().with_retry(retry.clone())) {
            let refusing = Refusing::start().unwrap();
            let context = tower_outcome::Context::new(&intent(), 0, tower_outcome::Gate::new());
            let send = context.clone().scope(stack.send(write(&refusing.url())));
            assert_eq!(send.await.code(), Code::ConnectFailed, "{client}");
            assert_eq!(context.writes()[0].attempts(), attempts, "{client}");
        }
    }
}

#[tokio::test]
async fn law_5_a_write_with_a_key_is_repeated_and_happens_once() {
    let stack = Stack::new()
        .with_profile(Profile::idempotency_key())
        .with_retry(eager());
    for (client, stack) in over_each(&stack) {
        let billing = Billing::start().await.unwrap();
        billing.script([Step::CommitThenClose, Step::CommitThenReset]);
        let verdict = stack
            .send(write(&billing.url()).with_intent(intent()))
            .await;
        assert_eq!(verdict.outcome(), Outcome::Ok, "{client}");
        assert_eq!(billing.received().len(), 3, "{client}");
        assert_eq!(billing.commits(), 1, "{client}");
    }
}
