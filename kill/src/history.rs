//! All that was seen of one cycle.

use std::fmt;

use tower_outcome_core::ledger::Entry;

use crate::books::{Line, What};
use crate::plan::Plan;
use crate::process::Stamped;
use crate::words::{Heard, Report, Said, Step};

/// All that was seen of one cycle.
pub(crate) struct History {
    pub(crate) plan: Plan,
    pub(crate) calls: Vec<CallLog>,
    /// The row right after the blow.
    pub(crate) at_blow: Option<Entry>,
    /// The row at the end, when it has no living owner.
    pub(crate) last: Option<Entry>,
    pub(crate) lines: Vec<Line>,
    /// Whether the store's server has crashed meanwhile.
    pub(crate) crashed: bool,
    /// Whether what it had acknowledged may be gone.
    pub(crate) forgot: bool,
}

/// What was seen of a call.
#[derive(Clone, Debug)]
pub(crate) struct CallLog {
    pub(crate) number: u32,
    /// The number of the books when it began, or went on after it was frozen: what the caller is
    /// told, it is told later.
    pub(crate) since: u64,
    pub(crate) reports: Vec<Stamped>,
}

impl CallLog {
    pub(crate) const fn new(number: u32, since: u64) -> Self {
        Self {
            number,
            since,
            reports: Vec::new(),
        }
    }

    pub(crate) fn asked(&self, step: Step) -> bool {
        self.has(|report| matches!(report, Report::Asked(asked) if *asked == step))
    }

    pub(crate) fn applied(&self, step: Step) -> bool {
        self.has(|report| matches!(report, Report::Answered(it, Heard::Applied) if *it == step))
    }

    /// The epoch of its claim, if it is known to have one.
    pub(crate) fn epoch(&self) -> Option<u64> {
        self.reports.iter().find_map(|(_, report)| match report {
            Report::Answered(_, Heard::Granted { epoch }) => Some(*epoch),
            _ => None,
        })
    }

    /// What its caller was told, and the number of the books when it was heard.
    pub(crate) fn said(&self) -> Option<(u64, &Said)> {
        self.reports.iter().find_map(|(at, report)| match report {
            Report::Said(said) => Some((*at, said)),
            _ => None,
        })
    }

    pub(crate) fn has(&self, wanted: impl Fn(&Report) -> bool) -> bool {
        self.reports.iter().any(|(_, report)| wanted(report))
    }
}

impl History {
    /// The effects, with their numbers in the books and the calls that they belong to.
    pub(crate) fn commits(&self) -> impl Iterator<Item = (u64, u32, u64)> {
        self.lines.iter().filter_map(|line| match line.what {
            What::Committed(effect) => Some((line.at, line.call, effect)),
            What::Received => None,
        })
    }

    pub(crate) fn call(&self, number: u32) -> Option<&CallLog> {
        self.calls.iter().find(|call| call.number == number)
    }
}

impl fmt::Display for History {
    /// The whole story: another run of the same plan need not end in the same way.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = |entry: &Option<Entry>| entry.as_ref().map_or("absent", |it| it.state.as_str());
        writeln!(f, "  {:?}", self.plan)?;
        let (then, last) = (state(&self.at_blow), state(&self.last));
        writeln!(f, "  the row: {then} at the blow, {last} at the end")?;
        for line in &self.lines {
            writeln!(f, "  {}: call {} {:?}", line.at, line.call, line.what)?;
        }
        for call in &self.calls {
            write!(f, "  call {}, since {}:", call.number, call.since)?;
            for (at, report) in &call.reports {
                write!(f, " {at}: {report:?}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
