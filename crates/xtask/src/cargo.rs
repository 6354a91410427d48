//! Commands that are a run of cargo.

use std::process::{Command, ExitCode};

/// `cargo xtask test`: runs the tests of the default members, documentation included.
pub(crate) fn test() -> ExitCode {
    run(&["test", "--all-features", "--no-fail-fast"])
}

/// `cargo xtask honesty`: a package of its own, for nothing else is to build what people use.
pub(crate) fn honesty(arguments: &[&str]) -> ExitCode {
    let cargo = ["run", "--quiet", "--package", "tower-outcome-honesty", "--"];
    run(&[&cargo, arguments].concat())
}

/// Passes cargo's exit code on, which is that of the program that it ran.
fn run(arguments: &[&str]) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    match Command::new(cargo).args(arguments).status() {
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
