//! The ledger on a real server, seen from outside. `cargo xtask test` starts one.

mod rules;
mod support;
