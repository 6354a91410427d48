//! `cargo xtask cases`: runs files of cases against the crates, for anyone's own cases too.

use std::path::Path;
use std::process::ExitCode;

/// What one run of a case file came to.
pub(crate) struct Report {
    /// Cases that ended as they should.
    pub(crate) passed: usize,
    /// One line a case that did not: id, expected, got, why.
    pub(crate) misses: Vec<String>,
    /// Printed above the last line: figures that a kind of case reports besides.
    pub(crate) figures: Option<String>,
    /// Whether the run is good, which a kind may judge by its figures.
    pub(crate) good: bool,
}

/// Runs `file` as cases of `kind`, prints each miss, the figures and the closing line.
pub(crate) fn run(kind: &str, file: &Path) -> ExitCode {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("xtask: {} cannot be read: {error}", file.display());
            return ExitCode::from(2);
        }
    };
    let report = match kind {
        _ => Err(format!("no cases of the kind {kind:?}")),
    };
    match report {
        Ok(report) => print(&report),
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(2)
        }
    }
}

fn print(report: &Report) -> ExitCode {
    for miss in &report.misses {
        println!("{miss}");
    }
    if let Some(figures) = &report.figures {
        println!("{figures}");
    }
    println!("{} passed, {} failed", report.passed, report.misses.len());
    if report.good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
