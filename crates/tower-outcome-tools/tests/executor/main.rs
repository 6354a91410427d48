//! The executor against real sockets: what a call ends in, and what the other side committed.

mod ending;
mod folding;
mod handlers;
mod input;
mod ledger;
mod reconciling;
mod support;
mod twins;
