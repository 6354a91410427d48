//! What a client stack did in each scenario.

use std::fmt;

use crate::Scenario;

/// What the code that made a write believes afterwards.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Told {
    /// It took effect.
    Done,
    /// It did not take effect and never will: it is safe to make it again.
    Failed,
    /// It may have taken effect.
    Unknown,
}

/// What came of one write in one scenario.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Observation {
    /// The [name](Scenario::name) of the scenario.
    pub scenario: &'static str,
    /// What the client was told; `None` if it was told nothing within the limit.
    pub told: Option<Told>,
    /// How often the write took effect.
    pub commits: usize,
    /// How many requests the server read the head of, reads among them.
    pub requests: usize,
}

/// A table of observations, one scenario a line.
///
/// Made by [`at_most_once`](crate::at_most_once), or collected from [runs](Scenario::run).
/// `Display` prints it, with what is wrong at the end of the line.
///
/// ```
/// use tower_outcome_testkit::{Scenario, Told};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let scenario = &Scenario::all()[0];
/// let report: tower_outcome_testkit::Report =
///     [scenario.run(&async |_url| Told::Unknown).await?].into_iter().collect();
///
/// assert_eq!(report.unknowns().count(), 1);
/// assert!(!report.is_sound()); // a client that cannot write proves nothing
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Report {
    observations: Vec<Observation>,
}

impl Observation {
    /// What was seen of a write that was made by other means than [`Scenario::run`].
    #[must_use]
    pub const fn new(
        scenario: &'static str,
        told: Option<Told>,
        commits: usize,
        requests: usize,
    ) -> Self {
        Self {
            scenario,
            told,
            commits,
            requests,
        }
    }

    /// Whether the write took effect more than once.
    #[must_use]
    pub const fn is_double_commit(&self) -> bool {
        self.commits > 1
    }

    /// Whether the client was told that nothing happened, and it did.
    #[must_use]
    pub fn is_false_failed(&self) -> bool {
        self.told == Some(Told::Failed) && self.commits > 0
    }

    /// Whether the write without a fault did not do what it must, so that the rest proves nothing.
    #[must_use]
    pub fn is_vacuous(&self) -> bool {
        self.scenario == Scenario::FAULTLESS && (self.told != Some(Told::Done) || self.commits == 0)
    }

    fn fault(&self) -> Option<&'static str> {
        let faults = [
            (self.is_double_commit(), "TOOK EFFECT MORE THAN ONCE"),
            (self.is_false_failed(), "TOLD FAILED, TOOK EFFECT"),
            (self.told.is_none(), "DID NOT END"),
            (self.is_vacuous(), "DID NOT WRITE"),
        ];
        faults.iter().find(|(is, _)| *is).map(|(_, fault)| *fault)
    }
}

impl Report {
    /// One observation for each scenario, in their order.
    #[must_use]
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// Where the write took effect more than once.
    pub fn double_commits(&self) -> impl Iterator<Item = &Observation> {
        self.having(Observation::is_double_commit)
    }

    /// Where the client was told that nothing happened, and it did.
    pub fn false_failed(&self) -> impl Iterator<Item = &Observation> {
        self.having(Observation::is_false_failed)
    }

    /// Where the client was told that it cannot know.
    pub fn unknowns(&self) -> impl Iterator<Item = &Observation> {
        self.having(|it| it.told == Some(Told::Unknown))
    }

    /// Where the client was told nothing within the limit.
    pub fn unfinished(&self) -> impl Iterator<Item = &Observation> {
        self.having(|it| it.told.is_none())
    }

    /// Whether nothing took effect twice, no `Failed` took effect, every write ended, and the one
    /// without a fault was done.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.wrong() == 0
    }

    fn having(&self, is: impl Fn(&Observation) -> bool) -> impl Iterator<Item = &Observation> {
        self.observations.iter().filter(move |it| is(it))
    }

    fn wrong(&self) -> usize {
        self.having(|it| it.fault().is_some()).count()
    }
}

impl FromIterator<Observation> for Report {
    fn from_iter<I: IntoIterator<Item = Observation>>(observations: I) -> Self {
        Self {
            observations: observations.into_iter().collect(),
        }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        })
    }
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = self.told.map(|told| told.to_string());
        let told = told.as_deref().unwrap_or("nothing");
        let fault = self.fault().unwrap_or_default();
        let Self {
            scenario,
            commits,
            requests,
            ..
        } = self;
        let line = format!("{scenario:<46}{commits:>7}{requests:>10}  {told:<9}{fault}");
        f.write_str(line.trim_end())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<46}commits  requests  told", "the server")?;
        for observation in &self.observations {
            writeln!(f, "{observation}")?;
        }
        let (wrong, all) = (self.wrong(), self.observations.len());
        write!(f, "{wrong} of {all} scenarios went wrong")
    }
}
