//! The connection itself: settings, windows, and what is not HTTP/2.

use tower_outcome_testkit::{Billing, End, Frames, Reply, Step, What};

use crate::client::{CREATED, Client, happened, on_both_runtimes, until, write};
use crate::raw::{self, Ending, Frame, Raw};

/// Announces windows of this size for new streams.
fn window_of(size: u32) -> Vec<u8> {
    [&[0, 4][..], &size.to_be_bytes()].concat()
}

fn window_update(stream: u32, more: u32) -> Vec<u8> {
    raw::frame(raw::WINDOW_UPDATE, 0, stream, &more.to_be_bytes())
}

#[tokio::test]
async fn the_server_says_how_many_streams_it_allows_if_it_is_told() {
    let windows = window_of((1 << 31) - 1);
    let billing = Billing::start().await.unwrap();
    let (_, settings) = Raw::greeted(&billing, &[]).await;
    assert_eq!(settings, windows);

    for most in [0, 1, 100] {
        billing.allow_streams(most);
        let (mut client, settings) = Raw::greeted(&billing, &[]).await;
        let allowed = [&[0, 3][..], &most.to_be_bytes()].concat();
        assert_eq!(settings, [windows.clone(), allowed].concat());
        // A client that sends all the same is served.
        client.send(raw::write(1, &most.to_string())).await;
        assert_eq!(client.frame().await.kind, raw::HEADERS);
    }
}

#[test]
fn a_client_keeps_to_the_streams_it_is_allowed() {
    on_both_runtimes(|| async {
        let billing = Billing::start().await.unwrap();
        billing.allow_streams(1);
        billing.script([Step::Answer, Step::CommitThenHold]);

        let mut client = Client::connect(&billing).await;
        client.write("1").await.unwrap();
        let (held, waiting) = (client.send(write("2")), client.send(write("3")));
        billing.wait_commits(2).await;
        billing.release();
        held.await.unwrap();
        waiting.await.unwrap();
        let answers = [1, 3, 5].map(|stream| {
            let timeline = billing.timeline();
            let mut places = timeline.iter().enumerate();
            let mut place = |what: fn(&What) -> bool| {
                let found = places.find(|(_, it)| it.stream == Some(stream) && what(&it.what));
                found.unwrap().0
            };
            let read = place(|what| matches!(what, What::ReadHead { .. }));
            (read, place(|what| matches!(what, What::Answered { .. })))
        });
        assert!(answers.is_sorted_by(|(_, answered), (read, _)| answered < read));
    });
}

#[tokio::test]
async fn a_body_keeps_to_the_window_of_its_stream_and_the_end_waits_for_it() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::AnswerThen(End::Close)]);
    let (mut client, _) = Raw::greeted(&billing, &window_of(10)).await;
    client.send(raw::write(1, "k")).await;
    assert_eq!(client.frame().await.kind, raw::HEADERS);
    let data = |flags, payload: &str| Frame {
        kind: raw::DATA,
        flags,
        stream: 1,
        payload: payload.as_bytes().to_vec(),
    };
    assert_eq!(client.frame().await, data(0, &CREATED[..10]));
    client.send(window_update(1, 5)).await;
    assert_eq!(client.frame().await, data(0, &CREATED[10..15]));
    client
        .send(raw::frame(raw::SETTINGS, 0, 0, &window_of(100)))
        .await;
    assert_eq!(client.frame().await.kind, raw::SETTINGS);
    let rest = data(raw::END_STREAM, &CREATED[15..]);
    assert_eq!(client.frame().await, rest);
    assert_eq!(client.ending().await, (Vec::new(), Ending::Fin));
}

#[tokio::test]
async fn bodies_keep_to_the_window_of_the_connection() {
    let billing = Billing::start().await.unwrap();
    let reply = Reply::new(200).with_body(vec![b'x'; 70_000]);
    billing.script([Step::AnswerWith(reply.with_trailer("x-sum", "1"))]);
    let (mut client, _) = Raw::greeted(&billing, &window_of(100_000)).await;
    client.send(raw::write(1, "k")).await;
    assert_eq!(client.frame().await.kind, raw::HEADERS);
    let mut body = 0;
    while body < 65_535 {
        body += client.frame().await.payload.len();
    }
    assert_eq!(body, 65_535);
    client.send(window_update(0, 10_000)).await;
    assert_eq!(client.frame().await.payload.len(), 70_000 - 65_535);
    let trailers = client.frame().await;
    assert_eq!(trailers.kind, raw::HEADERS);
    assert_eq!(trailers.flags, raw::END_HEADERS | raw::END_STREAM);
}

#[tokio::test]
async fn what_the_test_chose_to_send_heeds_no_window() {
    let reply = || Reply::new(200).with_body("body");
    let steps = [
        Step::HalfAnswer {
            bytes: usize::MAX,
            end: End::Close,
        },
        Step::Frames(Frames::on_head().reply(reply())),
        Step::Frames(Frames::on_head().start(reply())),
    ];
    for step in steps {
        let billing = Billing::start().await.unwrap();
        billing.script([step]);
        let (mut client, _) = Raw::greeted(&billing, &window_of(0)).await;
        client.send(raw::write(1, "k")).await;
        assert_eq!(client.frame().await.kind, raw::HEADERS);
        assert_eq!(client.frame().await.kind, raw::DATA);
    }
}

