//! The executor against real sockets: what a call ends in, and what the other side committed.
//!
//! `reports` holds what went wrong elsewhere, as far as an executor has a part in it; what is about
//! replies, A07 and A08, stands in the tests of the reply checker.

mod batches;
mod claiming;
mod claims;
mod composing;
mod crowds;
mod ending;
mod folding;
mod handlers;
mod input;
mod lanes;
mod ledger;
mod near_misses;
mod nested_crashes;
mod nesting;
mod panics;
mod permits;
mod phases;
mod progress;
mod promises;
mod proxies;
mod reconciling;
mod redaction;
mod reports;
#[cfg(feature = "schema")]
mod schema;
mod services;
mod shutdown;
mod stacks;
mod status;
mod support;
mod twins;
mod unreadable;
mod versions;
