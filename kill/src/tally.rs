//! What a run comes to.

use std::collections::BTreeMap;
use std::fmt;

use tower_outcome_core::ledger::{Entry, State};

use crate::checks::Violation;
use crate::history::History;

/// The counts of a run.
#[derive(Default)]
pub(crate) struct Tally {
    cycles: u64,
    at_blow: BTreeMap<&'static str, u64>,
    at_end: BTreeMap<&'static str, u64>,
    words: BTreeMap<String, u64>,
    crashes: u64,
    sent: usize,
    effects: usize,
    violated: BTreeMap<&'static str, u64>,
    pub(crate) violations: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, history: &History, violations: &[Violation], crashes: bool) {
        self.cycles += 1;
        *self
            .at_blow
            .entry(state(history.at_blow.as_ref()))
            .or_default() += 1;
        *self.at_end.entry(state(history.last.as_ref())).or_default() += 1;
        for (_, said) in history.calls.iter().filter_map(|call| call.said()) {
            *self.words.entry(said.outcome.clone()).or_default() += 1;
        }
        self.crashes += u64::from(crashes);
        self.effects += history.commits().count();
        self.sent += history.lines.len() - history.commits().count();
        for violation in violations {
            *self.violated.entry(violation.rule).or_default() += 1;
            self.violations += 1;
        }
    }

    fn shares(&self, f: &mut fmt::Formatter<'_>, counts: &BTreeMap<&str, u64>) -> fmt::Result {
        for (name, count) in counts {
            let tenths = (count * 1000 + self.cycles / 2) / self.cycles.max(1);
            write!(f, "  {name} {count} ({}.{} %)", tenths / 10, tenths % 10)?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "cycles       {}", self.cycles)?;
        write!(f, "at the blow")?;
        self.shares(f, &self.at_blow)?;
        write!(f, "at the end ")?;
        self.shares(f, &self.at_end)?;
        write!(f, "words      ")?;
        for (word, count) in &self.words {
            write!(f, "  {word} {count}")?;
        }
        let Self { sent, effects, .. } = self;
        writeln!(f, "\nservice      {sent} requests, {effects} effects")?;
        writeln!(f, "store        killed {} times", self.crashes)?;
        write!(f, "violations   {}", self.violations)?;
        for (rule, count) in &self.violated {
            write!(f, "  [{rule}: {count}]")?;
        }
        Ok(())
    }
}

fn state(entry: Option<&Entry>) -> &'static str {
    entry.map_or("absent", |entry| match entry.state {
        State::Free if entry.code.is_none() => "absent",
        state => state.as_str(),
    })
}
