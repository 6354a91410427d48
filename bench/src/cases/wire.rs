//! Over hyper, through a pipe in memory: client and server in one thread, both counted.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};

use tower::{Service, ServiceBuilder, ServiceExt as _};
use tower_outcome::transport::Wire;
use tower_outcome::{
    DeadlineLayer, KeyLayer, KeyedRetry, OutcomeBody, OutcomeLayer, Profile, ReplyBody, Verdict,
};

use super::client::{LIMIT, intended};
use super::idle::{get, runtime};
use crate::measure::{Case, Run};

pub(super) const CASES: &[Case] = &[
    case("wire.h1.get", || bare(Http::One, |_| get())),
    case("wire.h1.post", || bare(Http::One, intended(1))),
    case("wire.h1.read", || read(Http::One)),
    case("wire.h1.keyed", || keyed(Http::One)),
    case("wire.h2.get", || bare(Http::Two, |_| get())),
    case("wire.h2.post", || bare(Http::Two, intended(1))),
    case("wire.h2.read", || read(Http::Two)),
    case("wire.h2.keyed", || keyed(Http::Two)),
];

const fn case(name: &'static str, prepare: fn() -> Run) -> Case {
    Case { name, prepare }
}

fn bare(http: Http, request: impl Fn(usize) -> Request<OutcomeBody> + 'static) -> Run {
    calls(http, |connection| connection, request, Response::into_body)
}

fn read(http: Http) -> Run {
    let layers = ServiceBuilder::new()
        .layer(OutcomeLayer::new())
        .layer(DeadlineLayer::new(LIMIT));
    calls(
        http,
        |it| layers.service(Wire::unknown(it)),
        |_| get(),
        body,
    )
}

fn keyed(http: Http) -> Run {
    let layers = ServiceBuilder::new()
        .layer(OutcomeLayer::new().with_profile(Profile::idempotency_key()))
        .layer(DeadlineLayer::new(LIMIT))
        .layer(KeyLayer::new())
        .layer(KeyedRetry::new(3).into_layer());
    calls(
        http,
        |it| layers.service(Wire::unknown(it)),
        intended(1),
        body,
    )
}

fn body(verdict: Verdict<Response<ReplyBody<Incoming>>>) -> ReplyBody<Incoming> {
    verdict
        .into_reply()
        .expect("the server answers")
        .into_body()
}

/// Makes a request and reads the whole answer, over and over.
fn calls<S, B>(
    http: Http,
    layers: impl FnOnce(Connection) -> S,
    request: impl Fn(usize) -> Request<OutcomeBody> + 'static,
    body: fn(S::Response) -> B,
) -> Run
where
    S: Service<Request<OutcomeBody>, Error: std::fmt::Debug> + Clone + 'static,
    B: http_body::Body<Error: std::fmt::Debug> + 'static,
{
    let runtime = runtime();
    let client = layers(runtime.block_on(Connection::open(http)));
    let mut number = 0;
    Box::new(move |times| {
        runtime.block_on(async {
            for _ in 0..times {
                let answer = client.clone().oneshot(request(number)).await;
                number += 1;
                let answer = body(answer.expect("the server answers"));
                let answer = answer.collect().await.expect("the answer is whole");
                drop(black_box(answer));
            }
        });
    })
}

#[derive(Clone, Copy)]
enum Http {
    One,
    Two,
}

/// A connection of hyper's to a server that takes everything and answers in two bytes.
#[derive(Clone)]
enum Connection {
    One(Arc<Mutex<http1::SendRequest<OutcomeBody>>>),
    Two(http2::SendRequest<OutcomeBody>),
}

impl Connection {
    async fn open(http: Http) -> Self {
        let (client, server) = tokio::io::duplex(PIPE);
        let (client, server) = (TokioIo::new(client), TokioIo::new(server));
        let answer = service_fn(async |request: Request<Incoming>| {
            let body = request.into_body().collect().await?;
            black_box(body);
            Ok::<_, hyper::Error>(Response::new(Full::new(Bytes::from_static(b"{}"))))
        });
        match http {
            Http::One => {
                let builder = hyper::server::conn::http1::Builder::new();
                tokio::spawn(builder.serve_connection(server, answer));
                let (sender, connection) = http1::handshake(client).await.expect(OPEN);
                tokio::spawn(connection);
                Self::One(Arc::new(Mutex::new(sender)))
            }
            Http::Two => {
                let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                tokio::spawn(builder.serve_connection(server, answer));
                let opened = http2::handshake(TokioExecutor::new(), client).await;
                let (sender, connection) = opened.expect(OPEN);
                tokio::spawn(connection);
                Self::Two(sender)
            }
        }
    }
}

impl Service<Request<OutcomeBody>> for Connection {
    type Response = Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = hyper::Result<Response<Incoming>>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<hyper::Result<()>> {
        match self {
            Self::One(sender) => lock(sender).poll_ready(cx),
            Self::Two(sender) => sender.poll_ready(cx),
        }
    }

    fn call(&mut self, request: Request<OutcomeBody>) -> Self::Future {
        match self {
            Self::One(sender) => Box::pin(lock(sender).send_request(request)),
            Self::Two(sender) => Box::pin(sender.send_request(request)),
        }
    }
}

fn lock<T>(sender: &Mutex<T>) -> MutexGuard<'_, T> {
    sender.lock().unwrap_or_else(PoisonError::into_inner)
}

const OPEN: &str = "the pipe is open";

/// Its size in bytes: no request here fills it.
const PIPE: usize = 64 * 1024;