#[tokio::test]
async fn the_window_of_the_connection_is_given_back_whoever_used_it() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::ReadHeadThenSilence]);
    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    client.send(raw::head(1, "k")).await;
    for _ in 0..64 {
        client
            .send(raw::frame(raw::DATA, 0, 1, &[0; 16 * 1024]))
            .await;
    }
    let update = client.frame().await;
    assert_eq!((update.kind, update.stream), (raw::WINDOW_UPDATE, 0));
    assert_eq!(update.payload, (1024 * 1024_u32).to_be_bytes());
    assert!(billing.received()[0].body.is_empty());
}

#[tokio::test]
async fn a_head_in_pieces_with_padding_is_one_head() {
    let billing = Billing::start().await.unwrap();
    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    let head = raw::head(1, "k")[9..].to_vec();
    let (first, rest) = head.split_at(5);
    let padded = [&[3], first, b"..."].concat();
    client
        .send(raw::frame(raw::HEADERS, raw::PADDED, 1, &padded))
        .await;
    for byte in rest {
        client
            .send(raw::frame(raw::CONTINUATION, 0, 1, &[*byte]))
            .await;
    }
    client
        .send(raw::frame(raw::CONTINUATION, raw::END_HEADERS, 1, &[]))
        .await;
    client.send(raw::body(1)).await;
    billing.wait_commits(1).await;
    assert_eq!(billing.received()[0].key(), Some("k"));
}

#[tokio::test]
async fn a_request_in_single_bytes_is_one_request() {
    let billing = Billing::start().await.unwrap();
    let mut client = Raw::connect(&billing).await;
    let settings = raw::frame(raw::SETTINGS, 0, 0, &[]);
    for byte in [raw::PREFACE, &settings, &raw::write(1, "k")].concat() {
        client.send([byte]).await;
        tokio::task::yield_now().await;
    }
    billing.wait_commits(1).await;
    assert_eq!(billing.received().len(), 1);
}

#[tokio::test]
async fn frames_of_unknown_kinds_and_for_finished_streams_are_ignored() {
    let billing = Billing::start().await.unwrap();
    let (mut client, _) = Raw::greeted(&billing, &[]).await;
    client
        .send(raw::frame(0x42, 0xff, 7, b"what is this"))
        .await;
    client.send(raw::write(1, "1")).await;
    client.send(raw::body(1)).await;
    client.send(raw::write(3, "2")).await;
    billing.wait_commits(2).await;
}

#[tokio::test]
async fn what_breaks_the_protocol_is_refused_with_its_reason() {
    let settings = raw::frame(raw::SETTINGS, 0, 0, &[]);
    let after = |bytes: Vec<u8>| [raw::PREFACE, &settings, &bytes].concat();
    let (protocol, size, compression, calm) = (1, 6, 9, 11);
    let long_head = (0..70).fold(raw::frame(raw::HEADERS, 0, 1, &[]), |head, _| {
        [head, raw::frame(raw::CONTINUATION, 0, 1, &[0; 16 * 1024])].concat()
    });
    let ping = raw::frame(raw::PING, 0, 0, b"8 bytes.");
    let broken = [
        (b"PRI * HTTP/2.0\r\n\r\nXX".to_vec(), protocol),
        ([raw::PREFACE, &raw::write(1, "k")].concat(), protocol),
        (after(raw::frame(raw::DATA, 0, 1, b"idle")), protocol),
        (after(raw::frame(raw::DATA, 0, 0, b"none")), protocol),
        (after(raw::write(2, "even")), protocol),
        (after(raw::frame(raw::CONTINUATION, 0, 1, b"")), protocol),
        (
            after([raw::frame(raw::HEADERS, 0, 1, b""), ping.clone()].concat()),
            protocol,
        ),
        (
            after(raw::frame(raw::HEADERS, raw::END_HEADERS, 1, b"")),
            protocol,
        ),
        (
            after([raw::head(1, "k"), raw::head(1, "k")].concat()),
            protocol,
        ),
        (
            after(raw::frame(raw::WINDOW_UPDATE, 0, 0, &[0; 4])),
            protocol,
        ),
        (after(raw::frame(5, 0, 1, b"push")), protocol),
        (after(raw::frame(raw::PING, 0, 0, b"seven b")), size),
        (after(raw::frame(raw::SETTINGS, 0, 0, b"seven b")), size),
        (
            after(raw::frame(raw::DATA, 0, 1, &vec![0; 16 * 1024 + 1])),
            size,
        ),
        (
            after(raw::frame(raw::HEADERS, raw::END_HEADERS, 1, b"\xff\x7f")),
            compression,
        ),
        (after(long_head), calm),
    ];
    for (index, (bytes, code)) in broken.into_iter().enumerate() {
        let billing = Billing::start().await.unwrap();
        let mut client = Raw::connect(&billing).await;
        client.send(bytes).await;
        let (said, ending) = client.ending().await;
        assert_eq!(ending, Ending::Fin, "{index}");
        let refusal = said[said.len() - 17..].to_vec();
        assert_eq!(refusal[3], raw::GOAWAY, "{index}");
        assert_eq!(refusal[13..], u32::to_be_bytes(code), "{index}");
        until(&billing, What::Malformed).await;
        assert_eq!(billing.commits(), 0);
    }
}

#[tokio::test]
async fn a_client_that_leaves_in_its_preface_is_gone() {
    for bytes in [1, 2, 3, 20] {
        let billing = Billing::start().await.unwrap();
        let mut client = Raw::connect(&billing).await;
        client.send(&raw::PREFACE[..bytes]).await;
        client.finish().await;
        until(&billing, What::ClientClosed).await;
        assert_eq!(happened(&billing, 1), []);
    }
}
