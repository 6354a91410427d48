//! What a retry costs that knows neither keys nor words: reqwest-middleware with reqwest-retry.
//!
//! Both rows make the same request and the same answer, which never leave the process, so that the
//! difference is what the middleware adds.

use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Request, Response};
use reqwest_middleware::{ClientBuilder, Next};
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;

use super::idle::{BODY, URI, runtime};
use crate::measure::{Case, Run};

pub(super) const CASES: &[Case] = &[
    case("client.reqwest.ready", || alone(true)),
    case("client.reqwest.pending", || alone(false)),
    case("client.reqwest_retry.ready", || retried(true)),
    case("client.reqwest_retry.pending", || retried(false)),
];

const fn case(name: &'static str, prepare: fn() -> Run) -> Case {
    Case { name, prepare }
}

fn alone(ready: bool) -> Run {
    let (runtime, client) = (runtime(), Client::new());
    Box::new(move |times| {
        runtime.block_on(async {
            for _ in 0..times {
                black_box(request(&client));
                drop(black_box(Answer { ready }.await));
            }
        });
    })
}

fn retried(ready: bool) -> Run {
    let (runtime, client) = (runtime(), Client::new());
    let policy = ExponentialBackoff::builder().build_with_max_retries(3);
    let builder =
        ClientBuilder::new(client.clone()).with(RetryTransientMiddleware::new_with_policy(policy));
    let retried = if ready {
        builder.with(answer_ready).build()
    } else {
        builder.with(answer_pending).build()
    };
    Box::new(move |times| {
        runtime.block_on(async {
            for _ in 0..times {
                drop(black_box(retried.execute(request(&client)).await));
            }
        });
    })
}

fn request(client: &Client) -> Request {
    let request = client.post(URI).header(CONTENT_TYPE, "application/json");
    let request = request.body(BODY.as_slice()).build();
    request.expect("the request is well-formed")
}

fn answer_ready<'a>(request: Request, _: &'a mut http::Extensions, _: Next<'a>) -> Answering<'a> {
    black_box(request);
    Box::pin(Answer { ready: true })
}

fn answer_pending<'a>(request: Request, _: &'a mut http::Extensions, _: Next<'a>) -> Answering<'a> {
    black_box(request);
    Box::pin(Answer { ready: false })
}

type Answering<'a> =
    Pin<Box<dyn Future<Output = reqwest_middleware::Result<Response>> + Send + 'a>>;

struct Answer {
    ready: bool,
}

impl Future for Answer {
    type Output = reqwest_middleware::Result<Response>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if std::mem::replace(&mut self.ready, true) {
            return Poll::Ready(Ok(http::Response::new("").into()));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
