//! hyper's client, over a connection that the test can see end.

use std::error::Error as _;
use std::future::Future;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tower_outcome_testkit::{Billing, What};

pub(crate) struct Client {
    sender: SendRequest<Full<Bytes>>,
    /// Ends with the connection.
    pub(crate) connection: JoinHandle<hyper::Result<()>>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
}

impl Client {
    pub(crate) async fn connect(billing: &Billing) -> Self {
        let stream = TcpStream::connect(billing.addr()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let shaken = handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
        let (sender, connection) = shaken.unwrap();
        let connection = tokio::spawn(connection);
        Self { sender, connection }
    }

    /// Sends in the order of the calls, and resolves to the whole answer.
    pub(crate) fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> impl Future<Output = hyper::Result<Answer>> + use<> {
        let answer = self.sender.send_request(request);
        async {
            let (head, body) = answer.await?.into_parts();
            let collected = body.collect().await?;
            Ok(Answer {
                status: head.status,
                headers: head.headers,
                trailers: collected.trailers().cloned(),
                body: collected.to_bytes(),
            })
        }
    }

    /// The head of the answer, with the body to come.
    pub(crate) async fn head(&mut self, request: Request<Full<Bytes>>) -> Response<Incoming> {
        self.sender.send_request(request).await.unwrap()
    }

    /// Makes the write that all tests make.
    pub(crate) async fn write(&mut self, key: &str) -> hyper::Result<Answer> {
        self.send(write(key)).await
    }
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }
}

pub(crate) const BODY: &str = r#"{"order":"A-1","amount":1000,"reference":"r-1"}"#;
/// What the first commit of [`BODY`] is answered with.
pub(crate) const CREATED: &str = r#"{"id":"re_1","order":"A-1","amount":1000,"reference":"r-1"}"#;

/// The write that all tests make.
pub(crate) fn write(key: &str) -> Request<Full<Bytes>> {
    Request::post("http://billing/refunds")
        .header("idempotency-key", key)
        .body(BODY.into())
        .unwrap()
}

pub(crate) fn read(method: Method, target: &str) -> Request<Full<Bytes>> {
    let request = Request::builder().method(method);
    let request = request.uri(format!("http://billing{target}"));
    request.body(Full::default()).unwrap()
}

/// The h2 error that is behind an error of hyper's.
pub(crate) fn h2_error(error: &hyper::Error) -> Option<&h2::Error> {
    error.source()?.downcast_ref()
}

/// What happened so far on a stream of the first connection.
pub(crate) fn happened(billing: &Billing, stream: u32) -> Vec<What> {
    billing
        .timeline()
        .into_iter()
        .filter(|event| event.stream == Some(stream))
        .map(|event| event.what)
        .collect()
}

/// Waits until this has happened.
pub(crate) async fn until(billing: &Billing, what: What) {
    billing.wait_for(|event| event.what == what).await;
}

/// Runs a test where tasks take turns, and where they run at once.
pub(crate) fn on_both_runtimes<F: Future<Output = ()>>(test: impl Fn() -> F) {
    let mut turns = tokio::runtime::Builder::new_current_thread();
    let mut at_once = tokio::runtime::Builder::new_multi_thread();
    for runtime in [&mut turns, at_once.worker_threads(2)] {
        runtime.enable_all().build().unwrap().block_on(test());
    }
}
