//! Which word stands behind a status of the server.

use tonic::{Code as Grpc, Status};
use tower_outcome::{Code, Outcome, Profile};

use crate::billing::{Billing, Step};
use crate::refunds::Refunds;
use crate::{keyed_write, once, write};

/// The word that the whole table gives, for answers that `step` makes of a status.
async fn walk(step: fn(Status) -> Step, table: &[(Grpc, Code)]) {
    let (billing, channel) = Billing::on_loopback().await;
    for &(grpc, code) in table {
        for make in [write, keyed_write] {
            // A stack remembers the keys whose writes are not settled.
            let mut refunds = Refunds::new(&once(), channel.clone());
            billing.script([step(Status::new(grpc, "as scripted"))]);
            let (request, watch) = make();
            let status = refunds.refund(request).await.unwrap_err();
            assert_eq!(status.code(), grpc, "{status:?}");
            assert_eq!(status.message(), "as scripted");
            assert_eq!(watch.verdict().unwrap().code(), code, "{grpc:?}");
        }
    }
}

#[tokio::test]
async fn each_status_without_a_message_has_its_word() {
    walk(Step::Fail, &TABLE).await;
}

/// With a message the server said that it had been at work: what it refuses then is no proof.
#[tokio::test]
async fn a_refusal_behind_a_message_is_no_proof() {
    walk(Step::MessageThenFail, &behind_a_message()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_status_has_its_word_on_many_threads() {
    walk(Step::Fail, &TABLE).await;
    walk(Step::MessageThenFail, &behind_a_message()).await;
}

#[tokio::test]
async fn behind_a_proxy_that_repeats_requests_no_refusal_is_a_promise() {
    let (billing, channel) = Billing::on_loopback().await;
    let stack = once().with_profile(Profile::generic().with_replaying_proxy());
    let mut refunds = Refunds::new(&stack, channel);
    for (grpc, code) in TABLE {
        billing.script([Step::Fail(Status::new(grpc, "as scripted"))]);
        let (request, watch) = write();
        refunds.refund(request).await.unwrap_err();
        let verdict = watch.verdict().unwrap();
        assert_eq!(verdict.outcome(), Outcome::Unknown, "{grpc:?}, else {code}");
    }
}

/// The server's library does not send it, once the refund is made.
#[tokio::test]
async fn an_answer_that_is_too_long_for_its_server_is_no_refusal() {
    let (billing, channel) = Billing::on_loopback().await;
    billing.limit_answers(1);
    let mut refunds = Refunds::new(&once(), channel);
    let (request, watch) = write();
    let status = refunds.refund(request).await.unwrap_err();
    assert_eq!(status.code(), Grpc::OutOfRange);
    assert_eq!(billing.commits(), 1);
    assert_eq!(watch.verdict().unwrap().code(), Code::ServerError);
}

fn behind_a_message() -> [(Grpc, Code); 15] {
    TABLE.map(|(grpc, code)| match code.outcome() {
        Outcome::Failed => (grpc, Code::ConflictAmbiguous),
        _ => (grpc, code),
    })
}

const TABLE: [(Grpc, Code); 15] = [
    (Grpc::Aborted, Code::ConflictAmbiguous),
    (Grpc::Cancelled, Code::ServerError),
    (Grpc::DataLoss, Code::ServerError),
    (Grpc::DeadlineExceeded, Code::TimeoutAfterSend),
    (Grpc::FailedPrecondition, Code::PreconditionFailed),
    (Grpc::Internal, Code::ServerError),
    (Grpc::InvalidArgument, Code::Rejected),
    (Grpc::NotFound, Code::Rejected),
    (Grpc::OutOfRange, Code::Rejected),
    (Grpc::PermissionDenied, Code::Rejected),
    (Grpc::ResourceExhausted, Code::RateLimited),
    (Grpc::Unauthenticated, Code::Rejected),
    (Grpc::Unavailable, Code::ServerError),
    (Grpc::Unimplemented, Code::Rejected),
    (Grpc::Unknown, Code::ServerError),
];
