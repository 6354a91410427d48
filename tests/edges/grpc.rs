//! gRPC answers that look like proof, and a server for the tests whose answers are.

use std::future::ready;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use http::{HeaderMap, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use tokio::sync::mpsc;
use tower::{Service, ServiceBuilder, ServiceExt as _, service_fn};
use tower_outcome::transport::Wire;
use tower_outcome::{
    BoxError, Client, Code, KeepResponseLayer, Outcome, OutcomeBody, OutcomeLayer, ShieldLayer,
    Watch,
};

use crate::clients::write;
use crate::ends::Ends as _;

/// What a server says behind the head of its answer, for as long as the test holds it.
pub(crate) struct Feed(mpsc::UnboundedSender<Frame<Bytes>>);

impl Feed {
    pub(crate) fn message(&self) {
        let message = Frame::data(Bytes::from_static(&[0, 0, 0, 0, 1, 7]));
        let _ = self.0.send(message);
    }

    pub(crate) fn status(&self, status: u32) {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", status.into());
        let _ = self.0.send(Frame::trailers(trailers));
    }
}

/// A server that answers its first request with the head of a gRPC answer, and what is fed.
pub(crate) fn server() -> (Feed, impl GrpcServer) {
    let (feed, mut frames) = mpsc::unbounded_channel();
    let frames = stream::poll_fn(move |cx| frames.poll_recv(cx)).map(Ok);
    (Feed(feed), answering(frames.boxed()))
}

/// The same, of any body.
pub(crate) fn answering(frames: Frames) -> impl GrpcServer {
    let frames = Arc::new(Mutex::new(Some(frames)));
    service_fn(move |_: Request<OutcomeBody>| {
        let frames = frames.lock().unwrap().take().expect("there is one request");
        let head = Response::builder().header("content-type", "application/grpc");
        ready(Ok(head.body(StreamBody::new(frames)).unwrap()))
    })
}

pub(crate) type Frames = BoxStream<'static, Result<Frame<Bytes>, BoxError>>;

pub(crate) trait GrpcServer:
    Service<
        Request<OutcomeBody>,
        Response = Response<StreamBody<Frames>>,
        Error = BoxError,
        Future: Send + 'static,
    > + Clone
    + Send
    + 'static
{
}

impl<S> GrpcServer for S where
    S: Service<
            Request<OutcomeBody>,
            Response = Response<StreamBody<Frames>>,
            Error = BoxError,
            Future: Send + 'static,
        > + Clone
        + Send
        + 'static
{
}

/// The write that all tests make, watched.
pub(crate) fn watched() -> (Request<OutcomeBody>, Watch) {
    let watch = Watch::new();
    let mut request = write("http://billing");
    request.extensions_mut().insert(watch.clone());
    (request, watch)
}

/// A stream that had brought messages fails with a status that would be proof without them.
#[tokio::test]
async fn a_stream_that_had_brought_messages_is_not_failed() {
    for (messages, code) in [(0, Code::Rejected), (2, Code::ConflictAmbiguous)] {
        let (feed, server) = server();
        (0..messages).for_each(|_| feed.message());
        feed.status(3);
        let client = ServiceBuilder::new()
            .layer(KeepResponseLayer::new())
            .layer(ShieldLayer::new())
            .service(Wire::unknown(server));
        let (request, watch) = watched();
        let answer = client.oneshot(request).await.unwrap();
        let read = answer.into_body().collect().ends().await.unwrap();
        assert_eq!(read.to_bytes().len(), messages * 6);
        assert_eq!(watch.verdict().unwrap().code(), code);
    }
}

/// A gRPC-Web answer carries its status in its body.
#[tokio::test]
async fn the_head_of_a_grpc_web_answer_proves_nothing() {
    let service = service_fn(|_: Request<OutcomeBody>| {
        let trailers = b"\x80\0\0\0\x0fgrpc-status:13\r\n";
        let body = http_body_util::Full::<Bytes>::from(&trailers[..]);
        let head = Response::builder().header("content-type", "application/grpc-web+proto");
        ready(Ok::<_, BoxError>(head.body(body).unwrap()))
    });
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(ShieldLayer::new())
            .service(Wire::unknown(service)),
    );
    let verdict = client.send(write("http://billing")).await;
    assert_eq!(verdict.outcome(), Outcome::Unknown, "{:?}", verdict.code());
}

/// Something on the way answers a gRPC call with a 200 that is no gRPC.
#[tokio::test]
async fn a_plain_answer_to_a_grpc_call_proves_nothing() {
    let service = service_fn(|_: Request<OutcomeBody>| {
        let body = http_body_util::Full::<Bytes>::from("welcome");
        let head = Response::builder().header("content-type", "text/plain");
        ready(Ok::<_, BoxError>(head.body(body).unwrap()))
    });
    let client = Client::new(
        ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(ShieldLayer::new())
            .service(Wire::unknown(service)),
    );
    let mut request = write("http://billing");
    request
        .headers_mut()
        .insert("content-type", "application/grpc".parse().unwrap());
    let verdict = client.send(request).await;
    assert_eq!(verdict.outcome(), Outcome::Unknown, "{:?}", verdict.code());
}
