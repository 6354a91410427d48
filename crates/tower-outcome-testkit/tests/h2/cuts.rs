//! Requests and answers cut at every byte.

use tower_outcome_testkit::{Billing, End, Step, What};

use crate::client::{BODY, CREATED, Client, happened, until};
use crate::raw::{self, Ending, Raw};

const ENDS: [(End, Ending); 2] = [(End::Close, Ending::Fin), (End::Reset, Ending::Reset)];

/// The frames of the answer to the first write.
fn created() -> Vec<u8> {
    let fields = [
        (":status", "201"),
        ("content-type", "application/json"),
        ("content-length", "59"),
    ];
    let head = raw::frame(raw::HEADERS, raw::END_HEADERS, 1, &raw::block(&fields));
    let body = raw::frame(raw::DATA, raw::END_STREAM, 1, CREATED.as_bytes());
    [head, body].concat()
}

#[tokio::test]
async fn reading_stops_after_exactly_that_many_bytes() {
    let request = raw::write(1, "k");
    let head = raw::head(1, "k").len();
    for (end, ending) in ENDS {
        for bytes in 1..request.len() {
            let billing = Billing::start().await.unwrap();
            billing.script([Step::StopAfter { bytes, end }]);

            let (mut client, _) = Raw::greeted(&billing, &[]).await;
            client.send(&request).await;
            assert_eq!(client.ending().await, (Vec::new(), ending));
            until(&billing, What::Stopped { bytes }).await;
            assert_eq!(billing.commits(), 0);
            let body = billing.received().first().map(|request| request.body.len());
            // Nine bytes of the DATA frame are its header.
            let expected = bytes.checked_sub(head).map(|bytes| bytes.saturating_sub(9));
            assert_eq!(body, expected, "{bytes}");
            assert!(billing.received().iter().all(|request| !request.complete));
        }
    }
}

#[tokio::test]
async fn what_the_connection_needs_for_itself_is_not_counted() {
    let ping = raw::frame(raw::PING, 0, 0, b"8 bytes.");
    let update = raw::frame(raw::WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes());
    let head = raw::head(1, "k");
    let between = [&update[..], &head, &ping, &raw::body(1)].concat();
    for bytes in [head.len(), head.len() + 1] {
        let billing = Billing::start().await.unwrap();
        billing.script([Step::StopAfter {
            bytes,
            end: End::Close,
        }]);

        let (mut client, _) = Raw::greeted(&billing, &[]).await;
        client.send(&between).await;
        assert_eq!(client.frame().await.kind, raw::PING);
        assert_eq!(client.ending().await, (Vec::new(), Ending::Fin));
        until(&billing, What::Stopped { bytes }).await;
    }
}

#[tokio::test]
async fn padding_is_counted_and_is_no_body() {
    let padded = raw::frame(raw::DATA, raw::PADDED | raw::END_STREAM, 1, b"\x04ab....");
    let head = raw::head(1, "k");
    for (bytes, body) in [(10, "a"), (11, "ab"), (12, "ab"), (14, "ab")] {
        let billing = Billing::start().await.unwrap();
        let bytes = head.len() + bytes + 1;
        billing.script([Step::StopAfter {
            bytes,
            end: End::Close,
        }]);

        let (mut client, _) = Raw::greeted(&billing, &[]).await;
        client.send([&head[..], &padded].concat()).await;
        client.ending().await;
        assert_eq!(billing.received()[0].body, body.as_bytes());
    }
}

#[tokio::test]
async fn a_request_no_longer_than_the_limit_is_read_and_not_committed() {
    let request = raw::write(1, "k");
    for bytes in [request.len(), request.len() + 1] {
        let billing = Billing::start().await.unwrap();
        billing.script([Step::StopAfter {
            bytes,
            end: End::Close,
        }]);

        let (mut client, _) = Raw::greeted(&billing, &[]).await;
        client.send(&request).await;
        assert_eq!(client.ending().await, (Vec::new(), Ending::Fin));
        assert!(billing.received()[0].complete);
        assert_eq!(billing.received()[0].body, BODY.as_bytes());
        assert_eq!(billing.commits(), 0);
    }
}

