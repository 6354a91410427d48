//! Every fault of the testkit under tower-outcome and under what people use, in one table.
//!
//! All stacks meet the same faults, from the same servers, with the same body and the same time for
//! an answer ([`Row::patience`](tower_outcome_matrix::Row::patience)), over HTTP/1.1 and HTTP/2; tower-outcome
//! over gRPC besides. Counted is what the server did, after everything that was under way is over.
//!
//! # How an answer is read
//!
//! tower-outcome says one of its words. The others are set up as their documentation begins, plus a
//! timeout, and read as their users read them: a 2xx is done, any other status or an error is
//! failed. A 2xx counts by its head alone: whoever reads the body too, and takes an error there for
//! a failure, is told more false things than the table says. Only agent-effects has a word for not
//! knowing, and is taken by it.
//!
//! Those that repeat do so as often as ever, but without waiting in between. Their timeout is that of
//! one attempt, as reqwest's is. Proxies from the environment are off for all.
//!
//! # How it is counted
//!
//! - `failed` is false where the write took effect, and where it could have for all that the client
//!   saw; the column beside it counts the former alone.
//! - `failed` is proved where nothing happened and it could be known, or nothing arrived. Who calls
//!   every error `failed` is right there as well, without a proof.
//! - Unknown is needless where the client could have known. Of ours no more than seven may be.
//! - What happens to an idle connection has happened when the next write is made, so that it is no
//!   race. Where it lies unseen in the client's socket, one worker of the runtime is left to see it.
//! - A server that allows no stream at all is not in the table: the stream is never opened, and no
//!   client says so. Nor is one that ends a fresh connection's half before it has read.

use std::process::ExitCode;

use crate::options::Options;
use crate::report::Report;

mod measure;
mod options;
mod peers;
mod report;
mod stack;

fn main() -> ExitCode {
    let Some(options) = Options::parse(std::env::args().skip(1)) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    let report = match measure::all(&stack::all(), &options.runtimes) {
        Ok(cells) => Report::new(cells),
        Err(error) => {
            eprintln!("honesty: no server could be started: {error}");
            return ExitCode::FAILURE;
        }
    };
    if options.json {
        println!("{}", report.to_json(options.cells));
    } else {
        print!("{}", report.to_markdown(options.cells));
    }
    match report.fault() {
        None => ExitCode::SUCCESS,
        Some(fault) => {
            eprintln!("honesty: {fault}");
            ExitCode::FAILURE
        }
    }
}

const USAGE: &str = "\
usage: cargo xtask honesty [--json] [--cells] [--current-thread | --multi-thread]
";
