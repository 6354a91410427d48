//! Streams are handed on as they come, and sent once.

use std::time::Duration;

use futures_util::stream;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tonic::Status;
use tower_outcome::{Code, KeyedRetry, MemoryLedger, Outcome, Profile, Stack, Verdict};

use crate::billing::{Billing, Step};
use crate::ends::Ends as _;
use crate::refunds::Refunds;
use crate::{intent, keyed_write, once, watched, write};

#[tokio::test(start_paused = true)]
async fn a_stream_is_handed_on_at_its_head_and_judged_by_its_trailers() {
    let (billing, channel) = Billing::in_memory();
    let feed = billing.stream();
    let mut refunds = Refunds::new(&once(), channel);

    let (request, watch) = write();
    let start = Instant::now();
    // The server has said nothing beyond its head.
    let answer = refunds.refund_and_follow(request).await.unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert!(answer.extensions().get::<Verdict<()>>().is_none());
    let mut messages = answer.into_inner();
    for text in ["asked", "booked"] {
        feed.send(Ok(text.into())).unwrap();
        assert_eq!(messages.message().ends().await.unwrap().unwrap(), text);
    }
    assert!(watch.verdict().is_none(), "the stream has not ended");

    drop(feed);
    assert_eq!(messages.message().ends().await.unwrap(), None);
    assert_eq!(watch.verdict().unwrap().code(), Code::Done);
}

#[tokio::test]
async fn a_stream_that_is_dropped_before_its_end_is_unknown() {
    let (billing, channel) = Billing::on_loopback().await;
    let feed = billing.stream();
    let mut refunds = Refunds::new(&once(), channel);

    let (request, watch) = write();
    let mut messages = refunds.follow(request).await;
    feed.send(Ok("asked".into())).unwrap();
    messages.message().ends().await.unwrap();
    drop(messages);
    let verdict = watch.verdict().unwrap();
    assert_eq!(verdict.code(), Code::ResponseLost);
    assert_eq!(verdict.outcome(), Outcome::Unknown);
}

#[tokio::test]
async fn a_stream_that_is_cut_is_unknown() {
    let (billing, channel) = Billing::on_loopback().await;
    let feed = billing.stream();
    let mut refunds = Refunds::new(&once(), channel);

    let (request, watch) = write();
    let mut messages = refunds.follow(request).await;
    feed.send(Ok("asked".into())).unwrap();
    messages.message().ends().await.unwrap();
    billing.cut();
    messages.message().ends().await.unwrap_err();
    assert_eq!(watch.verdict().unwrap().code(), Code::ResponseLost);
}

#[tokio::test]
async fn a_stream_that_ends_in_a_status_has_its_word() {
    let (billing, channel) = Billing::on_loopback().await;
    let feed = billing.stream();
    let mut refunds = Refunds::new(&once(), channel);

    let (request, watch) = write();
    let mut messages = refunds.follow(request).await;
    feed.send(Ok("asked".into())).unwrap();
    messages.message().ends().await.unwrap();
    feed.send(Err(Status::internal("a bug"))).unwrap();
    messages.message().ends().await.unwrap_err();
    assert_eq!(watch.verdict().unwrap().code(), Code::ServerError);
}

#[tokio::test(start_paused = true)]
async fn a_keyed_stream_is_handed_on_at_its_second_message() {
    let (billing, channel) = Billing::in_memory();
    let feed = billing.stream();
    let mut refunds = Refunds::new(&once(), channel);
    for text in ["asked", "booked"] {
        feed.send(Ok(text.into())).unwrap();
    }

    let (request, watch) = keyed_write();
    let start = Instant::now();
    let mut messages = refunds.follow(request).await;
    assert_eq!(start.elapsed(), Duration::ZERO);
    for text in ["asked", "booked"] {
        assert_eq!(messages.message().ends().await.unwrap().unwrap(), text);
    }
    feed.send(Ok("paid".into())).unwrap();
    assert_eq!(messages.message().ends().await.unwrap().unwrap(), "paid");
    drop(feed);
    assert_eq!(messages.message().ends().await.unwrap(), None);
    assert_eq!(watch.verdict().unwrap().code(), Code::Done);
}

#[tokio::test(start_paused = true)]
async fn a_keyed_stream_without_a_second_message_is_handed_on_after_a_second() {
    let (billing, channel) = Billing::in_memory();
    let feed = billing.stream();
    let mut refunds = Refunds::new(&once(), channel);
    feed.send(Ok("asked".into())).unwrap();

    let (request, watch) = keyed_write();
    let start = Instant::now();
    let mut messages = refunds.follow(request).await;
    assert_eq!(start.elapsed().as_secs(), 1);
    assert_eq!(messages.message().ends().await.unwrap().unwrap(), "asked");
    drop(feed);
    assert_eq!(messages.message().ends().await.unwrap(), None);
    assert_eq!(watch.verdict().unwrap().code(), Code::Done);
}

