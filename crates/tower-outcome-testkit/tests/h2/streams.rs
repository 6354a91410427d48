//! Many requests over one connection at once.

use http::StatusCode;
use tokio::task::JoinSet;
use tokio_test::{assert_pending, task};
use tower_outcome_testkit::{Billing, ErrorCode, Reply, Step, What};

use crate::client::{Client, happened, on_both_runtimes, until, write};
use crate::raw::{self, Raw};

#[test]
fn each_stream_takes_its_step_when_its_head_has_come() {
    on_both_runtimes(|| async {
        let billing = Billing::start().await.unwrap();
        billing.script([
            Step::CommitThenHold,
            Step::CommitThenSilence,
            Step::AnswerWith(Reply::new(503)),
        ]);

        let mut client = Client::connect(&billing).await;
        let held = client.send(write("1"));
        let mut silent = task::spawn(client.send(write("2")));
        let busy = client.send(write("3"));
        let answered = client.send(write("4"));
        assert_eq!(busy.await.unwrap().status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answered.await.unwrap().status, StatusCode::CREATED);
        billing.wait_commits(3).await;
        billing.release();
        assert_eq!(held.await.unwrap().status, StatusCode::CREATED);
        assert_pending!(silent.poll());

        assert_eq!(happened(&billing, 3).last(), Some(&What::Holding));
        assert!(!happened(&billing, 5).contains(&What::Holding));
        assert_eq!(billing.received().len(), 4);
        assert_eq!(billing.commits(), 3);
        assert_eq!(billing.commits_of("3"), 0);
    });
}

#[test]
fn a_key_commits_once_however_many_streams_carry_it() {
    on_both_runtimes(|| async {
        let billing = Billing::start().await.unwrap();
        let mut client = Client::connect(&billing).await;
        let mut calls = JoinSet::new();
        for _ in 0..20 {
            calls.spawn(client.send(write("k")));
        }
        for answer in calls.join_all().await {
            assert_eq!(answer.unwrap().status, StatusCode::CREATED);
        }
        assert_eq!(billing.commits(), 1);
        assert_eq!(billing.received().len(), 20);
    });
}

#[tokio::test]
async fn bodies_that_come_mixed_are_told_apart_and_commit_in_the_order_of_their_ends() {
    let billing = Billing::start().await.unwrap();
    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    let start = |stream, body: &str| raw::frame(raw::DATA, 0, stream, body.as_bytes());
    let end = |stream, body: &str| raw::frame(raw::DATA, raw::END_STREAM, stream, body.as_bytes());

    client.send(raw::head(1, "1")).await;
    client.send(raw::head(3, "3")).await;
    client
        .send([start(1, "a"), start(3, "b"), start(1, "c")].concat())
        .await;
    client.send(end(3, "d")).await;
    billing.wait_commits(1).await;
    client.send(end(1, "e")).await;
    billing.wait_commits(2).await;
    let [first, second] = billing.received().try_into().unwrap();
    assert_eq!(
        (first.body.as_slice(), second.body.as_slice()),
        (&b"ace"[..], &b"bd"[..])
    );
    let id = |id: &str| What::Committed { id: id.to_owned() };
    assert!(happened(&billing, 3).contains(&id("re_1")));
    assert!(happened(&billing, 1).contains(&id("re_2")));
}

#[tokio::test]
async fn a_write_commits_only_when_its_end_was_read() {
    let billing = Billing::start().await.unwrap();
    let (mut client, _) = Raw::greeted(&billing, &[]).await;

    client.send(raw::head(1, "k")).await;
    client.send(raw::frame(raw::DATA, 0, 1, b"all of it")).await;
    // Its answer proves that the frames before it were read.
    client.send(raw::frame(raw::PING, 0, 0, b"8 bytes.")).await;
    let answer = client.frame().await;
    assert_eq!((answer.kind, answer.flags), (raw::PING, raw::ACK));
    assert_eq!(answer.payload, b"8 bytes.");
    assert_eq!(billing.commits(), 0);
    client.finish().await;
    assert_eq!(billing.commits(), 0);
    assert_eq!(billing.received()[0].body, b"all of it");
    assert!(!billing.received()[0].complete);
}

#[tokio::test]
async fn trailers_end_a_request() {
    let billing = Billing::start().await.unwrap();
    let (mut client, _) = Raw::greeted(&billing, &[]).await;

    let flags = raw::END_HEADERS | raw::END_STREAM;
    let trailers = raw::frame(raw::HEADERS, flags, 1, &raw::block(&[("x-sum", "1")]));
    client.send([raw::head(1, "k"), trailers].concat()).await;
    billing.wait_commits(1).await;
}

#[tokio::test]
async fn a_call_that_is_dropped_resets_its_stream_and_no_other() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenHold, Step::CommitThenHold]);

    let mut client = Client::connect(&billing).await;
    let dropped = client.send(write("1"));
    let kept = client.send(write("2"));
    billing.wait_commits(2).await;
    drop(dropped);
    let code = ErrorCode::CANCEL;
    until(&billing, What::ClientResetStream { code }).await;
    billing.release();
    assert_eq!(kept.await.unwrap().status, StatusCode::CREATED);
    let happened = happened(&billing, 1);
    assert_eq!(happened.last(), Some(&What::ClientResetStream { code }));
}

#[tokio::test]
async fn a_request_cut_short_by_its_client_commits_nothing() {
    let billing = Billing::start().await.unwrap();
    let (mut client, _) = Raw::greeted(&billing, &[]).await;

    client.send(raw::head(1, "k")).await;
    client.send(raw::frame(raw::DATA, 0, 1, b"a part")).await;
    client
        .send(raw::frame(raw::RST_STREAM, 0, 1, &8_u32.to_be_bytes()))
        .await;
    let code = ErrorCode::CANCEL;
    until(&billing, What::ClientResetStream { code }).await;
    assert_eq!(billing.received()[0].body, b"a part");
    assert!(!billing.received()[0].complete);
    assert_eq!(billing.commits(), 0);
}
