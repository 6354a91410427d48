//! What things may cost: `budgets.toml`, and what a run came to.

use serde::Deserialize;

use crate::measure::Measured;
use crate::measure::wall::NOISE;

/// Everything that has a limit.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Budgets {
    goal: Vec<Goal>,
}

/// A limit of one case: of what it costs, or costs more than another, or as a share of what a third
/// costs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Goal {
    id: String,
    what: String,
    case: String,
    /// What does all but that which is measured.
    minus: Option<String>,
    /// What it is a share of.
    of: Option<Of>,
    unit: String,
    #[serde(flatten)]
    limit: Limit,
    /// Where the goal is missed: what it is not to get worse than.
    now: Option<f64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Of {
    Case(String),
    Difference([String; 2]),
}

#[derive(Clone, Copy, Deserialize)]
enum Limit {
    #[serde(rename = "least")]
    Least(f64),
    #[serde(rename = "most")]
    Most(f64),
}

/// What a run came to for one goal.
pub(crate) struct Line {
    pub(crate) id: String,
    pub(crate) what: String,
    pub(crate) unit: String,
    pub(crate) goal: String,
    pub(crate) measured: f64,
    pub(crate) verdict: Verdict,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    Met,
    /// As far from the goal as it was, or nearer.
    Missed,
    /// The machine was too busy to tell.
    Noisy,
    /// Worse than it is to get.
    Worse,
}

impl Budgets {
    pub(crate) fn read() -> Result<Self, String> {
        toml::from_str(include_str!("../budgets.toml")).map_err(|error| error.to_string())
    }

    /// What became of each goal that was measured.
    pub(crate) fn judge(&self, measured: &Measured) -> Vec<Line> {
        let goals = self.goal.iter();
        goals.filter_map(|goal| goal.judge(measured)).collect()
    }
}

impl Goal {
    fn judge(&self, measured: &Measured) -> Option<Line> {
        let value = |case: &str| measured.value(case, &self.unit);
        let mut figure = value(&self.case)?;
        if let Some(minus) = &self.minus {
            figure -= value(minus)?;
        }
        match &self.of {
            None => {}
            Some(Of::Case(case)) => figure /= value(case)?,
            Some(Of::Difference([case, minus])) => figure /= value(case)? - value(minus)?,
        }
        let noise = measured.value(&self.case, "noise");
        // A share is no count: what growing tables add is a part of both.
        let rounding = if self.of.is_none() && is_count(&self.unit) {
            ROUNDING
        } else {
            0.0
        };
        let verdict = if self.limit.holds(figure, rounding) {
            Verdict::Met
        } else if noise.is_some_and(|noise| noise > NOISE) {
            Verdict::Noisy
        } else if !is_count(&self.unit)
            || self
                .now
                .is_some_and(|now| self.limit.at(now).holds(figure, rounding))
        {
            Verdict::Missed
        } else {
            Verdict::Worse
        };
        Some(Line {
            id: self.id.clone(),
            what: self.what.clone(),
            unit: match self.of {
                Some(_) => format!("{}, share", self.unit),
                None => self.unit.clone(),
            },
            goal: self.limit.to_string(),
            measured: figure,
            verdict,
        })
    }
}

impl Limit {
    fn holds(self, figure: f64, rounding: f64) -> bool {
        match self {
            Self::Least(limit) => figure >= limit - limit.abs() * TOLERANCE,
            Self::Most(limit) => figure <= limit + limit.abs() * TOLERANCE + rounding,
        }
    }

    /// The same limit elsewhere.
    const fn at(self, value: f64) -> Self {
        match self {
            Self::Least(_) => Self::Least(value),
            Self::Most(_) => Self::Most(value),
        }
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Least(limit) => write!(f, "≥ {limit}"),
            Self::Most(limit) => write!(f, "≤ {limit}"),
        }
    }
}

/// Whether it is the same on every machine, so that a run can fail by it.
fn is_count(unit: &str) -> bool {
    COUNTS.contains(&unit)
}

const COUNTS: &[&str] = &[
    "allocations",
    "bytes",
    "bytes alive",
    "commands",
    "entries",
    "fsyncs",
    "instructions",
    "statements",
];

/// How far instructions differ from run to run.
const TOLERANCE: f64 = 0.03;

/// What growing tables add to a count that is none, spread over all calls.
const ROUNDING: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::{Budgets, Verdict};
    use crate::measure::Measured;

    fn judge(limits: &str, unit: &'static str, figure: f64) -> Option<Verdict> {
        let goal =
            format!("goal = [{{ id = 'G', what = '', case = 'a', unit = '{unit}', {limits} }}]");
        let budgets: Budgets = toml::from_str(&goal).unwrap();
        let mut measured = Measured::default();
        measured.note("a", unit, figure);
        measured.note("b", unit, 10.0);
        measured.note("c", unit, 5.0);
        budgets.judge(&measured).first().map(|line| line.verdict)
    }

    #[test]
    fn a_goal_is_met_or_missed_and_never_gets_worse() {
        let judged = |figure| judge("most = 100, now = 200", "instructions", figure);
        assert_eq!(judged(102.0), Some(Verdict::Met));
        assert_eq!(judged(104.0), Some(Verdict::Missed));
        assert_eq!(judged(210.0), Some(Verdict::Worse));
        assert_eq!(
            judge("most = 100", "instructions", 104.0),
            Some(Verdict::Worse)
        );
        assert_eq!(
            judge("least = 8", "times as many", 7.0),
            Some(Verdict::Missed)
        );
        assert_eq!(judge("least = 8", "statements", 7.0), Some(Verdict::Worse));
    }

    #[test]
    fn a_limit_may_be_of_a_difference_and_of_a_share() {
        let judged = |limits| judge(limits, "instructions", 15.0);
        assert_eq!(judged("most = 5, minus = 'b'"), Some(Verdict::Met));
        assert_eq!(
            judged("most = 1, minus = 'b', of = ['b', 'c']"),
            Some(Verdict::Met)
        );
        assert_eq!(judged("most = 1, of = 'b'"), Some(Verdict::Worse));
        assert_eq!(judged("most = 1, of = 'unmeasured'"), None);
        // No growing table makes 1.5 of 1.45.
        assert_eq!(judged("most = 1.45, of = 'b'"), Some(Verdict::Worse));
    }

    #[test]
    fn the_goals_can_be_read() {
        assert!(!Budgets::read().unwrap().goal.is_empty());
    }
}
