//! `cargo xtask bench`: what tower-outcome costs, and whether that is within its limits.

use std::process::ExitCode;

use super::package;

/// Builds the package that measures as for use in earnest, and runs it.
pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let mut package = vec!["tower-outcome-bench", "--profile", "bench"];
    if arguments.first() == Some(&"stores") {
        package.extend(["--features", "stores"]);
    }
    package::run(&package, arguments)
}
