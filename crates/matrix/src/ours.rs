//! Our stack over each client that it knows.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use hyper::client::conn::{http1, http2};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
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
pub fn ours() -> [Client; 7] {
    [
        Client::new("hyper connection, h1", Protocol::Http1, http1_connection),
        Client::new("hyper-util, h1", Protocol::Http1, hyper_h1),
        Client::new("reqwest, h1", Protocol::Http1, reqwest_h1),
        Client::new("hyper connection, h2", Protocol::Http2, http2_connection),
        Client::new("hyper-util, h2", Protocol::Http2, hyper_h2),
        Client::new("reqwest, h2", Protocol::Http2, reqwest_h2),
        Client::new("tonic", Protocol::Grpc, tonic_channel),
    ]
}

fn stack() -> Stack {
    Stack::new()
        .with_deadline(DEADLINE)
        .with_hard_limit(DEADLINE)
        .with_retry(KeyedRetry::new(1))
}

fn hyper_h1() -> Write {
    let builder = legacy::Client::builder(TokioExecutor::new());
    json(stack().over(builder.build_http()).boxed())
}

fn hyper_h2() -> Write {
    let mut builder = legacy::Client::builder(TokioExecutor::new());
    json(stack().over(builder.http2_only(true).build_http()).boxed())
}

fn reqwest_h1() -> Write {
    over_reqwest(reqwest::Client::builder().http1_only())
}

fn reqwest_h2() -> Write {
    over_reqwest(reqwest::Client::builder().http2_prior_knowledge())
}

fn over_reqwest(builder: reqwest::ClientBuilder) -> Write {
    let client = builder.no_proxy().for_writes().build();
    json(stack().over(client.expect("no TLS is set up")).boxed())
}

/// One connection, made by the first write.
fn http1_connection() -> Write {
    connected(async |socket| {
        let (sender, connection) = http1::handshake(socket).await?;
        tokio::spawn(connection);
        // It cannot be cloned: a buffer stands where the stack clones.
        let layers = ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(DeadlineLayer::new(DEADLINE))
            .buffer::<Request<OutcomeBody>>(1)
            .layer(ShieldLayer::new())
            .layer(KeyLayer::new());
        let wire = Wire::http1(sender).with_hard_limit(DEADLINE);
        Ok(tower_outcome::Client::new(layers.service(wire)).boxed())
    })
}

/// One connection, made by the first write.
fn http2_connection() -> Write {
    connected(async |socket| {
        let (sender, connection) = http2::handshake(TokioExecutor::new(), socket).await?;
        tokio::spawn(connection);
        Ok(stack().over(sender).boxed())
    })
}

fn connected(
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
                match tokio::time::timeout(DEADLINE, connecting).await {
                    Ok(Ok(client)) => *held = Some(client),
                    Ok(Err(_)) | Err(_) => return Told::Failed,
                }
            }
            let Some(client) = held.as_ref() else {
                return Told::Failed;
            };
            send(client, &url, JSON, BODY.into()).await
        })
    })
}

/// A channel, made by the first write, as generated clients use it: without a URL in the request.
fn tonic_channel() -> Write {
    let held = Arc::new(std::sync::OnceLock::<OutcomeClient>::new());
    Arc::new(move |url| {
        let held = Arc::clone(&held);
        Box::pin(async move {
            let client = held.get_or_init(|| {
                let endpoint = Endpoint::from_shared(url).expect("the testkit's URLs are URLs");
                stack().over(endpoint.connect_lazy()).boxed()
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

/// Short enough not to be noticed, long enough for a loopback connection under load.
pub const DEADLINE: Duration = Duration::from_millis(300);

/// What every write sends, as JSON.
pub const BODY: &str = r#"{"order":"A-1","amount":1000}"#;

const GRPC: &str = "application/grpc";
const JSON: &str = "application/json";
