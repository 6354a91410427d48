//! The project's own commands, run as `cargo xtask COMMAND`.

use std::process::ExitCode;

mod bench;
mod cases;
mod kill;
mod package;
mod test;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["bench", arguments @ ..] => bench::run(arguments),
        ["test", arguments @ ..] => test::run(arguments),
        ["cases", kind, file] => cases::run(kind, file.as_ref()),
        ["honesty", arguments @ ..] => package::run(&["tower-outcome-honesty"], arguments),
        ["kill", arguments @ ..] => kill::run(arguments),
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
                     tower-outcome told something false, wrote twice, or did not know more than
                     seven times what it could have, with 2 on other flags
      --json             print it for programs
      --cells            list every pair of client and fault
      --current-thread   on tokio's runtime of one thread only
      --multi-thread     on tokio's runtime of many threads only
  bench [GROUPS]     measure what things cost, beside what people use, and hold it against
                     bench/budgets.toml; exits with 1 where a count got worse than it is to get
                     (GROUPS: client, keys, lanes, memory, wire; all of them if none is named;
                     needs valgrind)
      counts [GROUPS]    only what is the same on every machine
      stores [STORES]    the ledgers in PostgreSQL, Redis and SQLite, beside the bare databases,
                         and what PostgreSQL takes to forget (STORES: postgres, purge, redis,
                         sqlite; --rows NUMBER for the purge, a million without it)
      list               the cases
      one CASE TIMES     do one case as often, for a profiler
  kill --store sqlite|postgres|redis --cycles N [FLAGS]
                     kill processes, and the store's server, in the middle of writes, and check
                     what is left; exits with 1 if anything is wrong, with 2 if it could not
                     be found out
      --seed S           another run; 1 without it
      --from CYCLE       begin with this cycle
      --freeze           freeze the processes past their lease instead, and let them go on
      --mutant free-on-crash|quiescence-from-first-send|unfenced-failed
                         make the protocol wrong until somebody notices; exits with 1 if nobody
                         does within those cycles
";
