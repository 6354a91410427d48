//! What the two processes say to each other: one JSON object a line.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::options::Mutant;
use crate::store::Address;

/// What a worker is told first.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Setup {
    pub(crate) store: Address,
    /// Where the service is.
    pub(crate) service: String,
    pub(crate) mutant: Option<Mutant>,
}

/// What a worker is told afterwards.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Order {
    /// Make a write.
    Call(CallOrder),
    /// Look up what is in doubt, once.
    Reconcile,
}

/// The one write of a cycle; every call of the cycle means the same.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct CallOrder {
    /// The scope of the run.
    pub(crate) scope: String,
    pub(crate) cycle: u64,
    /// Counts the calls of the cycle, from 1.
    pub(crate) number: u32,
    pub(crate) deadline: Duration,
    pub(crate) pauses: Pauses,
}

/// How slow the ledger is, so that there is time to be killed in.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Pauses {
    pub(crate) after_claim: Duration,
    pub(crate) after_send: Duration,
    pub(crate) before_settle: Duration,
}

/// What a worker says.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Report {
    /// It cannot work, for this reason.
    Broken(String),
    /// It has its ledger.
    Ready,
    /// The ledger is about to be asked.
    Asked(Step),
    /// The ledger has answered.
    Answered(Step, Heard),
    /// How the call ended, for its caller.
    Said(Said),
    /// Nothing of the call is under way any more.
    Over,
    /// A pass has ended, or could not be made.
    Reconciled(bool),
}

/// An event, without its contents.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Step {
    Alias,
    Claim,
    Done,
    Failed,
    Find,
    Look,
    Partial,
    Release,
    Resend,
    Resolve,
    Send,
    Unknown,
}

/// An answer, without its contents.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Heard {
    Applied,
    Error,
    Granted { epoch: u64 },
    Other,
}

/// A verdict.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Said {
    pub(crate) outcome: String,
    pub(crate) code: String,
    /// Whether it speaks of the intent and not of the call alone.
    pub(crate) of_intent: bool,
    /// The effect that the answer names, if there is an answer and it names one.
    pub(crate) effect: Option<u64>,
}

/// The line for `word`.
pub(crate) fn line(word: &impl Serialize) -> String {
    let mut line = serde_json::to_string(word).unwrap_or_default();
    line.push('\n');
    line
}
