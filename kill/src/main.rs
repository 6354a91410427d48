//! Kills processes and databases in the middle of writes, and checks what is left.
//!
//! # A cycle
//!
//! A worker, a process of its own, makes one write through the whole stack against a service of
//! ours, which delays, refuses, fails and loses answers. At a random moment the worker is killed, or
//! frozen until long after its lease has ended; now and then the store's server is killed as well.
//! Another worker then makes the identical call, looks up what is in doubt, and makes the call again.
//! A frozen worker goes on in the middle of that or after it.
//!
//! # What is checked
//!
//! That no write took effect twice; that no caller was told `failed` of what happened or `ok` of what
//! did not; that no claim that may have been sent was ever given on, and no other was lost; that the
//! row ends in what the service did, or in doubt. Only what caused what is looked at, no clock: see
//! `checks.rs`. Redis that writes to its disk every second may forget; then only what a failover may
//! lose counts, and the service honours keys.

use std::process::ExitCode;

mod books;
mod checks;
mod cycle;
mod database;
mod history;
mod options;
mod plan;
mod process;
mod random;
mod run;
mod service;
mod site;
mod store;
mod tally;
mod timing;
mod words;
mod worker;

// One thread: a worker dies with the thread that started it.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == [process::WORKER] {
        return worker::run().await;
    }
    let Some(options) = options::Options::parse(arguments) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    match run::run(options).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("kill: {error}");
            // Not the code of a verdict.
            ExitCode::from(2)
        }
    }
}

const USAGE: &str = "\
usage: cargo xtask kill --store sqlite|postgres|redis --cycles N [--seed S] [--from CYCLE] [--freeze]
           [--mutant free-on-crash|quiescence-from-first-send|unfenced-failed]
";
