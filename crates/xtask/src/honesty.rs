//! `cargo xtask honesty`: what tower-outcome says under every fault, beside what people use.

use std::process::{Command, ExitCode};

/// Runs the package that knows what people use, which nothing else builds, and passes its exit code
/// on.
pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--package", "tower-outcome-honesty", "--"])
        .args(arguments)
        .status();
    match status {
        Ok(status) => status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .map_or(ExitCode::FAILURE, ExitCode::from),
        Err(error) => {
            eprintln!("xtask: cargo could not be started: {error}");
            ExitCode::FAILURE
        }
    }
}
