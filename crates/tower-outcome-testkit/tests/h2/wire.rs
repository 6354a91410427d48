//! The connection itself: settings, windows, and what is not HTTP/2.

use tower_outcome_testkit::{Billing, What};

use crate::client::{CREATED, happened, until};
use crate::raw::{self, Ending, Frame, Raw};

/// Announces windows of this size for new streams.
fn window_of(size: u32) -> Vec<u8> {
    [&[0, 4][..], &size.to_be_bytes()].concat()
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

#[tokio::test]
async fn a_body_keeps_to_the_windows_of_the_client() {
    let billing = Billing::start().await.unwrap();
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
    client
        .send(raw::frame(raw::WINDOW_UPDATE, 0, 1, &5_u32.to_be_bytes()))
        .await;
    assert_eq!(client.frame().await, data(0, &CREATED[10..15]));
    client
        .send(raw::frame(raw::SETTINGS, 0, 0, &window_of(100)))
        .await;
    assert_eq!(client.frame().await.kind, raw::SETTINGS);
    assert_eq!(client.frame().await, data(raw::END_STREAM, &CREATED[15..]));
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
    let broken = [
        (b"PRI * HTTP/2.0\r\n\r\nXX".to_vec(), protocol),
        ([raw::PREFACE, &raw::write(1, "k")].concat(), protocol),
        (after(raw::frame(raw::DATA, 0, 1, b"idle")), protocol),
        (after(raw::frame(raw::DATA, 0, 0, b"none")), protocol),
        (after(raw::write(2, "even")), protocol),
        (after(raw::frame(raw::CONTINUATION, 0, 1, b"")), protocol),
        (
            after([raw::frame(raw::HEADERS, 0, 1, b""), raw::body(1)].concat()),
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
