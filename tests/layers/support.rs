//! What every layer test needs.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use serde_json::json;
use tower_outcome::{Call, Intent, OutcomeBody, ReplyBody, RequestExt as _};
use tower_test::mock;

pub(crate) type Reply = Response<ReplyBody<Full<Bytes>>>;
pub(crate) type Mock = mock::Mock<Request<OutcomeBody>, Reply>;
pub(crate) type Server = mock::Handle<Request<OutcomeBody>, Reply>;
pub(crate) type Answering = mock::SendResponse<Reply>;

/// The write that all tests make.
pub(crate) fn write() -> Request<OutcomeBody> {
    Request::post("http://billing/refunds")
        .body(r#"{"order":7}"#.into())
        .unwrap()
}

/// The same write, with the wish that it carries out.
pub(crate) fn intended() -> Request<OutcomeBody> {
    write().with_intent(intent())
}

pub(crate) fn intent() -> Intent {
    Intent::new("acme", "refund", &json!({ "order": 7 })).unwrap()
}

pub(crate) fn read() -> Request<OutcomeBody> {
    Request::get("http://billing/refunds")
        .body(().into())
        .unwrap()
}

pub(crate) fn paid() -> Reply {
    Response::new(ReplyBody::whole("paid".into()))
}

/// The next request, which has reached the server and has not left.
pub(crate) async fn queued(server: &mut Server) -> (Request<OutcomeBody>, Answering) {
    server.next_request().await.expect("the client is gone")
}

/// The next request, after it has left.
pub(crate) async fn left(server: &mut Server) -> (Request<OutcomeBody>, Answering) {
    let (request, answering) = queued(server).await;
    drop(
        call(&request)
            .gate()
            .pass()
            .expect("the call has not ended"),
    );
    (request, answering)
}

pub(crate) fn call(request: &Request<OutcomeBody>) -> Call {
    request
        .extensions()
        .get::<Call>()
        .expect("a write has a record")
        .clone()
}
