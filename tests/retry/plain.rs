//! A provider behind the policy alone: over plain bodies, without any other layer of ours.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{HeaderMap, Method, Request, Response};
use tokio::time::Instant;
use tower::retry::RetryLayer;
use tower::{BoxError, ServiceBuilder, ServiceExt as _};
use tower_outcome::KeyedRetry;
use tower_outcome::retry::{Decision, Reason, renewed};

/// What the provider says; `None` is a broken connection.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: Option<u16>,
    headers: Vec<(&'static str, String)>,
}

pub(crate) fn answer(status: u16) -> Answer {
    Answer {
        status: Some(status),
        headers: Vec::new(),
    }
}

pub(crate) fn broken() -> Answer {
    Answer {
        status: None,
        headers: Vec::new(),
    }
}

impl Answer {
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn is_unauthorized(&self) -> bool {
        self.status == Some(401)
    }
}

/// One request as it arrived.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) after: Duration,
    pub(crate) headers: HeaderMap,
    pub(crate) body: &'static str,
}

/// All that arrived, and how the call ended.
pub(crate) struct Seen {
    pub(crate) arrived: Vec<Arrived>,
    pub(crate) result: Result<Response<()>, BoxError>,
}

impl Seen {
    pub(crate) fn sent(&self) -> usize {
        self.arrived.len()
    }

    /// When each request arrived, in seconds after the first.
    pub(crate) fn seconds(&self) -> Vec<u64> {
        self.arrived.iter().map(|it| it.after.as_secs()).collect()
    }

    pub(crate) fn reason(&self) -> Option<Reason> {
        let answer = self.result.as_ref().ok()?;
        Some(answer.extensions().get::<Decision>()?.reason)
    }
}

pub(crate) fn write() -> Request<&'static str> {
    Request::post("/refunds").body("{}").unwrap()
}

pub(crate) fn keyed() -> Request<&'static str> {
    let mut request = write();
    let key = http::HeaderValue::from_static("refund-7");
    request.headers_mut().insert("idempotency-key", key);
    request
}

pub(crate) fn read() -> Request<&'static str> {
    let mut request = write();
    *request.method_mut() = Method::GET;
    request
}

/// Sends `request` to a provider that answers by `script`, and by its last line ever after.
pub(crate) async fn send(
    policy: KeyedRetry,
    request: Request<&'static str>,
    script: impl IntoIterator<Item = Answer>,
) -> Seen {
    let script: VecDeque<Answer> = script.into_iter().collect();
    let script = Arc::new(Mutex::new(script));
    let arrived = Arc::new(Mutex::new(Vec::new()));
    let began = Instant::now();
    let seen = Arc::clone(&arrived);
    let client = ServiceBuilder::new()
        .layer(RetryLayer::new(policy))
        .map_request(renewed)
        .service_fn(move |request: Request<&'static str>| {
            seen.lock().unwrap().push(Arrived {
                after: began.elapsed(),
                headers: request.headers().clone(),
                body: request.body(),
            });
            let mut script = script.lock().unwrap();
            let last = script.len() == 1;
            let answer = if last {
                script.front().cloned()
            } else {
                script.pop_front()
            };
            std::future::ready(respond(answer.unwrap()))
        });
    let result = client.oneshot(request).await;
    let arrived = std::mem::take(&mut *arrived.lock().unwrap());
    Seen { arrived, result }
}

pub(crate) fn respond(answer: Answer) -> Result<Response<()>, BoxError> {
    let status = answer.status.ok_or("the connection broke")?;
    let mut response = Response::builder().status(status);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    Ok(response.body(()).unwrap())
}
