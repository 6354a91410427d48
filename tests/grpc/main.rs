//! gRPC clients over a stack that keeps their answers.

mod channel;
mod deadlines;
mod generated;
mod keys;
mod statuses;
mod streams;

use std::error::Error as _;
use std::time::Duration;

use serde_json::json;
use tonic::Status;
use tonic::transport::{Channel, Endpoint};
use tower_outcome::{Error, Intent};

/// Short enough not to be noticed, long enough for a loopback connection under load.
const DEADLINE: Duration = Duration::from_millis(300);

fn intent() -> Intent {
    Intent::new("acme", "refund", &json!({ "order": "A-1" })).unwrap()
}

fn channel(url: &str) -> Channel {
    Endpoint::from_shared(url.to_owned())
        .unwrap()
        .connect_lazy()
}

/// Our error, where it stands behind a status.
fn behind(status: &Status) -> Option<&Error> {
    let mut source = status.source();
    while let Some(error) = source {
        if let Some(ours) = error.downcast_ref() {
            return Some(ours);
        }
        source = error.source();
    }
    None
}