/// Who asks in a stream is answered in one, key or not.
#[tokio::test(start_paused = true)]
async fn the_answer_to_a_stream_of_requests_is_handed_on_at_its_head() {
    let (billing, channel) = Billing::in_memory();
    let answers = billing.stream();
    let mut refunds = Refunds::new(&once(), channel);

    let (feed, mut messages) = mpsc::unbounded_channel();
    let (mut request, watch) = watched(stream::poll_fn(move |cx| messages.poll_recv(cx)));
    request.extensions_mut().insert(intent());
    let start = Instant::now();
    let (answer, ()) = tokio::join!(refunds.refund_each(request), async {
        feed.send(String::from("order A-1, 1000")).unwrap();
        drop(feed);
    });
    let mut messages = answer.unwrap().into_inner();
    assert_eq!(start.elapsed(), Duration::ZERO);
    drop(answers);
    assert_eq!(messages.message().ends().await.unwrap(), None);
    assert_eq!(watch.verdict().unwrap().code(), Code::Done);
}

#[tokio::test]
async fn a_stream_of_requests_is_sent_once_even_with_a_key() {
    let (billing, channel) = Billing::on_loopback().await;
    billing.script([Step::CommitThenFail(Status::unavailable("going down"))]);
    let stack = Stack::new()
        .with_retry(KeyedRetry::new(3).with_first_delay(Duration::ZERO))
        .with_profile(Profile::idempotency_key());
    let mut refunds = Refunds::new(&stack, channel);

    let (feed, mut messages) = mpsc::unbounded_channel();
    let (mut request, watch) = watched(stream::poll_fn(move |cx| messages.poll_recv(cx)));
    request.extensions_mut().insert(intent());
    let (status, ()) = tokio::join!(refunds.refund_many(request), async {
        feed.send(String::from("order A-1, 1000")).unwrap();
        drop(feed);
    });
    assert_eq!(status.unwrap_err().code(), tonic::Code::Unavailable);
    assert_eq!(watch.verdict().unwrap().code(), Code::ServerError);
    assert_eq!(billing.received().len(), 1);
}

#[tokio::test]
async fn a_stream_that_is_marked_as_a_replay_in_its_head_is_already_done() {
    let (billing, channel) = Billing::on_loopback().await;
    let profile = Profile::idempotency_key().with_replay_marker("idempotent-replayed");
    let stack = once().with_profile(profile);
    let mut refunds = Refunds::new(&stack, channel);
    let (request, _) = keyed_write();
    refunds.refund(request).await.unwrap();

    let feed = billing.stream();
    for text in ["asked", "booked"] {
        feed.send(Ok(text.into())).unwrap();
    }
    drop(feed);
    let (request, watch) = keyed_write();
    let answer = refunds.refund_and_follow(request).await.unwrap();
    let mut messages = answer.into_inner();
    while messages.message().ends().await.unwrap().is_some() {}
    assert_eq!(watch.verdict().unwrap().code(), Code::AlreadyDone);
}

/// More than the stack holds, so that only the caller has its end.
#[tokio::test]
async fn a_long_answer_to_a_keyed_call_is_handed_on_whole() {
    let (billing, channel) = Billing::on_loopback().await;
    let feed = billing.stream();
    let long = "paid ".repeat(400_000);
    feed.send(Ok(long.clone())).unwrap();
    drop(feed);
    let mut refunds = Refunds::new(&once(), channel);

    let (request, watch) = keyed_write();
    let answer = refunds.refund(request).await.unwrap();
    assert_eq!(answer.get_ref().len(), long.len());
    assert_eq!(watch.verdict().unwrap().code(), Code::Done);
}

#[tokio::test]
async fn a_keyed_stream_that_ended_well_is_done_in_the_ledger() {
    let (billing, channel) = Billing::on_loopback().await;
    let feed = billing.stream();
    let stack = once().with_ledger(MemoryLedger::default());
    let mut refunds = Refunds::new(&stack, channel);
    for text in ["asked", "booked"] {
        feed.send(Ok(text.into())).unwrap();
    }
    drop(feed);

    let (request, watch) = keyed_write();
    let mut messages = refunds.follow(request).await;
    while messages.message().ends().await.unwrap().is_some() {}
    assert_eq!(watch.verdict().unwrap().code(), Code::Done);

    let (request, watch) = keyed_write();
    let _ = refunds.refund_and_follow(request).await;
    assert_eq!(watch.verdict().unwrap().outcome(), Outcome::AlreadyDone);
    assert_eq!(billing.received().len(), 1);
}
