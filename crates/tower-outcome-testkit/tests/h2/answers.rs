//! Steps that end in an answer.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use tower_outcome_testkit::{Billing, End, LookUp, Reply, Step, What};

use crate::client::{BODY, CREATED, Client, happened, read, write};
use crate::raw::{self, Ending, Raw};

#[tokio::test]
async fn an_empty_script_commits_and_answers() {
    let billing = Billing::start().await.unwrap();

    let answer = Client::connect(&billing).await.write("k").await.unwrap();
    assert_eq!(answer.status, StatusCode::CREATED);
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(answer.headers["content-length"], "59");
    assert_eq!(answer.text(), CREATED);
    assert_eq!(billing.commits_of("k"), 1);
    assert_eq!(billing.commits_at("/refunds"), 1);
}

#[tokio::test]
async fn a_request_is_kept_as_it_came() {
    let billing = Billing::start().await.unwrap();
    let mut client = Client::connect(&billing).await;
    client.write("k").await.unwrap();
    client
        .send(read(Method::GET, "/refunds?key=k"))
        .await
        .unwrap();

    let [write, read] = billing.received().try_into().unwrap();
    assert_eq!((write.connection, write.stream), (1, Some(1)));
    assert_eq!(
        (write.method.as_str(), write.path.as_str()),
        ("POST", "/refunds")
    );
    assert_eq!(write.header("host"), Some("billing"));
    assert_eq!(write.key(), Some("k"));
    assert_eq!(write.body, BODY.as_bytes());
    assert!(write.complete);
    assert!(write.headers.iter().all(|(name, _)| !name.starts_with(':')));
    assert_eq!(
        (read.stream, read.query.as_deref()),
        (Some(3), Some("key=k"))
    );
}

#[tokio::test]
async fn both_protocols_come_to_the_same_books() {
    let billing = Billing::start().await.unwrap();
    Client::connect(&billing).await.write("k").await.unwrap();

    let stream = tokio::net::TcpStream::connect(billing.addr())
        .await
        .unwrap();
    let stream = hyper_util::rt::TokioIo::new(stream);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let answer = sender.send_request(write("k")).await.unwrap();
    assert_eq!(answer.headers()["idempotent-replayed"], "true");
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_key_is_replayed_and_belongs_to_one_request() {
    let billing = Billing::start().await.unwrap();
    let mut client = Client::connect(&billing).await;
    client.write("k").await.unwrap();

    let replayed = client.write("k").await.unwrap();
    assert_eq!(replayed.headers["idempotent-replayed"], "true");
    assert_eq!(replayed.text(), CREATED);
    let other = Request::post("http://billing/refunds").header("idempotency-key", "k");
    let refused = client
        .send(other.body(Full::default()).unwrap())
        .await
        .unwrap();
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(billing.commits(), 1);
    assert!(happened(&billing, 5).contains(&What::KeyReused));
}

#[tokio::test]
async fn a_refund_is_found_and_a_look_up_takes_no_step() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::Answer, Step::AnswerWith(Reply::new(503))]);
    let mut client = Client::connect(&billing).await;
    client.write("k").await.unwrap();

    let found = client
        .send(read(Method::GET, "/refunds?reference=r-1"))
        .await
        .unwrap();
    assert_eq!(found.text(), format!(r#"{{"found":[{CREATED}]}}"#));
    let head = client
        .send(read(Method::HEAD, "/refunds?key=k"))
        .await
        .unwrap();
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    assert_eq!(head.headers["content-length"], found.body.len().to_string());
    billing.look_up_by(LookUp::Key);
    let refused = client
        .send(read(Method::GET, "/refunds?reference=r-1"))
        .await
        .unwrap();
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let busy = client.write("k").await.unwrap();
    assert_eq!(busy.status, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn a_scripted_answer_is_sent_with_or_without_a_commit() {
    let reply = Reply::new(503)
        .with_header("Retry-After", "7")
        .with_body("busy")
        .with_trailer("X-Reason", "load");
    for (step, commits) in [
        (Step::AnswerWith(reply.clone()), 0),
        (Step::CommitThenAnswerWith(reply), 1),
    ] {
        let billing = Billing::start().await.unwrap();
        billing.script([step]);

        let answer = Client::connect(&billing).await.write("k").await.unwrap();
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.headers["retry-after"], "7");
        assert_eq!(answer.text(), "busy");
        assert_eq!(answer.trailers.unwrap()["x-reason"], "load");
        assert_eq!(billing.commits(), commits);
    }
}

#[tokio::test]
async fn an_answer_without_a_body_ends_with_its_head() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerWith(Reply::new(204))]);

    let answer = Client::connect(&billing).await.write("k").await.unwrap();
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    assert_eq!((answer.headers.len(), answer.body.len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_answer_can_come_late() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerAfter(Duration::from_millis(1500))]);

    let mut client = Client::connect(&billing).await;
    client.write("k").await.unwrap();
    let lines: Vec<_> = billing.timeline().iter().map(ToString::to_string).collect();
    let expected = [
        "     0.000 ms  connection 1  accepted",
        "     0.000 ms  connection 1 stream 1  read the head of POST /refunds",
        "     0.000 ms  connection 1 stream 1  read all",
        "     0.000 ms  connection 1 stream 1  committed re_1",
        "     0.000 ms  connection 1 stream 1  holding",
        "  1500.000 ms  connection 1 stream 1  answered 201",
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn an_answered_connection_can_end_in_either_way() {
    for (end, ending) in [(End::Close, Ending::Fin), (End::Reset, Ending::Reset)] {
        let billing = Billing::start().await.unwrap();
        billing.script([Step::AnswerThen(end)]);

        let (mut client, _) = Raw::greeted(&billing, &[]).await;
        client.send(raw::write(1, "k")).await;
        assert_eq!(client.frame().await.kind, raw::HEADERS);
        assert_eq!(client.frame().await.flags, raw::END_STREAM);
        assert_eq!(client.ending().await, (Vec::new(), ending));
        assert_eq!(
            happened(&billing, 1).last(),
            Some(&What::Answered { status: 201 })
        );
    }
}

#[tokio::test]
async fn bodies_of_any_size_go_either_way() {
    let billing = Billing::start().await.unwrap();
    let large = vec![b'x'; 3 * 1024 * 1024];
    billing.script([Step::CommitThenAnswerWith(
        Reply::new(200).with_body(large.clone()),
    )]);

    let request = Request::post("http://billing/refunds");
    let request = request.body(Bytes::from(large.clone()).into()).unwrap();
    let answer = Client::connect(&billing).await.send(request).await.unwrap();
    assert_eq!(answer.body, large);
    assert_eq!(billing.received()[0].body, large);
}

#[tokio::test]
async fn a_long_head_goes_either_way_in_continuations() {
    let billing = Billing::start().await.unwrap();
    let long = "v".repeat(40_000);
    let reply = (0..2).fold(Reply::new(200), |reply, n| {
        reply.with_header(format!("x-{n}"), &long[..7_000])
    });
    billing.script([Step::AnswerWith(reply)]);

    let request = Request::post("http://billing/refunds").header("x-long", &long);
    let request = request.body(Full::default()).unwrap();
    let answer = Client::connect(&billing).await.send(request).await.unwrap();
    assert_eq!(answer.headers["x-1"], long[..7_000]);
    assert_eq!(billing.received()[0].header("x-long"), Some(long.as_str()));
}
