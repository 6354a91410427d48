//! The clients that all tests send through, and the write that they all send.

use http::Request;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tower_outcome::{ForWrites as _, OutcomeBody, OutcomeClient, Stack};

/// `stack` over each real client, with its name for failed assertions.
pub(crate) fn over_each(stack: &Stack) -> [(&'static str, OutcomeClient); 2] {
    [
        ("hyper", stack.over(hyper()).boxed()),
        ("reqwest", stack.over(reqwest()).boxed()),
    ]
}

/// `stack` over each real client that speaks HTTP/2, with its name for failed assertions.
#[allow(dead_code, reason = "not every test speaks it")]
pub(crate) fn over_each_http2(stack: &Stack) -> [(&'static str, OutcomeClient); 2] {
    let hyper = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http();
    let reqwest = reqwest::Client::builder().http2_prior_knowledge();
    [
        ("hyper, h2", stack.over(hyper).boxed()),
        (
            "reqwest, h2",
            stack.over(reqwest.for_writes().build().unwrap()).boxed(),
        ),
    ]
}

pub(crate) fn hyper() -> Client<HttpConnector, OutcomeBody> {
    Client::builder(TokioExecutor::new()).build_http()
}

fn reqwest() -> tower_outcome::WritesClient {
    reqwest::Client::builder().for_writes().build().unwrap()
}

/// The write that all tests make.
pub(crate) fn write(url: &str) -> Request<OutcomeBody> {
    Request::post(format!("{url}/refunds"))
        .header("content-type", "application/json")
        .body(r#"{"order":"A-1","amount":1000}"#.into())
        .unwrap()
}
