//! Calls that end without an answer: the word rests on what left, never on tonic's status code.

use std::time::Duration;

use tonic::Status;
use tonic::transport::Endpoint;
use tower_outcome::{Code, Outcome};
use tower_outcome_testkit::{self as testkit, Refusing, Unreachable};

use crate::billing::{Billing, Step, endpoint};
use crate::refunds::Refunds;
use crate::{keyed_write, once, ours, write};

#[tokio::test]
async fn a_refused_connect_failed() {
    let refusing = Refusing::start().unwrap();
    let mut refunds = Refunds::new(&once(), endpoint(refusing.addr()).connect_lazy());

    let (request, watch) = write();
    let status = refunds.refund(request).await.unwrap_err();
    assert_eq!(ours(&status).code(), Code::ConnectFailed);
    assert_eq!(ours(&status).outcome(), Outcome::Failed);
    assert_eq!(watch.verdict().unwrap().code(), Code::ConnectFailed);
}

async fn a_cut_connection() {
    for make in [write, keyed_write] {
        let (billing, channel) = Billing::on_loopback().await;
        let _held = billing.hold();
        let mut refunds = Refunds::new(&once(), channel);

        let (request, watch) = make();
        let (status, ()) = tokio::join!(refunds.refund(request), async {
            billing.wait_commits(1).await;
            billing.cut();
        });
        assert_eq!(ours(&status.unwrap_err()).code(), Code::ResponseLost);
        let verdict = watch.verdict().unwrap();
        assert_eq!(verdict.code(), Code::ResponseLost);
        assert_eq!(verdict.outcome(), Outcome::Unknown);
        assert_eq!(billing.commits(), 1);
    }
}

#[tokio::test]
async fn a_connection_cut_behind_the_request_is_unknown() {
    a_cut_connection().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_cut_behind_the_request_is_unknown_on_many_threads() {
    a_cut_connection().await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_before_its_status_is_unknown() {
    for bytes in [9, 40, 60] {
        let billing = testkit::Billing::start_without_keys().await.unwrap();
        let end = testkit::End::Close;
        billing.script([testkit::Step::HalfAnswer { bytes, end }]);
        let mut refunds = Refunds::new(&once(), endpoint(billing.addr()).connect_lazy());

        let (request, watch) = write();
        refunds.refund(request).await.unwrap_err();
        assert_eq!(watch.verdict().unwrap().code(), Code::ResponseLost);
        assert_eq!(billing.commits(), 1, "{bytes}");
    }
}

/// tonic calls both of them unavailable. Only one of them is a promise.
#[tokio::test]
async fn the_word_does_not_rest_on_the_status_code() {
    let (billing, channel) = Billing::on_loopback().await;
    billing.script([Step::CommitThenFail(Status::unavailable("going down"))]);
    let mut refunds = Refunds::new(&once(), channel);
    let (request, after_commit) = write();
    let one = refunds.refund(request).await.unwrap_err();

    let refusing = Refusing::start().unwrap();
    let mut refunds = Refunds::new(&once(), endpoint(refusing.addr()).connect_lazy());
    let (request, unsent) = write();
    let other = refunds.refund(request).await.unwrap_err();

    assert_eq!(one.code(), other.code());
    assert_eq!(after_commit.verdict().unwrap().outcome(), Outcome::Unknown);
    assert_eq!(unsent.verdict().unwrap().outcome(), Outcome::Failed);
}

#[tokio::test]
async fn a_connect_that_hangs_failed_at_the_endpoints_own_limit() {
    let unreachable = Unreachable::start().await.unwrap();
    let endpoint = endpoint(unreachable.addr()).connect_timeout(SHORT);
    let mut refunds = Refunds::new(&once(), endpoint.connect_lazy());

    let (request, watch) = write();
    let status = refunds.refund(request).await.unwrap_err();
    assert_eq!(ours(&status).code(), Code::ConnectFailed);
    assert_eq!(watch.verdict().unwrap().code(), Code::ConnectFailed);
}

/// The channel keeps what it was given until the connect ends. What it then lets go of never left.
#[tokio::test]
async fn a_connect_that_hangs_for_longer_is_unknown_until_the_channel_lets_go() {
    let unreachable = Unreachable::start().await.unwrap();
    let stack = once().with_deadline(SHORT);
    let mut refunds = Refunds::new(&stack, endpoint(unreachable.addr()).connect_lazy());

    let (request, watch) = write();
    let status = refunds.refund(request).await.unwrap_err();
    assert_eq!(ours(&status).code(), Code::TimeoutAfterSend);
    assert_eq!(watch.verdict().unwrap().outcome(), Outcome::Unknown);

    drop(unreachable);
    let settled = watch.call().unwrap().settled().await;
    assert_eq!(settled.code(), Code::TimeoutBeforeSend);
    assert_eq!(settled.outcome(), Outcome::Failed);
}

/// It drops a request that may have left, and tonic calls that cancelled: no proof of anything.
#[tokio::test(start_paused = true)]
async fn the_endpoints_timeout_for_whole_calls_proves_nothing() {
    let endpoint = Endpoint::from_static("http://billing").timeout(SHORT);
    let (billing, channel) = Billing::in_memory_through(&endpoint);
    let _held = billing.hold();
    let mut refunds = Refunds::new(&once(), channel);

    let (request, watch) = write();
    let status = refunds.refund(request).await.unwrap_err();
    assert_eq!(ours(&status).outcome(), Outcome::Unknown);
    assert_eq!(watch.verdict().unwrap().code(), Code::ResponseLost);
    assert_eq!(billing.commits(), 1);
}

/// Far below the deadline of ten seconds.
const SHORT: Duration = Duration::from_millis(100);
