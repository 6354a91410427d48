//! `cargo xtask test`: everything that has to pass, in one command.

use std::process::{Command, ExitCode};

use xtask::servers::{Postgres, Redis, Server};

/// Runs `cargo test` with `arguments`, or all tests of the workspace, beside the servers that they
/// need. The servers stop when the tests have ended, however they end.
pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let servers = Postgres::start().and_then(|postgres| Ok((postgres, Redis::start()?)));
    let (postgres, redis) = match servers {
        Ok(servers) => servers,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            return ExitCode::FAILURE;
        }
    };
    let arguments = if arguments.is_empty() {
        EVERYTHING
    } else {
        arguments
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .arg("test")
        .args(arguments)
        .env(Postgres::VARIABLE, postgres.url())
        .env(Redis::VARIABLE, redis.url())
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

/// The default members: all but the comparison with what others say, which has a command of its own.
const EVERYTHING: &[&str] = &["--all-features", "--no-fail-fast"];
