//! The key on the wire, and what a ledger makes of a repeat.

use std::time::Duration;

use tonic::Status;
use tower_outcome::{Code, KeyFormat, KeyedRetry, MemoryLedger, Profile, Stack, Verdict};

use crate::billing::{Billing, Step};
use crate::refunds::Refunds;
use crate::{intent, keyed_write, once, ours, write};

fn retrying() -> Stack {
    Stack::new().with_retry(KeyedRetry::new(3).with_first_delay(Duration::ZERO))
}

#[tokio::test]
async fn the_key_is_metadata_and_the_same_on_each_attempt() {
    let (billing, channel) = Billing::on_loopback().await;
    billing.script([
        Step::CommitThenFail(Status::unavailable("going down")),
        Step::Fail(Status::unavailable("still down")),
    ]);
    let profile = Profile::idempotency_key().with_replay_marker("idempotent-replayed");
    let mut refunds = Refunds::new(&retrying().with_profile(profile), channel);

    let (request, watch) = keyed_write();
    let answer = refunds.refund(request).await.unwrap();
    assert_eq!(answer.get_ref(), "re_1");
    assert_eq!(watch.verdict().unwrap().code(), Code::DoneReplayed);
    let key = Some(intent().render(0, KeyFormat::Uuid));
    assert_eq!(billing.received(), [key.clone(), key.clone(), key]);
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_write_without_a_key_is_sent_once() {
    let (billing, channel) = Billing::on_loopback().await;
    billing.script([Step::CommitThenFail(Status::unavailable("going down"))]);
    let stack = retrying().with_profile(Profile::idempotency_key());
    let mut refunds = Refunds::new(&stack, channel);

    let (request, watch) = write();
    let status = refunds.refund(request).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::Unavailable);
    assert_eq!(watch.verdict().unwrap().code(), Code::ServerError);
    assert_eq!(billing.received(), [None]);
}

#[tokio::test]
async fn a_key_that_nobody_promised_to_honour_repeats_nothing() {
    let (billing, channel) = Billing::on_loopback().await;
    billing.script([Step::CommitThenFail(Status::unavailable("going down"))]);
    let mut refunds = Refunds::new(&retrying(), channel);

    let (request, watch) = keyed_write();
    refunds.refund(request).await.unwrap_err();
    assert_eq!(watch.verdict().unwrap().code(), Code::ServerError);
    assert_eq!(billing.received().len(), 1);
}

#[tokio::test]
async fn the_same_call_again_is_already_done_and_answered_from_the_ledger() {
    let (billing, channel) = Billing::on_loopback().await;
    let stack = once().with_ledger(MemoryLedger::default());
    let mut refunds = Refunds::new(&stack, channel);

    let (request, watch) = keyed_write();
    assert_eq!(refunds.refund(request).await.unwrap().get_ref(), "re_1");
    assert_eq!(watch.verdict().unwrap().code(), Code::Done);

    let (request, watch) = keyed_write();
    let answer = refunds.refund(request).await.unwrap();
    assert_eq!(answer.get_ref(), "re_1");
    let verdict = answer.extensions().get::<Verdict<()>>().unwrap();
    assert_eq!(verdict.code(), Code::AlreadyDone);
    assert_eq!(watch.verdict().unwrap().code(), Code::AlreadyDone);
    assert_eq!(billing.received().len(), 1);
}

#[tokio::test]
async fn the_same_call_again_is_still_confirming_where_nobody_knows() {
    let (billing, channel) = Billing::on_loopback().await;
    billing.script([Step::CommitThenFail(Status::internal("a bug"))]);
    let stack = once().with_ledger(MemoryLedger::default());
    let mut refunds = Refunds::new(&stack, channel);

    let (request, watch) = keyed_write();
    let status = refunds.refund(request).await.unwrap_err();
    assert_eq!(status.message(), "a bug");
    assert_eq!(watch.verdict().unwrap().code(), Code::ServerError);

    let (request, watch) = keyed_write();
    let status = refunds.refund(request).await.unwrap_err();
    assert_eq!(ours(&status).code(), Code::StillConfirming);
    assert_eq!(watch.verdict().unwrap().code(), Code::StillConfirming);
    assert_eq!(billing.received().len(), 1);
}
