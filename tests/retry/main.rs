//! The retry policy, alone under tower's own retry and in whole stacks, and the keys of the writes
//! that a tool call makes.

mod children;
mod credentials;
mod delays;
mod hedging;
mod limits;
mod packages;
mod plain;
mod properties;
mod reads;
mod reasons;
mod streams;
mod tables;

#[path = "../support/clients.rs"]
mod clients;
#[path = "../laws/trace.rs"]
mod trace;

use std::time::Duration;

use serde_json::json;
use tower_outcome::{Intent, KeyedRetry, Profile};

fn intent() -> Intent {
    Intent::new("acme", "refund", &json!({ "order": "A-1", "amount": 1000 })).unwrap()
}

/// No wait but those that the provider asks for.
fn at_once(attempts: u32) -> KeyedRetry {
    KeyedRetry::new(attempts)
        .with_profile(Profile::idempotency_key())
        .with_first_delay(Duration::ZERO)
}

fn profile(toml: &str) -> Profile {
    let key = "key = { in = 'header', name = 'idempotency-key' }";
    Profile::from_toml(&format!("name = 'acme'\n{key}\n{toml}")).unwrap()
}
