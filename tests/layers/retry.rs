//! The policy alone, under tower's retry, over plain bodies.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use http::{Method, Request, Response};
use tower::retry::RetryLayer;
use tower::{BoxError, ServiceBuilder, ServiceExt as _};
use tower_outcome::{KeyedRetry, Profile};

/// How many requests arrive if the server answers like this; 0 is a broken connection.
async fn sent(method: Method, key: Option<&str>, statuses: &[u16]) -> usize {
    let left: VecDeque<u16> = statuses.iter().copied().collect();
    let left = Arc::new(Mutex::new(left));
    let script = Arc::clone(&left);
    let policy = KeyedRetry::new(3).with_profile(Profile::idempotency_key());
    let client = ServiceBuilder::new()
        .layer(RetryLayer::new(policy))
        .service_fn(move |_: Request<&'static str>| {
            let status = script.lock().unwrap().pop_front().unwrap();
            std::future::ready(match status {
                0 => Err(BoxError::from("the connection broke")),
                status => Ok(Response::builder().status(status).body(()).unwrap()),
            })
        });
    let mut request = Request::builder().method(method).uri("/refunds");
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    let _ = client.oneshot(request.body("{}").unwrap()).await;
    statuses.len() - left.lock().unwrap().len()
}

const PASSING: [u16; 6] = [0, 429, 500, 502, 503, 504];

#[tokio::test(start_paused = true)]
async fn a_write_without_a_key_is_sent_once() {
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
        for status in PASSING {
            assert_eq!(
                sent(method.clone(), None, &[status; 4]).await,
                1,
                "{method} {status}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_with_a_key_is_repeated_until_the_attempts_are_used_up() {
    for status in PASSING {
        assert_eq!(
            sent(Method::POST, Some("k"), &[status; 4]).await,
            3,
            "{status}"
        );
        assert_eq!(
            sent(Method::POST, Some("k"), &[status, 200, 200]).await,
            2,
            "{status}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_decided_is_not_repeated() {
    for status in [200, 202, 204, 303, 307, 400, 401, 403, 404, 409, 412, 422] {
        assert_eq!(
            sent(Method::POST, Some("k"), &[status; 4]).await,
            1,
            "{status}"
        );
        assert_eq!(sent(Method::GET, None, &[status; 4]).await, 1, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_is_repeated() {
    for status in PASSING {
        assert_eq!(
            sent(Method::GET, None, &[status, 200, 200]).await,
            2,
            "{status}"
        );
    }
}
