//! Request bodies that break off, panic, or say nothing true of themselves.

use std::future::{pending, ready};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::Request;
use http_body::Frame;
use http_body_util::StreamBody;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tower_outcome::{BoxError, Outcome, OutcomeBody, Stack};

use crate::clients::over_each;
use crate::stalling;

/// What hyper says of a request that another connection never sent.
async fn canceled() -> hyper::Error {
    let (io, _far) = tokio::io::duplex(64);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(io))
        .await
        .unwrap();
    drop(connection);
    let request = Request::get("/")
        .body(http_body_util::Empty::<Bytes>::new())
        .unwrap();
    let error = sender.send_request(request).await.unwrap_err();
    assert!(error.is_canceled());
    error
}

/// The body is relayed from elsewhere, and its source breaks off with hyper's "canceled": the
/// request's head and its first line have left all the same.
#[tokio::test]
async fn the_error_of_a_body_is_no_word_about_the_request() {
    let mut told = Vec::new();
    for which in 0..2 {
        let (name, client) = over_each(&Stack::new()).into_iter().nth(which).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (arrived, go_on) = oneshot::channel();
        let server = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut seen = Vec::new();
            let mut buffer = [0; 1024];
            while !seen.windows(6).any(|it| it == b"refund") {
                let read = socket.read(&mut buffer).await.unwrap();
                assert_ne!(read, 0);
                seen.extend_from_slice(&buffer[..read]);
            }
            arrived.send(()).unwrap();
            pending::<()>().await;
        });
        let error: BoxError = canceled().await.into();
        let frames = stream::once(ready(Ok(Frame::data(Bytes::from_static(b"refund 1\n"))))).chain(
            stream::once(async move {
                go_on.await.unwrap();
                Err::<Frame<Bytes>, BoxError>(error)
            }),
        );
        let request = Request::post(format!("{url}/bulk"))
            .body(OutcomeBody::new(StreamBody::new(frames)))
            .unwrap();
        let verdict = client.send(request).await;
        server.abort();
        told.push((name, verdict.outcome(), verdict.code()));
    }
    assert!(told.iter().all(|it| it.1 == Outcome::Unknown), "{told:?}");
}

/// A body that does not know how long it is, and says so with the largest number.
#[tokio::test]
async fn a_body_of_any_size_hint_does_not_panic() {
    struct Endless(bool);
    impl http_body::Body for Endless {
        type Data = Bytes;
        type Error = BoxError;
        fn poll_frame(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<Frame<Bytes>, BoxError>>> {
            if std::mem::replace(&mut self.0, true) {
                return std::task::Poll::Pending;
            }
            std::task::Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"on and on")))))
        }
        fn size_hint(&self) -> http_body::SizeHint {
            let mut hint = http_body::SizeHint::new();
            hint.set_upper(u64::MAX);
            hint
        }
    }
    let body = OutcomeBody::new(Endless(false));
    assert_eq!(http_body::Body::size_hint(&body).upper(), None);
}

/// The user's stream panics once its first part has left.
#[tokio::test]
async fn a_body_that_panics_is_unknown() {
    for which in 0..2 {
        let (name, client) = over_each(&Stack::new()).into_iter().nth(which).unwrap();
        let url = stalling().await;
        let (go, gone) = oneshot::channel::<()>();
        let frames = stream::once(ready(Ok::<Frame<Bytes>, BoxError>(Frame::data(
            Bytes::from_static(b"refund 1\n"),
        ))))
        .chain(stream::once(async move {
            let _ = gone.await;
            tokio::task::yield_now().await;
            panic!("the source of the body")
        }));
        let request = Request::post(url)
            .body(OutcomeBody::new(StreamBody::new(frames)))
            .unwrap();
        drop(go);
        let verdict = client.send(request).await;
        assert_ne!(
            verdict.outcome(),
            Outcome::Failed,
            "{name}: {:?}",
            verdict.code()
        );
    }
}
