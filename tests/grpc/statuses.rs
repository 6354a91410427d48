//! What a status proves, and what it does not.

use tower_outcome::{Code, Outcome, Profile, Stack};
use tower_outcome_testkit::{Billing, Reply, Step};

use crate::channel::{Refunds, refund};
use crate::{behind, channel};

async fn told(step: Step, stack: &Stack) -> (tonic::Status, Code) {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([step]);
    let mut client = Refunds::over(stack, channel(&billing.url()));
    let (request, watch) = refund();
    let status = client.refund(request).await.unwrap_err();
    assert_eq!(billing.received().len(), 1);
    (status, watch.verdict().unwrap().code())
}

#[tokio::test]
async fn a_refusal_is_a_promise_and_the_rest_is_none() {
    let rows = [
        (1, Outcome::Unknown),
        (2, Outcome::Unknown),
        (3, Outcome::Failed),
        (4, Outcome::Unknown),
        (5, Outcome::Failed),
        (7, Outcome::Failed),
        (8, Outcome::Failed),
        (9, Outcome::Failed),
        (10, Outcome::Unknown),
        (11, Outcome::Failed),
        (12, Outcome::Failed),
        (13, Outcome::Unknown),
        (14, Outcome::Unknown),
        (15, Outcome::Unknown),
        (16, Outcome::Failed),
    ];
    for (number, outcome) in rows {
        let late = Reply::grpc(b"").with_trailer("grpc-status", number.to_string());
        for reply in [Reply::grpc_status(number, "no"), late] {
            let (status, code) = told(Step::AnswerWith(reply), &Stack::new()).await;
            assert_eq!(status.code() as u32, number);
            assert_eq!(code.outcome(), outcome, "{number}: {code}");
        }
    }
}

#[tokio::test]
async fn behind_a_proxy_that_repeats_no_refusal_is_a_promise() {
    let stack = Stack::new().with_profile(Profile::generic().with_replaying_proxy());
    for number in [3, 5, 7, 8, 16] {
        let refusal = Step::AnswerWith(Reply::grpc_status(number, "no"));
        let (_, code) = told(refusal, &stack).await;
        assert_eq!(code.outcome(), Outcome::Unknown, "{number}");
    }
}

#[tokio::test]
async fn a_server_that_dies_after_the_commit_says_unavailable_and_the_word_is_unknown() {
    for step in [Step::CommitThenClose, Step::CommitThenReset] {
        let (status, code) = told(step, &Stack::new()).await;
        assert_eq!(code, Code::ResponseLost);
        assert_eq!(behind(&status).unwrap().code(), Code::ResponseLost);
    }
}

#[tokio::test]
async fn an_answer_without_a_status_is_lost() {
    let cut = |bytes| Step::HalfAnswer {
        bytes,
        end: tower_outcome_testkit::End::Close,
    };
    for bytes in [9, 40, 60] {
        let (_, code) = told(cut(bytes), &Stack::new()).await;
        assert_eq!(code, Code::ResponseLost, "{bytes}");
    }
}
