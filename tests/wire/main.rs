//! What real clients over a real socket end in, for every fault that the server can script.

mod answers;
mod bytes;
mod connecting;
mod drain;
mod early;
mod endings;
mod late;
mod matrix;
mod memory;
mod redirects;
mod refusals;
mod reuse;
mod steps;
mod timeouts;
mod tls;

#[path = "../support/clients.rs"]
mod clients;
#[path = "../support/ends.rs"]
mod ends;
#[path = "../support/ledger.rs"]
mod ledger;

use std::time::Duration;

use tower_outcome::{KeyedRetry, Stack};

/// A stack that makes each write once and knows nothing of the provider.
fn once() -> Stack {
    Stack::new().with_retry(KeyedRetry::new(1))
}

/// Short enough not to be noticed, long enough for a loopback connection under load.
const DEADLINE: Duration = Duration::from_millis(250);
