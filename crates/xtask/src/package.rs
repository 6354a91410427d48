//! Commands that are packages of their own: what they need is built by nobody else.

use std::process::{Command, ExitCode};

/// Runs the package, which `package` names and says how to build, with `arguments`, and passes its
/// exit code on.
pub(crate) fn run(package: &[&str], arguments: &[&str]) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--package"])
        .args(package)
        .arg("--")
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
