//! The tables of a run.

use std::process::ExitCode;

use crate::budget::{Line, Verdict};
use crate::measure::Measured;

/// Prints what became of each goal, and the figures behind. Fails where one got worse than it is to
/// get.
pub(crate) fn print(lines: &[Line], measured: &Measured) -> ExitCode {
    println!("| goal | case | unit | limit | measured | |");
    println!("|---|---|---|---|---|---|");
    for line in lines {
        let Line {
            id,
            what,
            unit,
            goal,
            measured,
            verdict,
        } = line;
        let measured = shown(*measured);
        let verdict = match verdict {
            Verdict::Met => "met".to_owned(),
            Verdict::Missed => format!("missed: {measured} of {goal}"),
            Verdict::Noisy => "noisy: no verdict".to_owned(),
            Verdict::Worse => format!("WORSE than it was: {measured} of {goal}"),
        };
        println!("| {id} | {what} | {unit} | {goal} | {measured} | {verdict} |");
    }
    println!("\n| measured | |\n|---|---|");
    for (case, figures) in measured.all() {
        let figures = figures.iter().filter(|(_, value)| **value != 0.0);
        let figures = figures.map(|(unit, value)| format!("{} {unit}", shown(*value)));
        println!("| {case} | {} |", figures.collect::<Vec<_>>().join(", "));
    }
    if lines.iter().any(|line| line.verdict == Verdict::Worse) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// With as many digits as say something.
fn shown(value: f64) -> String {
    let text = if value.abs() >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    };
    let short = text
        .contains('.')
        .then(|| text.trim_end_matches('0').trim_end_matches('.'));
    short.unwrap_or(&text).to_owned()
}
