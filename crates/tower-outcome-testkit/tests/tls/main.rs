//! The same service over TLS.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use http::{Request, StatusCode};
use http_body_util::Full;
use hyper::client::conn::http2::handshake;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tower_outcome_testkit::{Billing, BrokenTls, End, Step, Tls, TlsFault, What};

const WRITE: &str = "POST /refunds HTTP/1.1\r\nhost: billing\r\nidempotency-key: k\r\n\
    content-length: 2\r\n\r\n{}";

/// Trusts this certificate and no other.
fn trusting(certificate: CertificateDer<'static>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// A stream that hides nothing.
async fn connect(billing: &Billing, tls: &Tls, alpn: &[&str]) -> io::Result<TlsStream<TcpStream>> {
    let mut config = trusting(CertificateDer::from(tls.der().to_vec()));
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let stream = TcpStream::connect(billing.addr()).await?;
    let name = "localhost".try_into().unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

/// A client with a pool.
fn hyper(tls: &Tls) -> Client<HttpsConnector<HttpConnector>, Full<&'static [u8]>> {
    let certificate = CertificateDer::from_pem_slice(tls.pem().as_bytes()).unwrap();
    let connector = HttpsConnectorBuilder::new().with_tls_config(trusting(certificate));
    let connector = connector.https_only().enable_http1().build();
    Client::builder(TokioExecutor::new()).build(connector)
}

fn post(url: String) -> Request<Full<&'static [u8]>> {
    Request::post(url).body(Full::new(&b"{}"[..])).unwrap()
}

#[tokio::test]
async fn a_client_that_trusts_the_certificate_is_answered() {
    let tls = Tls::new().unwrap();
    let billing = Billing::start_tls(&tls).await.unwrap();
    assert!(billing.url().starts_with("https://127.0.0.1:"));
    let by_name = format!("https://localhost:{}", billing.addr().port());

    let client = hyper(&tls);
    for url in [billing.url(), by_name] {
        let answer = client.request(post(url)).await.unwrap();
        assert_eq!(answer.status(), StatusCode::CREATED);
    }
    assert_eq!(billing.commits(), 2);
}

#[tokio::test]
async fn a_client_that_does_not_trust_the_certificate_sends_nothing() {
    let billing = Billing::start_tls(&Tls::new().unwrap()).await.unwrap();
    let client = hyper(&Tls::new().unwrap());
    let error = client.request(post(billing.url())).await.unwrap_err();
    assert!(error.is_connect());
    assert_eq!(billing.received(), []);
    assert_eq!(billing.timeline(), []);
}

#[tokio::test]
async fn the_protocol_is_negotiated() {
    let tls = Tls::new().unwrap();
    let cases = [
        (vec![], vec!["http/1.1"], None),
        (vec!["h2", "http/1.1"], vec!["http/1.1", "h2"], Some("h2")),
        (vec!["http/1.1"], vec!["h2", "http/1.1"], Some("http/1.1")),
    ];
    for (server, client, chosen) in cases {
        let tls = tls.clone().with_alpn(server);
        let billing = Billing::start_tls(&tls).await.unwrap();
        let stream = connect(&billing, &tls, &client).await.unwrap();
        let negotiated = stream.get_ref().1.alpn_protocol();
        assert_eq!(negotiated, chosen.map(str::as_bytes));
    }
    let tls = tls.with_alpn(["h2"]);
    let billing = Billing::start_tls(&tls).await.unwrap();
    assert!(connect(&billing, &tls, &["http/1.1"]).await.is_err());
}

#[tokio::test]
async fn reading_stops_after_exactly_that_many_bytes_of_plaintext() {
    let tls = Tls::new().unwrap();
    for bytes in 0..WRITE.len() {
        let billing = Billing::start_tls(&tls).await.unwrap();
        billing.script([Step::StopAfter {
            bytes,
            end: End::Close,
        }]);
        let mut stream = connect(&billing, &tls, &[]).await.unwrap();
        stream.write_all(WRITE.as_bytes()).await.unwrap();
        // The end comes with `close_notify`, or this were an error.
        assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
        let stopped = |event: &_| matches!(event, What::Stopped { bytes: at } if *at == bytes);
        assert!(billing.timeline().iter().any(|it| stopped(&it.what)));
        assert_eq!(billing.commits(), 0);
    }
}

