//! `cargo xtask kill`: processes and servers are killed in the middle of writes.

use std::process::ExitCode;

use super::package;

/// Builds the package that kills, and runs it.
pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let mut package = vec!["tower-outcome-kill"];
    if arguments.contains(&"postgres") {
        package.extend(LOGGING_IN);
    }
    package::run(&package, arguments)
}

/// Each connection to `PostgreSQL` hashes a password some thousand times. Unoptimised that is most
/// of what a run does.
const LOGGING_IN: &[&str] = &[
    "--config",
    "profile.dev.package.postgres-protocol.opt-level=3",
    "--config",
    "profile.dev.package.sha2.opt-level=3",
];
