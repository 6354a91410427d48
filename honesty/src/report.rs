//! What came of it, as a table and for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tower_outcome_matrix::{Cell, Tally};

use crate::measure::Measured;

/// Every cell, and what follows from them.
#[derive(Debug)]
pub(crate) struct Report {
    cells: Vec<Measured>,
}

impl Report {
    pub(crate) fn new(cells: Vec<Measured>) -> Self {
        Self { cells }
    }

    /// Why the run is no good, if it is not.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        if let Some(fault) = fault_of(self.ours()) {
            return Some(fault);
        }
        let is_vacuous = self.cells.iter().any(|it| it.cell.seen.is_vacuous());
        is_vacuous.then_some("a client did not even write where nothing was wrong")
    }

    pub(crate) fn to_markdown(&self, with_cells: bool) -> String {
        let mut text = String::from(HEAD);
        for Line {
            stack,
            tally,
            failed_and_done,
        } in self.lines()
        {
            let _ = writeln!(
                text,
                "| {stack} | {} | {} | {failed_and_done} | {} | {} | {} | {} | {} |",
                tally.cells,
                tally.false_failed,
                tally.double_commits,
                tally.false_done,
                tally.needless_unknown,
                tally.honest_unknown,
                tally.proved_failed
            );
        }
        let needless: Vec<_> = self.needless().collect();
        let _ = writeln!(text, "\nNeedless unknowns of {OURS}: {}", needless.len());
        for it in needless {
            let Measured { runtime, cell, .. } = it;
            let _ = writeln!(text, "- {}; {}, {runtime}", cell.row, cell.client);
        }
        if with_cells {
            text.push_str(CELLS_HEAD);
            self.cells.iter().for_each(|it| write_line(&mut text, it));
        }
        text
    }

    pub(crate) fn to_json(&self, with_cells: bool) -> Value {
        let stacks = self.lines().into_iter().map(|line| {
            json!({
                "stack": line.stack,
                "cells": line.tally.cells,
                "false_failed": line.tally.false_failed,
                "false_failed_and_done": line.failed_and_done,
                "double_commits": line.tally.double_commits,
                "false_done": line.tally.false_done,
                "needless_unknown": line.tally.needless_unknown,
                "honest_unknown": line.tally.honest_unknown,
                "proved_failed": line.tally.proved_failed,
            })
        });
        let mut report = json!({
            "stacks": stacks.collect::<Vec<_>>(),
            "needless_unknown": self.needless().map(to_json).collect::<Vec<_>>(),
        });
        if with_cells {
            report["cells"] = self.cells.iter().map(to_json).collect();
        }
        report
    }

    /// The sum of ours, then every stack.
    fn lines(&self) -> Vec<Line<'_>> {
        let mut lines = vec![Line::new(OURS)];
        for it in &self.cells {
            let stack = lines.iter().position(|line| line.stack == it.stack);
            let stack = stack.unwrap_or_else(|| {
                lines.push(Line::new(&it.stack));
                lines.len() - 1
            });
            lines[stack].add(it.cell);
            if it.is_ours {
                lines[0].add(it.cell);
            }
        }
        lines
    }

    fn ours(&self) -> Tally {
        let ours = self.cells.iter().filter(|it| it.is_ours);
        ours.map(|it| Tally::from(it.cell)).sum()
    }

    fn needless(&self) -> impl Iterator<Item = &Measured> {
        let ours = self.cells.iter().filter(|it| it.is_ours);
        ours.filter(|it| it.cell.is_needless_unknown())
    }
}

/// The sums of one stack.
#[derive(Debug)]
struct Line<'a> {
    stack: &'a str,
    tally: Tally,
    /// Of the false `failed`, those where it happened, and not only could have.
    failed_and_done: usize,
}

impl<'a> Line<'a> {
    fn new(stack: &'a str) -> Self {
        Self {
            stack,
            tally: Tally::default(),
            failed_and_done: 0,
        }
    }

    fn add(&mut self, cell: Cell) {
        self.tally = self.tally + cell.into();
        self.failed_and_done += usize::from(cell.seen.is_false_failed());
    }
}

