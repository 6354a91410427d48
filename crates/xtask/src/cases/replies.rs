//! Cases of the reply checker: a reply, the ledger behind it, and whether it should be flagged.

use std::cell::Cell;

use serde_json::Value;
use tower_outcome_tools::reply::{Action, ReplyChecker};

use super::{Report, text_of};

/// Runs cases of `reply`, `ledger` and `expected`, good by the marks of the whole file.
pub(crate) fn run(text: &str) -> Result<Report, String> {
    let checker = ReplyChecker::new();
    let tally = Tally::default();
    let mut report = Report::of(text, |case| {
        let expected = text_of(&case["expected"]);
        if !["flag", "pass"].contains(&expected) {
            return Err("`expected` is neither \"flag\" nor \"pass\"".to_owned());
        }
        let ledger = actions(&case["ledger"])?;
        let verdict = checker.check(text_of(&case["reply"]), &ledger);
        let got = if verdict.is_clean() { "pass" } else { "flag" };
        tally.count(expected, got);
        if expected == got {
            return Ok(());
        }
        let flags = verdict.flags().iter();
        let reasons: Vec<String> = flags.map(|flag| format!("{:?}", flag.reason)).collect();
        Err(format!(
            "expected {expected}, got {got} {}",
            reasons.join(" ")
        ))
    })?;
    let (precision, recall) = (tally.precision(), tally.recall());
    report.figures = Some(format!("precision {precision:.3} recall {recall:.3}"));
    report.good = precision >= PRECISION && recall >= RECALL;
    Ok(report)
}

fn actions(ledger: &Value) -> Result<Vec<Action>, String> {
    serde_json::from_value(ledger.clone()).map_err(|error| format!("no ledger: {error}"))
}

#[derive(Default)]
struct Tally {
    flagged_rightly: Cell<u32>,
    flagged_wrongly: Cell<u32>,
    missed: Cell<u32>,
}

impl Tally {
    fn count(&self, expected: &str, got: &str) {
        let cell = match (expected, got) {
            ("flag", "flag") => &self.flagged_rightly,
            ("pass", "flag") => &self.flagged_wrongly,
            ("flag", "pass") => &self.missed,
            _ => return,
        };
        cell.set(cell.get() + 1);
    }

    fn precision(&self) -> f64 {
        share(self.flagged_rightly.get(), self.flagged_wrongly.get())
    }

    fn recall(&self) -> f64 {
        share(self.flagged_rightly.get(), self.missed.get())
    }
}

/// The share of `good` in all; whole where there is nothing.
fn share(good: u32, bad: u32) -> f64 {
    if good + bad == 0 {
        1.0
    } else {
        f64::from(good) / f64::from(good + bad)
    }
}

/// How many of the flags have to be right.
const PRECISION: f64 = 0.95;
/// How many of the untrue replies have to be flagged.
const RECALL: f64 = 0.90;
