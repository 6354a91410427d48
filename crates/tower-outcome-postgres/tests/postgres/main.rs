//! The ledger on a real server, seen from outside. `cargo xtask test` starts one.

mod beliefs;
mod counts;
mod crashes;
mod cuts;
mod damage;
mod processes;
mod proxy;
mod purge;
mod rows;
mod rules;
mod schemas;
mod secrets;
mod start;
mod support;
mod transactions;
