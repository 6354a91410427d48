//! The ledger in a file, seen from outside.

mod damage;
mod files;
mod processes;
mod rows;
mod rules;
mod secrets;
mod support;
