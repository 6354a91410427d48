//! The ledger in a file, seen from outside.

#[path = "sqlite/files.rs"]
mod files;
#[path = "sqlite/processes.rs"]
mod processes;
#[path = "sqlite/rows.rs"]
mod rows;
#[path = "sqlite/rules.rs"]
mod rules;
#[path = "sqlite/support.rs"]
mod support;