#[tokio::test]
async fn an_answer_is_cut_after_exactly_that_many_bytes_of_plaintext() {
    let tls = Tls::new().unwrap();
    for bytes in [0, 1, 12, 70] {
        let billing = Billing::start_tls(&tls).await.unwrap();
        billing.script([Step::HalfAnswer {
            bytes,
            end: End::Close,
        }]);
        let mut stream = connect(&billing, &tls, &[]).await.unwrap();
        stream.write_all(WRITE.as_bytes()).await.unwrap();
        let mut read = Vec::new();
        assert_eq!(stream.read_to_end(&mut read).await.unwrap(), bytes);
        assert_eq!(billing.commits(), 1);
    }
}

#[tokio::test]
async fn a_request_is_read_in_whatever_pieces_it_is_encrypted() {
    let tls = Tls::new().unwrap();
    let billing = Billing::start_tls(&tls).await.unwrap();
    // A client of HTTP/2 waits for no setting before it sends.
    let http2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    for (request, answer) in [
        (WRITE.as_bytes(), &b"HTTP/1.1 201"[..]),
        (http2, b"\0\0\x06\x04\0\0\0\0\0"),
    ] {
        let mut stream = connect(&billing, &tls, &[]).await.unwrap();
        for byte in request {
            stream.write_all(&[*byte]).await.unwrap();
            stream.flush().await.unwrap();
        }
        let mut start = vec![0; answer.len()];
        stream.read_exact(&mut start).await.unwrap();
        assert_eq!(start, answer);
    }
}

#[tokio::test]
async fn http_2_is_spoken_where_it_was_negotiated() {
    let tls = Tls::new().unwrap().with_alpn(["h2"]);
    let billing = Billing::start_tls(&tls).await.unwrap();
    let stream = connect(&billing, &tls, &["h2"]).await.unwrap();
    let (mut sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let answer = sender.send_request(post(billing.url())).await.unwrap();
    assert_eq!(answer.status(), StatusCode::CREATED);
    assert_eq!(billing.received()[0].stream, Some(1));
}

#[tokio::test]
async fn a_reset_ends_the_stream_without_a_word() {
    let tls = Tls::new().unwrap();
    let billing = Billing::start_tls(&tls).await.unwrap();
    billing.script([Step::CommitThenReset]);
    let mut stream = connect(&billing, &tls, &[]).await.unwrap();
    stream.write_all(WRITE.as_bytes()).await.unwrap();
    let error = stream.read(&mut [0]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn silence_lasts_until_the_client_leaves() {
    let tls = Tls::new().unwrap();
    let billing = Billing::start_tls(&tls).await.unwrap();
    billing.script([Step::CommitThenSilence]);
    let mut stream = connect(&billing, &tls, &[]).await.unwrap();
    stream.write_all(WRITE.as_bytes()).await.unwrap();
    billing.wait_for(|event| event.what == What::Holding).await;
    drop(stream);
    let left = |event: &_| matches!(event, What::ClientClosed | What::ClientReset);
    billing.wait_for(|event| left(&event.what)).await;
}

#[tokio::test]
async fn a_service_that_was_stopped_is_opened_with_the_same_certificate() {
    let tls = Tls::new().unwrap();
    let billing = Billing::start_tls_without_keys(&tls).await.unwrap();
    let refusing = billing.stop().await.unwrap();
    let billing = refusing.open().unwrap();
    for _ in 0..2 {
        let mut stream = connect(&billing, &tls, &[]).await.unwrap();
        stream.write_all(WRITE.as_bytes()).await.unwrap();
        stream.read_exact(&mut [0; 12]).await.unwrap();
    }
    assert_eq!(billing.commits_of("k"), 2);
}

#[tokio::test]
async fn a_broken_handshake_is_a_failed_connect() {
    let client = hyper(&Tls::new().unwrap());
    for fault in [TlsFault::Close, TlsFault::Garbage, TlsFault::Reset] {
        let broken = BrokenTls::start(fault).await.unwrap();
        let error = client.request(post(broken.url())).await.unwrap_err();
        assert!(error.is_connect(), "{fault:?}");
        assert_eq!(broken.connections(), 1);
        assert!(
            broken
                .timeline()
                .iter()
                .any(|it| it.what == What::ReadHello)
        );
    }
}

#[tokio::test]
async fn debug_output_shows_no_key() {
    assert_eq!(format!("{:?}", Tls::new().unwrap()), "Tls { .. }");
}
