//! Answers that are handed on before their end.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use http_body_util::BodyExt as _;
use tokio::runtime::Handle;
use tokio::time::Instant;
use tower::{Service as _, ServiceBuilder, ServiceExt as _};
use tower_outcome::transport::Wire;
use tower_outcome::{
    BoxError, ClaimLayer, Code, Context, DeadlineLayer, Error, Gate, KeepResponseLayer, KeyLayer,
    Ledger as _, Outcome, RequestExt as _, ShieldLayer,
};
use tower_outcome_core::ledger::{EntryKey, State};

use crate::clients::write;
use crate::ends::Ends as _;
use crate::grpc::{answering, server, watched};
use crate::intent;
use crate::ledger::Watched;

/// The error of ours that a body ends in.
fn ours(error: BoxError) -> Error {
    *error.downcast().expect("an error of ours")
}

/// The head of a stream is with the caller; the write is still under way.
#[tokio::test]
async fn draining_counts_a_write_whose_stream_is_still_read() {
    for claimed in [false, true] {
        let ledger = Watched::new();
        let (feed, server) = server();
        (0..2).for_each(|_| feed.message());
        let shield = ShieldLayer::new();
        let client = ServiceBuilder::new()
            .layer(KeepResponseLayer::new())
            .layer(shield.clone())
            .layer(ClaimLayer::new(ledger.clone()))
            .layer(KeyLayer::new())
            .service(Wire::unknown(server));
        let (mut request, watch) = watched();
        if claimed {
            request = request.with_intent(intent());
        }
        let answer = client.oneshot(request).await.unwrap();
        assert_eq!(shield.drain(Duration::ZERO).await, 1);
        let error = ours(answer.into_body().collect().ends().await.unwrap_err());
        assert_eq!(error.outcome(), Outcome::Unknown);
        if claimed {
            ledger.wait_for(&intent(), State::Unknown).await;
        }

        feed.status(0);
        assert_eq!(
            watch.call().unwrap().settled().ends().await.code(),
            Code::Done
        );
        assert_eq!(shield.drain(Duration::MAX).ends().await, 0);
    }
}

#[tokio::test]
async fn a_stream_that_is_read_keeps_its_place() {
    let (feed, server) = server();
    let shield = ShieldLayer::with_slots(1);
    let mut client = ServiceBuilder::new()
        .layer(KeepResponseLayer::new())
        .layer(shield)
        .service(Wire::unknown(server));
    let (request, watch) = watched();
    let answer = client.call(request).await.unwrap();
    let refused = client.call(write("http://billing")).await.unwrap_err();
    assert_eq!(refused.code(), Code::Overloaded);

    feed.status(0);
    answer.into_body().collect().ends().await.unwrap();
    assert_eq!(watch.verdict().unwrap().code(), Code::Done);
}

/// What an answer costs beyond its write, as long as it is read.
#[tokio::test]
async fn an_answer_that_is_handed_on_takes_two_tasks_and_three_with_a_claim() {
    let tasks = || Handle::current().metrics().num_alive_tasks();
    for (claimed, cost) in [(false, 2), (true, 3)] {
        let (feed, server) = server();
        (0..2).for_each(|_| feed.message());
        let client = ServiceBuilder::new()
            .layer(KeepResponseLayer::new())
            .layer(ShieldLayer::new())
            .layer(ClaimLayer::new(Watched::new()))
            .layer(KeyLayer::new())
            .service(Wire::unknown(server));
        let (mut request, watch) = watched();
        if claimed {
            request = request.with_intent(intent());
        }
        let before = tasks();
        let answer = client.oneshot(request).await.unwrap();
        assert_eq!(tasks() - before, cost, "claimed: {claimed}");

        feed.status(0);
        answer.into_body().collect().ends().await.unwrap();
        watch.call().unwrap().settled().ends().await;
        while tasks() > before {
            tokio::task::yield_now().await;
        }
    }
}

