//! The executor against real sockets: what a call ends in, and what the other side committed.

mod batches;
mod ending;
mod folding;
mod handlers;
mod input;
mod lanes;
mod ledger;
mod near_misses;
mod nesting;
mod permits;
mod progress;
mod reconciling;
mod redaction;
mod reports;
#[cfg(feature = "schema")]
mod schema;
mod shutdown;
mod status;
mod stress;
mod support;
mod twins;
