//! What gRPC clients see over a stack, with real tonic at both ends.

#[path = "../support/ends.rs"]
mod ends;

mod billing;
mod deadlines;
mod faults;
mod health;
mod keys;
mod pushback;
mod refunds;
mod refused;
mod statuses;
mod streams;

use std::error::Error as _;

use serde_json::json;
use tonic::{Request, Status};
use tower_outcome::{Error, Intent, KeyedRetry, Stack, Watch};

/// A stack that makes each write once and knows nothing of the provider.
fn once() -> Stack {
    Stack::new().with_retry(KeyedRetry::new(1))
}

/// The write that all tests make, watched.
fn write() -> (Request<String>, Watch) {
    watched(String::from("order A-1, 1000"))
}

/// The same write with its wish, and so with a key.
fn keyed_write() -> (Request<String>, Watch) {
    let (mut request, watch) = write();
    request.extensions_mut().insert(intent());
    (request, watch)
}

fn watched<T>(message: T) -> (Request<T>, Watch) {
    let watch = Watch::new();
    let mut request = Request::new(message);
    request.extensions_mut().insert(watch.clone());
    (request, watch)
}

fn intent() -> Intent {
    Intent::new("acme", "refund", &json!({ "order": "A-1", "amount": 1000 })).unwrap()
}

/// The error of ours that tonic wrapped.
fn ours(status: &Status) -> &Error {
    let mut cause = status.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref() {
            return error;
        }
        cause = error.source();
    }
    panic!("no error of ours behind {status:?}")
}
