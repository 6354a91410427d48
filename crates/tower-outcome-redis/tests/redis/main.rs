//! The ledger on a real server, seen from outside. `cargo xtask test` starts one.

mod aliases;
mod counts;
mod crashes;
mod cuts;
mod losses;
mod processes;
mod proxy;
mod retention;
mod rows;
mod rules;
mod secrets;
mod start;
mod support;
