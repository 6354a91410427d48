//! The laws that every stack of these layers keeps. A test's name starts with the law's number.
//!
//! 1. A gate, not a flag: nothing leaves after `failed` was said.
//! 2. The gate is passed inside `call`.
//! 3. One record per call; its attempts add up.
//! 4. The key never changes between attempts.
//! 5. No key, no retry of a write.
//! 6. The caller's cancellation never reaches a write that may have left.
//! 7. The answer is polled before the clock.
//! 10. Nothing secret is shown or kept.

mod attempts;
mod cancellation;
mod foreign;
mod gate;
mod keys;
mod repeats;
mod secrets;
mod signal;
mod trace;

#[path = "../support/clients.rs"]
mod clients;
#[path = "../support/ledger.rs"]
mod ledger;

use std::time::Duration;

use serde_json::json;
use tower_outcome::Intent;

fn intent() -> Intent {
    Intent::new("acme", "refund", &json!({ "order": "A-1", "amount": 1000 })).unwrap()
}

/// Short enough not to be noticed, long enough for a loopback connection under load.
const DEADLINE: Duration = Duration::from_millis(250);