/// The head of a gRPC answer does not end the deadline's watch.
#[tokio::test(start_paused = true)]
async fn an_answer_whose_message_never_comes_ends_with_the_deadline() {
    for claimed in [false, true] {
        let ledger = Watched::new();
        let (feed, server) = server();
        (0..2).for_each(|_| feed.message());
        let shield = ShieldLayer::new();
        let client = ServiceBuilder::new()
            .layer(KeepResponseLayer::new())
            .layer(DeadlineLayer::new(Duration::from_secs(1)))
            .layer(shield.clone())
            .layer(ClaimLayer::new(ledger.clone()))
            .layer(KeyLayer::new())
            .service(Wire::unknown(server).with_hard_limit(Duration::from_secs(2)));
        let (mut request, watch) = watched();
        if claimed {
            request = request.with_intent(intent());
        }
        let start = Instant::now();
        let answer = client.oneshot(request).await.unwrap();
        assert!(watch.verdict().is_none(), "the answer has not ended");
        let error = ours(answer.into_body().collect().ends().await.unwrap_err());
        assert_eq!(error.code(), Code::TimeoutAfterSend);
        assert_eq!(watch.verdict().unwrap().code(), Code::TimeoutAfterSend);
        assert_eq!(start.elapsed().as_secs(), 1);
        if claimed {
            let row = ledger.read(&EntryKey::of(&intent())).await.unwrap();
            assert_eq!(row.unwrap().state, State::Unknown, "taken down, then told");
        }

        // The hard limit ends what the deadline did not.
        let settled = watch.call().unwrap().settled().ends().await;
        assert_eq!(settled.code(), Code::TimeoutAfterSend);
        assert_eq!(start.elapsed().as_secs(), 3);
        assert_eq!(shield.drain(Duration::MAX).ends().await, 0);
        drop(feed);
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_that_comes_after_the_deadline_is_still_read() {
    let (feed, server) = server();
    let client = ServiceBuilder::new()
        .layer(KeepResponseLayer::new())
        .layer(DeadlineLayer::new(Duration::from_secs(1)))
        .layer(ShieldLayer::new())
        .service(Wire::unknown(server));
    let (request, watch) = watched();
    let answer = client.oneshot(request).await.unwrap();
    answer.into_body().collect().ends().await.unwrap_err();
    assert_eq!(watch.verdict().unwrap().outcome(), Outcome::Unknown);
    feed.message();
    feed.status(0);
    assert_eq!(
        watch.call().unwrap().settled().ends().await.code(),
        Code::Done
    );
    assert_eq!(watch.verdict().unwrap().code(), Code::Done);
}

/// A keyed stream let go of in the middle.
#[tokio::test]
async fn a_claimed_stream_that_is_dropped_is_unknown_until_its_end_comes() {
    let ledger = Watched::new();
    let (feed, server) = server();
    (0..2).for_each(|_| feed.message());
    let client = ServiceBuilder::new()
        .layer(KeepResponseLayer::new())
        .layer(ShieldLayer::new())
        .layer(ClaimLayer::new(ledger.clone()))
        .layer(KeyLayer::new())
        .service(Wire::unknown(server));
    let (request, _) = watched();
    drop(client.oneshot(request.with_intent(intent())).await.unwrap());
    ledger.wait_for(&intent(), State::Unknown).await;
    feed.status(0);
    ledger.wait_for(&intent(), State::Done).await;
}

/// Whoever left does not pay for a stream without end.
#[tokio::test]
async fn a_stream_that_nobody_listens_to_is_read_up_to_the_cap() {
    let (feed, server) = server();
    let client = ServiceBuilder::new()
        .layer(KeepResponseLayer::new())
        .layer(ShieldLayer::new())
        .service(Wire::unknown(server).with_reply_cap(60));
    let (request, watch) = watched();
    drop(client.oneshot(request).await.unwrap());
    (0..100).for_each(|_| feed.message());
    feed.status(0);
    let settled = watch.call().unwrap().settled().ends().await;
    assert_eq!(settled.code(), Code::ResponseLost);
}

#[tokio::test]
async fn an_answer_that_panics_while_it_is_read_is_unknown() {
    let panics = stream::once(async { panic!("a layer of the user's below the transport") });
    let client = ServiceBuilder::new()
        .layer(KeepResponseLayer::new())
        .layer(ShieldLayer::new())
        .service(Wire::unknown(answering(panics.boxed())));
    let (request, watch) = watched();
    let answer = client.oneshot(request).await.unwrap();
    let error = ours(answer.into_body().collect().ends().await.unwrap_err());
    assert_eq!(error.code(), Code::ResponseLost);
    assert_eq!(watch.verdict().unwrap().code(), Code::ResponseLost);
}

/// A tool call that ends ends the streams that its handler left behind.
#[tokio::test]
async fn a_stream_ends_with_its_tool_call() {
    let (_feed, server) = server();
    let client = ServiceBuilder::new()
        .layer(KeepResponseLayer::new())
        .layer(ShieldLayer::new())
        .service(Wire::unknown(server));
    let context = Context::new(&intent(), 0, Gate::new());
    let answer = context.clone().scope(client.oneshot(watched().0)).await;
    context.gate().seal();
    let error = ours(
        answer
            .unwrap()
            .into_body()
            .collect()
            .ends()
            .await
            .unwrap_err(),
    );
    assert_eq!(error.code(), Code::TimeoutAfterSend);
}

/// A repeat is refused while the first one's stream is read; then that ends well.
#[tokio::test]
async fn a_refused_repeat_does_not_take_the_watch_of_the_first() {
    let (feed, server) = server();
    let mut client = ServiceBuilder::new()
        .layer(KeepResponseLayer::new())
        .layer(ShieldLayer::new())
        .service(Wire::unknown(server));
    let (request, watch) = watched();
    let answer = client.call(request).await.unwrap();
    let mut repeat = write("http://billing");
    repeat.extensions_mut().insert(watch.clone());
    let repeat = client.call(repeat).await.unwrap_err();
    assert_eq!(repeat.code(), Code::StillConfirming);
    feed.status(0);
    answer.into_body().collect().ends().await.unwrap();
    assert_eq!(watch.verdict().unwrap().code(), Code::Done);
}
