//! Connections that were kept for the next write and ended meanwhile.

use tower_outcome::{Code, Outcome};
use tower_outcome_testkit::{Billing, End, Step, What};

use crate::clients::{over_each, write};
use crate::once;

/// Whether the client has noticed the end by then is a race; both of its results are honest.
#[tokio::test]
async fn a_write_over_a_stale_connection_is_done_or_unknown_and_never_failed() {
    for end in [End::Close, End::Reset] {
        for (client, stack) in over_each(&once()) {
            let billing = Billing::start_without_keys().await.unwrap();
            billing.script([Step::AnswerThen(end)]);
            let first = stack.send(write(&billing.url())).await;
            // A reset may overtake the answer.
            assert_ne!(first.outcome(), Outcome::Failed, "{client} {end:?}");

            let second = stack.send(write(&billing.url())).await;
            match second.code() {
                Code::Done => assert_eq!(billing.commits(), 2, "{client} {end:?}"),
                code => {
                    assert_eq!(code, Code::ResponseLost, "{client} {end:?}");
                    assert_eq!(billing.commits(), 1, "{client} {end:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn two_writes_go_over_one_connection() {
    for (client, stack) in over_each(&once()) {
        let billing = Billing::start_without_keys().await.unwrap();
        for _ in 0..2 {
            let verdict = stack.send(write(&billing.url())).await;
            assert_eq!(verdict.code(), Code::Done, "{client}");
        }
        let mut events = billing.timeline();
        events.retain(|event| event.what == What::Accepted);
        assert_eq!(events.len(), 1, "{client}");
    }
}
