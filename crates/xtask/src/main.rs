//! The project's own commands, run as `cargo xtask COMMAND`.

use std::process::ExitCode;

mod cases;
mod honesty;
mod test;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["test", arguments @ ..] => test::run(arguments),
        ["cases", kind, file] => cases::run(kind, file.as_ref()),
        ["honesty", arguments @ ..] => honesty::run(arguments),
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [ARGUMENTS]   run every test and every example in the documentation, or what `cargo test`
                     runs with ARGUMENTS, beside private servers (PostgreSQL) that they need
  cases KIND FILE    run a file of cases, one JSON object a line, and list each miss
                     (KIND: keys, replies, responses, sf)
  honesty [FLAGS]    put every fault under tower-outcome and under what people use, and print
                     what each client was told, as the table in the README; exits with 1 if
                     tower-outcome told something false or wrote twice, with 2 on other flags
      --json             print it for programs
      --cells            list every pair of client and fault
      --current-thread   on tokio's runtime of one thread only
      --multi-thread     on tokio's runtime of many threads only
";