#[tokio::test]
async fn stopping_after_no_bytes_takes_the_next_connection_or_the_next_stream() {
    let stop = || Step::StopAfter {
        bytes: 0,
        end: End::Close,
    };
    let billing = Billing::start().await.unwrap();
    billing.script([stop()]);
    let mut client = Raw::connect(&billing).await;
    assert_eq!(client.ending().await, (Vec::new(), Ending::Fin));

    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    client.send(raw::write(1, "1")).await;
    client.read(created().len()).await;
    billing.script([stop()]);
    client.send(raw::write(3, "2")).await;
    assert_eq!(client.ending().await, (Vec::new(), Ending::Fin));
    assert_eq!(billing.received().len(), 1);
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn bytes_are_counted_for_one_stream_after_the_other() {
    let stop = |bytes| Step::StopAfter {
        bytes,
        end: End::Close,
    };
    let billing = Billing::start().await.unwrap();
    billing.script([Step::Answer, stop(1_000), stop(20)]);

    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    let flags = raw::END_HEADERS | raw::END_STREAM;
    let trailers = raw::frame(raw::HEADERS, flags, 1, &raw::block(&[("x-sum", "1")]));
    // The trailers open no stream and take no step; the third stream takes its own.
    client.send([raw::head(1, "1"), trailers].concat()).await;
    client.send(raw::head(3, "2")).await;
    client
        .send(raw::frame(raw::RST_STREAM, 0, 3, &8_u32.to_be_bytes()))
        .await;
    client.send(raw::write(5, "3")).await;
    client.ending().await;
    assert_eq!(happened(&billing, 5), [What::Stopped { bytes: 20 }]);
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn what_other_streams_send_is_not_counted() {
    let billing = Billing::start().await.unwrap();
    let head = raw::head(3, "2");
    let bytes = head.len() + 10;
    billing.script([
        Step::Answer,
        Step::StopAfter {
            bytes,
            end: End::Close,
        },
    ]);

    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    let frames = [raw::head(1, "1"), head, raw::body(1), raw::body(3)];
    client.send(frames.concat()).await;
    client.ending().await;
    assert_eq!(billing.commits_of("1"), 1);
    assert_eq!(billing.received()[1].body, BODY.as_bytes()[..1]);
}

#[tokio::test]
async fn a_look_up_is_cut_too() {
    let billing = Billing::start().await.unwrap();
    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    billing.script([Step::StopAfter {
        bytes: 5,
        end: End::Close,
    }]);

    let fields = [(":method", "GET"), (":path", "/refunds")];
    let flags = raw::END_HEADERS | raw::END_STREAM;
    client
        .send(raw::frame(raw::HEADERS, flags, 1, &raw::block(&fields)))
        .await;
    assert_eq!(client.ending().await, (Vec::new(), Ending::Fin));
    assert_eq!(billing.received(), []);
}

#[tokio::test]
async fn an_answer_is_cut_after_exactly_that_many_bytes() {
    let created = created();
    for (end, ending) in ENDS {
        for bytes in 0..=created.len() {
            let billing = Billing::start().await.unwrap();
            billing.script([Step::HalfAnswer { bytes, end }]);

            let (mut client, _) = Raw::greeted(&billing, &[]).await;
            client.send(raw::write(1, "k")).await;
            assert_eq!(client.ending().await, (created[..bytes].to_vec(), ending));
            assert_eq!(billing.commits(), 1);
        }
    }
}

#[tokio::test]
async fn a_client_takes_no_cut_answer_for_a_whole_one() {
    for (end, _) in ENDS {
        for bytes in 0..created().len() {
            let billing = Billing::start().await.unwrap();
            billing.script([Step::HalfAnswer { bytes, end }]);

            let answer = Client::connect(&billing).await.write("k").await;
            assert!(answer.is_err(), "{bytes} {answer:?}");
            assert_eq!(billing.commits(), 1);
        }
    }
}
