//! Streams are handed on, and end with their trailers.

use tower_outcome::{Code, MemoryLedger, Outcome, Stack};
use tower_outcome_testkit::{Billing, Frames, Reply, Step};

use crate::channel::{Refunds, refund};
use crate::{channel, intent};

/// A server that sends its head and one message, and then goes on for ever.
fn endless() -> Step {
    Step::Frames(Frames::on_commit().start(Reply::grpc(b"first")))
}

#[tokio::test]
async fn an_unkeyed_stream_is_handed_on_at_once_and_is_unknown_if_it_is_dropped() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([endless()]);
    let mut client = Refunds::over(&Stack::new(), channel(&billing.url()));
    let (request, watch) = refund();
    let mut stream = client.watch(request).await.unwrap();
    assert_eq!(stream.message().await.unwrap().unwrap(), b"first");
    assert!(watch.verdict().is_none());
    drop(stream);
    assert_eq!(watch.verdict().unwrap().code(), Code::ResponseLost);
    let settled = watch.call().unwrap().settled().await;
    assert_eq!(settled.code(), Code::ResponseLost);
}

#[tokio::test]
async fn an_unkeyed_stream_has_its_verdict_with_its_trailers() {
    for (status, outcome) in [("0", Outcome::Ok), ("13", Outcome::Unknown)] {
        let billing = Billing::start_without_keys().await.unwrap();
        let reply = Reply::grpc(b"first").with_trailer("grpc-status", status);
        billing.script([Step::CommitThenAnswerWith(reply)]);
        let mut client = Refunds::over(&Stack::new(), channel(&billing.url()));
        let (request, watch) = refund();
        let mut stream = client.watch(request).await.unwrap();
        assert_eq!(stream.message().await.unwrap().unwrap(), b"first");
        assert_eq!(stream.message().await.is_ok(), outcome == Outcome::Ok);
        assert_eq!(watch.verdict().unwrap().outcome(), outcome);
    }
}

#[tokio::test]
async fn a_keyed_stream_is_handed_on_with_its_second_message() {
    let billing = Billing::start_without_keys().await.unwrap();
    let two = Reply::grpc(b"first")
        .with_body([&b"\0\0\0\0\x05first"[..], b"\0\0\0\0\x06second"].concat());
    billing.script([Step::Frames(Frames::on_commit().start(two))]);
    let stack = Stack::new().with_ledger(MemoryLedger::default());
    let mut client = Refunds::over(&stack, channel(&billing.url()));
    let (mut request, watch) = refund();
    request.extensions_mut().insert(intent());
    let mut stream = client.watch(request).await.unwrap();
    assert_eq!(stream.message().await.unwrap().unwrap(), b"first");
    assert_eq!(stream.message().await.unwrap().unwrap(), b"second");
    drop(stream);
    assert_eq!(watch.verdict().unwrap().outcome(), Outcome::Unknown);
}

/// The only clock is the layer's own: how long it takes a silent stream for a single message.
#[tokio::test]
async fn a_keyed_stream_that_falls_silent_is_handed_on_after_a_while() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([endless()]);
    let mut client = Refunds::over(&Stack::new(), channel(&billing.url()));
    let (mut request, _) = refund();
    request.extensions_mut().insert(intent());
    let mut stream = client.watch(request).await.unwrap();
    assert_eq!(stream.message().await.unwrap().unwrap(), b"first");
}

#[tokio::test]
async fn a_stream_of_requests_is_sent_once_and_judged_by_its_answer() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenClose]);
    let mut client = Refunds::over(&Stack::new(), channel(&billing.url()));
    let parts = vec![b"one".to_vec(), b"two".to_vec()];
    client.collect(parts.clone()).await.unwrap_err();
    assert_eq!(billing.received().len(), 1);
    client.collect(parts).await.unwrap();
    assert_eq!(
        billing.received()[1].body,
        b"\0\0\0\0\x03one\0\0\0\0\x03two"
    );
}
