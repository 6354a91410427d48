//! What tower-outcome costs, beside what people use, and what it may cost.
//!
//! Run as `cargo xtask bench`. `docs/PERFORMANCE.md` has the figures and how they are taken,
//! `budgets.toml` the limits.

use std::process::ExitCode;

use crate::budget::Budgets;
use crate::measure::{Case, Measured, allocations, instructions};

mod budget;
mod cases;
mod measure;
mod report;
#[cfg(feature = "stores")]
mod stores;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["list"] => {
            for case in cases::all(&[]) {
                println!("{}", case.name);
            }
            ExitCode::SUCCESS
        }
        ["one", name, times] => one(name, times),
        ["inside", name] => match find(name) {
            Some(case) => {
                instructions::run(&case);
                ExitCode::SUCCESS
            }
            None => usage(),
        },
        #[cfg(feature = "stores")]
        ["pairs", directory, tasks, each] => {
            let (Ok(tasks), Ok(each)) = (tasks.parse(), each.parse()) else {
                return usage();
            };
            match stores::counted(directory.as_ref(), tasks, each) {
                Ok(()) => ExitCode::SUCCESS,
                Err(reason) => fail(&reason),
            }
        }
        #[cfg(feature = "stores")]
        ["stores", arguments @ ..] => of_stores(arguments),
        ["counts", groups @ ..] if known(groups) => run(groups, false),
        groups if known(groups) => run(groups, true),
        _ => usage(),
    }
}

fn known(groups: &[&str]) -> bool {
    groups.iter().all(|group| cases::GROUPS.contains(group))
}

fn find(name: &str) -> Option<Case> {
    cases::all(&[]).into_iter().find(|case| case.name == name)
}

/// For a profiler.
fn one(name: &str, times: &str) -> ExitCode {
    match (find(name), times.parse()) {
        (Some(case), Ok(times)) => {
            (case.prepare)()(times);
            ExitCode::SUCCESS
        }
        _ => usage(),
    }
}

fn run(groups: &[&str], timed: bool) -> ExitCode {
    let (cases, mut measured) = (cases::all(groups), Measured::default());
    allocations::count(&cases, &mut measured);
    cases::counts(groups, &mut measured);
    if let Err(reason) = instructions::count(&cases, &mut measured) {
        eprintln!("bench: no instructions are counted: {reason}");
    }
    if timed {
        cases::times(groups, &mut measured);
    }
    judge(&measured)
}

#[cfg(feature = "stores")]
fn of_stores(arguments: &[&str]) -> ExitCode {
    let (mut stores, mut rows) = (Vec::new(), stores::ROWS);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match *argument {
            "--rows" => match arguments.next().and_then(|rows| rows.parse().ok()) {
                Some(number) => rows = number,
                None => return usage(),
            },
            store if stores::STORES.contains(&store) => stores.push(store),
            _ => return usage(),
        }
    }
    let mut measured = Measured::default();
    match stores::measure(&stores, rows, &mut measured) {
        Ok(()) => judge(&measured),
        Err(reason) => fail(&reason),
    }
}

fn judge(measured: &Measured) -> ExitCode {
    match Budgets::read() {
        Ok(budgets) => report::print(&budgets.judge(measured), measured),
        Err(reason) => fail(&reason),
    }
}

fn fail(reason: &str) -> ExitCode {
    eprintln!("bench: {reason}");
    ExitCode::from(2)
}

fn usage() -> ExitCode {
    eprint!("{USAGE}");
    ExitCode::from(2)
}

const USAGE: &str = "\
usage: cargo xtask bench [counts] [client] [keys] [lanes] [memory] [wire]
       cargo xtask bench stores [--rows NUMBER] [postgres] [purge] [redis] [sqlite]
       cargo xtask bench list
       cargo xtask bench one CASE TIMES
";
