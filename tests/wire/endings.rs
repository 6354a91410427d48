//! Connections that end, or fall silent, without a whole answer.

use tower_outcome::{Code, Outcome};
use tower_outcome_testkit::{Billing, End, Step};

use crate::clients::{over_each, write};
use crate::{DEADLINE, once};

/// Runs each step once per client and holds it to its code and to what the server committed.
async fn check(rows: impl IntoIterator<Item = (Step, Code, usize)>) {
    for (step, code, commits) in rows {
        for (client, stack) in over_each(&once().with_deadline(DEADLINE)) {
            let billing = Billing::start_without_keys().await.unwrap();
            billing.script([step.clone()]);
            let verdict = stack.send(write(&billing.url())).await;
            assert_eq!(verdict.code(), code, "{client} {step:?}");
            assert_eq!(billing.commits(), commits, "{client} {step:?}");
            assert_eq!(billing.received().len(), 1, "{client} {step:?}");
        }
    }
}

#[tokio::test]
async fn a_connection_that_ends_without_an_answer_is_unknown_whatever_the_server_did() {
    let stop = |bytes, end| Step::StopAfter { bytes, end };
    check([
        (stop(1000, End::Close), Code::ResponseLost, 0),
        (stop(1000, End::Reset), Code::ResponseLost, 0),
        (Step::CommitThenClose, Code::ResponseLost, 1),
        (Step::CommitThenReset, Code::ResponseLost, 1),
    ])
    .await;
}

#[tokio::test]
async fn silence_until_the_deadline_is_unknown_whatever_the_server_did() {
    check([
        (Step::ReadHeadThenSilence, Code::TimeoutAfterSend, 0),
        (Step::ReadAllThenSilence, Code::TimeoutAfterSend, 0),
        (Step::CommitThenSilence, Code::TimeoutAfterSend, 1),
    ])
    .await;
}

#[tokio::test]
async fn nonsense_instead_of_an_answer_is_unknown() {
    let nonsense = |end| Step::CommitThenSend {
        bytes: b"HTTP/9.9 maybe\r\n\r\n".to_vec(),
        end,
    };
    check([
        (nonsense(End::Close), Code::ResponseLost, 1),
        (nonsense(End::Hold), Code::ResponseLost, 1),
    ])
    .await;
}

#[tokio::test]
async fn a_head_that_came_proves_the_write_though_its_body_was_lost() {
    let half = |end| Step::HalfAnswer { bytes: 80, end };
    check([(half(End::Close), Code::DoneBodyLost, 1)]).await;
}

#[tokio::test]
async fn a_head_that_came_proves_the_write_though_its_body_is_late() {
    let half = |end| Step::HalfAnswer { bytes: 80, end };
    check([(half(End::Hold), Code::DoneBodyLost, 1)]).await;
}

#[tokio::test]
async fn a_head_that_broke_off_proves_nothing() {
    let half = |end| Step::HalfAnswer { bytes: 40, end };
    check([
        (half(End::Close), Code::ResponseLost, 1),
        (half(End::Hold), Code::TimeoutAfterSend, 1),
    ])
    .await;
}

/// A server that speaks first may be taken for one that answered, or for one that broke the
/// protocol before the request left. What it says is never proof of a change.
#[tokio::test]
async fn a_server_that_speaks_first_is_never_believed_to_have_done_it() {
    for (client, stack) in over_each(&once().with_deadline(DEADLINE)) {
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::SpeakFirst {
            bytes: b"HTTP/1.1 503 \r\ncontent-length: 0\r\n\r\n".to_vec(),
            end: End::Close,
        }]);
        let verdict = stack.send(write(&billing.url())).await;
        assert_ne!(verdict.outcome(), Outcome::Ok, "{client}");
        assert_eq!(billing.commits(), 0, "{client}");
    }
}

/// On a fresh connection, before or after the request has left: the server may read it all the same.
#[tokio::test]
async fn a_server_that_closes_its_half_at_once_and_commits_is_never_called_failed() {
    for (client, stack) in over_each(&once().with_deadline(DEADLINE)) {
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::HalfCloseThenCommit]);
        let verdict = stack.send(write(&billing.url())).await;
        if verdict.outcome() == Outcome::Failed {
            assert!(billing.received().is_empty(), "{client}");
        } else {
            assert_eq!(verdict.outcome(), Outcome::Unknown, "{client}");
        }
    }
}
