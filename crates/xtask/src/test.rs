//! `cargo xtask test`: everything that has to pass, in one command.

use std::process::{Command, ExitCode};

/// Runs the tests of the whole workspace, documentation included.
pub(crate) fn run() -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["test", "--workspace", "--all-features", "--no-fail-fast"])
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: cargo could not be started: {error}");
            ExitCode::FAILURE
        }
    }
}
