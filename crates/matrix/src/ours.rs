//! Our stack over each client that it knows.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use hyper::client::conn::{http1, http2};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tonic::transport::Endpoint;
use tower::ServiceBuilder;
use tower_outcome::transport::Wire;
use tower_outcome::{
    BoxError, DeadlineLayer, ForWrites as _, KeyLayer, KeyedRetry, Outcome, OutcomeBody,
    OutcomeClient, OutcomeLayer, ShieldLayer, Stack,
};
use tower_outcome_testkit::Told;

use crate::client::{Client, Protocol, Write};

/// Our stack over each client that it knows.
#[must_use]
pub fn ours() -> [Client; 9] {
    [
        Client::new("hyper connection, h1", Protocol::Http1, http1_connection),
        Client::new("hyper-util, h1", Protocol::Http1, hyper_h1),
        Client::new("reqwest, h1", Protocol::Http1, reqwest_h1),
        Client::new("hyper connection, h2", Protocol::Http2, http2_connection),
        Client::new("hyper-util, h2", Protocol::Http2, hyper_h2),
        Client::new("reqwest, h2", Protocol::Http2, reqwest_h2),
        Client::new("tonic", Protocol::Grpc, tonic_channel),
        Client::new("hyper-util, TLS", Protocol::Https, hyper_tls),
        Client::new("reqwest, TLS", Protocol::Https, reqwest_tls),
    ]
}

fn stack(deadline: Duration) -> Stack {
    Stack::new()
        .with_deadline(deadline)
        .with_hard_limit(deadline)
        .with_retry(KeyedRetry::new(1))
}

fn hyper_h1(deadline: Duration) -> Write {
    let builder = legacy::Client::builder(TokioExecutor::new());
    json(stack(deadline).over(builder.build_http()).boxed())
}

fn hyper_h2(deadline: Duration) -> Write {
    let mut builder = legacy::Client::builder(TokioExecutor::new());
    json(
        stack(deadline)
            .over(builder.http2_only(true).build_http())
            .boxed(),
    )
}

/// Trusts nobody: it only meets servers that never come to show a certificate.
fn hyper_tls(deadline: Duration) -> Write {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has versions of TLS")
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls);
    let builder = legacy::Client::builder(TokioExecutor::new());
    let client = builder.build(connector.https_only().enable_http1().build());
    json(stack(deadline).over(client).boxed())
}

fn reqwest_tls(deadline: Duration) -> Write {
    over_reqwest(reqwest::Client::builder().https_only(true), deadline)
}

fn reqwest_h1(deadline: Duration) -> Write {
    over_reqwest(reqwest::Client::builder().http1_only(), deadline)
}

fn reqwest_h2(deadline: Duration) -> Write {
    over_reqwest(reqwest::Client::builder().http2_prior_knowledge(), deadline)
}

fn over_reqwest(builder: reqwest::ClientBuilder, deadline: Duration) -> Write {
    let client = builder.no_proxy().for_writes().build();
    json(
        stack(deadline)
            .over(client.expect("no TLS is set up"))
            .boxed(),
    )
}

/// One connection, made by the first write.
fn http1_connection(deadline: Duration) -> Write {
    connected(deadline, async move |socket| {
        let (sender, connection) = http1::handshake(socket).await?;
        tokio::spawn(connection);
        // It cannot be cloned: a buffer stands where the stack clones.
        let layers = ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(DeadlineLayer::new(deadline))
            .buffer::<Request<OutcomeBody>>(1)
            .layer(ShieldLayer::new())
            .layer(KeyLayer::new());
        let wire = Wire::http1(sender).with_hard_limit(deadline);
        Ok(tower_outcome::Client::new(layers.service(wire)).boxed())
    })
}

/// One connection, made by the first write.
fn http2_connection(deadline: Duration) -> Write {
    connected(deadline, async move |socket| {
        let (sender, connection) = http2::handshake(TokioExecutor::new(), socket).await?;
        tokio::spawn(connection);
        Ok(stack(deadline).over(sender).boxed())
    })
}

fn connected(
    deadline: Duration,
    handshake: impl AsyncFn(TokioIo<TcpStream>) -> Result<OutcomeClient, BoxError> + 'static,
) -> Write {
    let held = Arc::new(Mutex::new(None));
    let handshake = Arc::new(handshake);
    Arc::new(move |url| {
        let held = Arc::clone(&held);
        let handshake = Arc::clone(&handshake);
        Box::pin(async move {
            let mut held = held.lock().await;
            if held.is_none() {
                let connecting = async {
                    let authority = url.trim_start_matches("http://");
                    let socket = TcpStream::connect(authority).await?;
                    handshake(TokioIo::new(socket)).await
                };
                // Nothing was handed on: whoever connects by himself knows that nothing left.
                match tokio::time::timeout(deadline, connecting).await {
                    Ok(Ok(client)) => *held = Some(client),
                    Ok(Err(_)) | Err(_) => return Told::Failed,
                }
            }
            let Some(client) = held.clone() else {
                return Told::Failed;
            };
            drop(held);
            send(&client, &url, JSON, BODY.into()).await
        })
    })
}

/// A channel, made by the first write, as generated clients use it: without a URL in the request.
fn tonic_channel(deadline: Duration) -> Write {
    let held = Arc::new(std::sync::OnceLock::<OutcomeClient>::new());
    Arc::new(move |url| {
        let held = Arc::clone(&held);
        Box::pin(async move {
            let client = held.get_or_init(|| {
                let endpoint = Endpoint::from_shared(url).expect("the testkit's URLs are URLs");
                stack(deadline).over(endpoint.connect_lazy()).boxed()
            });
            let message = [b"\0\0\0\0\x1d".as_slice(), BODY.as_bytes()].concat();
            send(client, "", GRPC, message.into()).await
        })
    })
}

fn json(client: OutcomeClient) -> Write {
    Arc::new(move |url| {
        let client = client.clone();
        Box::pin(async move { send(&client, &url, JSON, BODY.into()).await })
    })
}

async fn send(client: &OutcomeClient, url: &str, kind: &str, body: Bytes) -> Told {
    let request = Request::post(format!("{url}/refunds"))
        .header("content-type", kind)
        .header("host", "billing")
        .body(body)
        .expect("the testkit's URLs are URLs");
    match client.send(request).await.outcome() {
        Outcome::AlreadyDone | Outcome::Ok => Told::Done,
        Outcome::Failed => Told::Failed,
        Outcome::Skipped | Outcome::Unknown => Told::Unknown,
    }
}

const BODY: &str = r#"{"order":"A-1","amount":1000}"#;
const GRPC: &str = "application/grpc";
const JSON: &str = "application/json";
