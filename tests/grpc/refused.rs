//! A server that says, in words of the protocol, that it did not look at a request.

use std::time::Duration;

use tower_outcome::{Code, KeyedRetry, Outcome, Stack};
use tower_outcome_testkit::{Billing, End, ErrorCode, Frames, LastStream, Step};

use crate::billing::endpoint;
use crate::refunds::Refunds;
use crate::{once, ours, write};

/// What proves that nothing of the request was looked at.
fn refusals() -> [Frames; 2] {
    [
        Frames::on_request().reset_stream(ErrorCode::REFUSED_STREAM),
        Frames::on_request()
            .go_away(LastStream::Below, ErrorCode::NO_ERROR)
            .then(End::Close),
    ]
}

#[tokio::test]
async fn a_refused_stream_failed() {
    for refusal in refusals() {
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::Frames(refusal)]);
        let mut refunds = Refunds::new(&once(), endpoint(billing.addr()).connect_lazy());

        let (request, watch) = write();
        let status = refunds.refund(request).await.unwrap_err();
        assert_eq!(ours(&status).code(), Code::RefusedByProtocol);
        assert_eq!(watch.verdict().unwrap().outcome(), Outcome::Failed);
        assert_eq!(billing.commits(), 0);
    }
}

/// Nothing of the first attempt happened, so that even a write without a key may be made again.
#[tokio::test]
async fn a_refused_stream_is_repeated_where_unsent_retries_are_wanted() {
    for refusal in refusals() {
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::Frames(refusal)]);
        let retry = KeyedRetry::new(3).with_first_delay(Duration::ZERO);
        let stack = Stack::new().with_retry(retry.with_unsent_retries());
        let mut refunds = Refunds::new(&stack, endpoint(billing.addr()).connect_lazy());

        let (request, watch) = write();
        let answer = refunds.refund(request).await.unwrap();
        assert!(answer.get_ref().contains("re_1"));
        assert_eq!(watch.verdict().unwrap().code(), Code::Done);
        assert_eq!(watch.call().unwrap().attempts(), 2);
        assert_eq!(billing.commits(), 1);
    }
}

/// A shutdown that counts the request among those it may have looked at promises nothing.
#[tokio::test]
async fn a_shutdown_that_covers_the_request_is_unknown_and_repeats_nothing() {
    let billing = Billing::start_without_keys().await.unwrap();
    let shutdown = Frames::on_commit().go_away(LastStream::This, ErrorCode::NO_ERROR);
    billing.script([Step::Frames(shutdown.then(End::Close))]);
    let retry = KeyedRetry::new(3).with_first_delay(Duration::ZERO);
    let stack = Stack::new().with_retry(retry.with_unsent_retries());
    let mut refunds = Refunds::new(&stack, endpoint(billing.addr()).connect_lazy());

    let (request, watch) = write();
    refunds.refund(request).await.unwrap_err();
    assert_eq!(watch.verdict().unwrap().code(), Code::ResponseLost);
    assert_eq!(billing.received().len(), 1);
}