/// What ours must never do.
fn fault_of(ours: Tally) -> Option<&'static str> {
    let faults = [
        (ours.cells == 0, "nothing was run"),
        (
            ours.false_failed > 0,
            "told failed, and it happened or could have",
        ),
        (ours.false_done > 0, "told done, and it was not"),
        (
            ours.double_commits > 0,
            "a write took effect more than once",
        ),
        (
            ours.needless_unknown > MOST_NEEDLESS,
            "more was needlessly unknown than ever is; the report names what",
        ),
    ];
    faults.iter().find(|(is, _)| *is).map(|(_, fault)| *fault)
}

fn write_line(text: &mut String, it: &Measured) {
    let Measured { stack, cell, .. } = it;
    let told = cell.seen.told.map(|told| told.to_string());
    let _ = writeln!(
        text,
        "| {stack} | {} | {} | {} | {} | {} | {} | {} |",
        cell.client,
        it.runtime,
        cell.row,
        told.as_deref().unwrap_or("nothing"),
        cell.seen.commits,
        cell.seen.requests,
        findings(cell).join(", ")
    );
}

fn to_json(it: &Measured) -> Value {
    json!({
        "stack": it.stack,
        "client": it.cell.client,
        "runtime": it.runtime.to_string(),
        "row": it.cell.row,
        "told": it.cell.seen.told.map(|told| told.to_string()),
        "commits": it.cell.seen.commits,
        "requests": it.cell.seen.requests,
        "findings": findings(&it.cell),
    })
}

fn findings(cell: &Cell) -> Vec<&'static str> {
    let findings = [
        (cell.is_false_failed(), "false failed"),
        (cell.is_double_commit(), "double commit"),
        (cell.is_false_done(), "false done"),
        (cell.is_needless_unknown(), "needless unknown"),
        (cell.is_honest_unknown(), "honest unknown"),
        (cell.is_proved_failed(), "proved failed"),
    ];
    let found = findings.iter().filter(|(is, _)| *is);
    found.map(|(_, finding)| *finding).collect()
}

const HEAD: &str = "\
| stack | cells | false `failed` | of these done | double commits | false done \
| needless unknowns | honest unknowns | proved `failed` |
|---|---|---|---|---|---|---|---|---|
";

const CELLS_HEAD: &str = "
| stack | client | runtime | fault | told | commits | requests | that is |
|---|---|---|---|---|---|---|---|
";

const OURS: &str = "tower-outcome";

/// How many needless unknowns of ours are let pass.
const MOST_NEEDLESS: usize = 7;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tower_outcome_matrix::Protocol::Http1;
    use tower_outcome_matrix::{Client, Row, Staging, Truth, run};
    use tower_outcome_testkit::{Scenario, Step, Told};

    use super::*;
    use crate::measure::Flavour;

    #[tokio::test]
    async fn a_false_failed_fails_the_run_if_it_is_ours() {
        let liar = Client::new("liar", Http1, |_| {
            Arc::new(|_| Box::pin(async { Told::Failed }))
        });
        let row = Row {
            name: "commits, then closes",
            protocols: &[Http1],
            staging: Staging::Scripted(Box::new(Scenario::new("", [Step::CommitThenClose]))),
            truth: Truth::Open,
        };
        let mut measured = Measured {
            stack: String::new(),
            is_ours: true,
            runtime: Flavour::CurrentThread,
            cell: run(&row, &liar).await.expect("there are ports"),
        };
        assert!(Report::new(vec![measured.clone()]).fault().is_some());
        measured.is_ours = false;
        assert_eq!(Report::new(vec![measured]).lines()[1].tally.false_failed, 1);
    }

    #[test]
    fn a_false_word_a_second_commit_or_too_many_needless_unknowns_of_ours_fail_the_run() {
        let sound = Tally {
            cells: 1,
            ..Tally::default()
        };
        let unsound = [
            Tally::default(),
            Tally {
                false_failed: 1,
                ..sound
            },
            Tally {
                false_done: 1,
                ..sound
            },
            Tally {
                double_commits: 1,
                ..sound
            },
            Tally {
                needless_unknown: MOST_NEEDLESS + 1,
                ..sound
            },
        ];
        assert_eq!(fault_of(sound), None);
        assert!(unsound.iter().all(|tally| fault_of(*tally).is_some()));
        let unknowns = Tally {
            needless_unknown: MOST_NEEDLESS,
            honest_unknown: 1,
            ..sound
        };
        assert_eq!(fault_of(unknowns), None);
    }
}
