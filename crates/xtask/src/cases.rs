//! `cargo xtask cases`: runs files of cases against the crates, for anyone's own cases too.

use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;

mod keys;
mod replies;
mod responses;
mod sf;

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
        "keys" => keys::run(&text),
        "replies" => replies::run(&text),
        "responses" => responses::run(&text),
        "sf" => sf::run(&text),
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

impl Report {
    /// Asks `judge` about every line; its error says what was expected and what came.
    fn of(text: &str, judge: impl Fn(&Value) -> Result<(), String>) -> Result<Self, String> {
        let (mut passed, mut misses) = (0, Vec::new());
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            let case: Value = serde_json::from_str(line)
                .map_err(|error| format!("line {number} is no case: {error}"))?;
            match judge(&case) {
                Ok(()) => passed += 1,
                Err(miss) => {
                    let names = ["id", "name", "why", "note"].map(|name| text_of(&case[name]));
                    let names = names.iter().filter(|name| !name.is_empty());
                    let about = names.copied().collect::<Vec<_>>().join(": ");
                    misses.push(format!("line {number}: {miss} ({about})"));
                }
            }
        }
        Ok(Self {
            passed,
            good: misses.is_empty(),
            misses,
            figures: None,
        })
    }
}

/// The text of a string, or none.
fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
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
