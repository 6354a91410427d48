//! A service that does nothing, and the loop around it.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tokio::runtime::{Builder, Runtime};
use tower::{BoxError, Service, ServiceExt as _};
use tower_outcome::OutcomeBody;

use crate::measure::Run;

/// Answers at once, or is pending once as if it had to wait for a socket.
#[derive(Clone, Copy)]
pub(super) struct Idle {
    ready: bool,
}

impl Idle {
    pub(super) const READY: Self = Self { ready: true };
    pub(super) const PENDING: Self = Self { ready: false };
}

impl Service<Request<OutcomeBody>> for Idle {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<OutcomeBody>) -> Answer {
        black_box(request);
        Answer { ready: self.ready }
    }
}

pub(super) struct Answer {
    ready: bool,
}

impl Future for Answer {
    type Output = Result<Response<Full<Bytes>>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if std::mem::replace(&mut self.ready, true) {
            return Poll::Ready(Ok(Response::new(Full::default())));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Makes a request and waits for its answer, over and over. A request knows its number.
pub(super) fn calls<S>(service: S, request: impl Fn(usize) -> Request<OutcomeBody> + 'static) -> Run
where
    S: Service<Request<OutcomeBody>> + Clone + 'static,
{
    let runtime = runtime();
    let mut number = 0;
    Box::new(move |times| {
        runtime.block_on(async {
            for _ in 0..times {
                let answer = service.clone().oneshot(request(number)).await;
                number += 1;
                drop(black_box(answer));
            }
        });
    })
}

/// One thread, as nothing here says anything about the wakes of another.
pub(super) fn runtime() -> Runtime {
    let built = Builder::new_current_thread().enable_time().build();
    built.expect("a runtime without I/O needs nothing")
}

pub(super) fn get() -> Request<OutcomeBody> {
    let request = Request::get(URI).body(OutcomeBody::empty());
    request.expect("the request is well-formed")
}

/// 200 bytes and a header.
pub(super) fn post() -> Request<OutcomeBody> {
    let request = Request::post(URI).header("content-type", "application/json");
    let request = request.body(Bytes::from_static(BODY).into());
    request.expect("the request is well-formed")
}

pub(super) const BODY: &[u8; 200] = &[b'7'; 200];

pub(super) const URI: &str = "http://billing.example/refunds";
