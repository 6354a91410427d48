//! Unary calls and streams of gRPC.

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use tokio_test::{assert_pending, task};
use tower_outcome_testkit::{Billing, End, Frames, Reply, Step};

use crate::client::{Client, read};

const MESSAGE: &[u8] = b"\x0a\x04re_1";
const FRAMED: &[u8] = b"\0\0\0\0\x06\x0a\x04re_1";

fn call(key: &str, message: &'static [u8]) -> Request<Full<Bytes>> {
    Request::post("http://billing/refunds.Refunds/Create")
        .header("content-type", "application/grpc+proto")
        .header("te", "trailers")
        .header("idempotency-key", key)
        .body(Bytes::from_static(message).into())
        .unwrap()
}

#[tokio::test]
async fn a_call_is_answered_with_one_message_and_its_status_in_trailers() {
    let billing = Billing::start().await.unwrap();
    let mut client = Client::connect(&billing).await;

    let answer = client.send(call("k", b"\0\0\0\0\x01x")).await.unwrap();
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.headers["content-type"], "application/grpc");
    assert!(!answer.headers.contains_key("content-length"));
    assert_eq!(answer.body, FRAMED);
    assert_eq!(answer.trailers.unwrap()["grpc-status"], "0");
    assert_eq!(billing.commits_of("k"), 1);
    assert_eq!(billing.commits_at("/refunds.Refunds/Create"), 1);

    let replayed = client.send(call("k", b"\0\0\0\0\x01x")).await.unwrap();
    assert_eq!(replayed.headers["idempotent-replayed"], "true");
    assert_eq!(replayed.body, FRAMED);
    let refused = client.send(call("k", b"\0\0\0\0\x01y")).await.unwrap();
    assert_eq!(refused.headers["grpc-status"], "3");
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn what_a_call_committed_is_found_with_nothing_known_of_its_message() {
    let billing = Billing::start().await.unwrap();
    let mut client = Client::connect(&billing).await;
    client.send(call("k", b"\0\0\0\0\x01x")).await.unwrap();

    let found = read(Method::GET, "/refunds.Refunds/Create?key=k");
    let found = client.send(found).await.unwrap();
    let expected = r#"{"found":[{"id":"re_1","order":null,"amount":null}]}"#;
    assert_eq!(found.text(), expected);
}

#[tokio::test]
async fn a_status_can_be_the_head_alone() {
    let billing = Billing::start().await.unwrap();
    let busy =
        Reply::grpc_status(14, "100% busy\u{e9}").with_header("grpc-retry-pushback-ms", "100");
    billing.script([Step::AnswerWith(busy)]);

    let answer = Client::connect(&billing)
        .await
        .send(call("k", b""))
        .await
        .unwrap();
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.headers["grpc-status"], "14");
    assert_eq!(answer.headers["grpc-message"], "100%25 busy%C3%A9");
    assert_eq!(answer.headers["grpc-retry-pushback-ms"], "100");
    assert!(answer.body.is_empty() && answer.trailers.is_none());
    assert_eq!(billing.commits(), 0);
}

#[tokio::test]
async fn a_status_can_follow_a_message() {
    let billing = Billing::start().await.unwrap();
    let lost = Reply::grpc(MESSAGE)
        .with_trailer("grpc-status", "14")
        .with_trailer("grpc-retry-pushback-ms", "-1");
    billing.script([Step::CommitThenAnswerWith(lost)]);

    let answer = Client::connect(&billing)
        .await
        .send(call("k", b""))
        .await
        .unwrap();
    assert_eq!(answer.body, FRAMED);
    let trailers = answer.trailers.unwrap();
    assert_eq!(trailers["grpc-status"], "14");
    assert_eq!(trailers["grpc-retry-pushback-ms"], "-1");
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_message_without_its_trailers_is_no_whole_answer() {
    let billing = Billing::start().await.unwrap();
    let frames = Frames::on_commit()
        .start(Reply::grpc(MESSAGE))
        .then(End::Close);
    billing.script([Step::Frames(frames)]);

    let answer = Client::connect(&billing).await.send(call("k", b"")).await;
    assert!(answer.is_err());
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_stream_of_messages_can_stay_open_after_the_first() {
    let billing = Billing::start().await.unwrap();
    let frames = Frames::on_commit().start(Reply::grpc(MESSAGE));
    billing.script([Step::Frames(frames)]);

    let mut client = Client::connect(&billing).await;
    let mut body = client.head(call("k", b"")).await.into_body();
    assert_eq!(
        body.frame().await.unwrap().unwrap().into_data().unwrap(),
        FRAMED
    );
    assert_pending!(task::spawn(body.frame()).poll());
}
