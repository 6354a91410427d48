//! What a story is, and what one run of it came to.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use tower_outcome_core::ledger::EntryKey;
use tower_outcome_core::{Envelope, Outcome};
use tower_outcome_sqlite::SqliteLedger;
use tower_outcome_tools::reply::{Action, ReplyChecker};

/// Reads its lexicon once.
pub(crate) static CHECKER: LazyLock<ReplyChecker> = LazyLock::new(ReplyChecker::new);

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// One thing that goes wrong, and what has to become of it.
#[derive(Clone, Copy)]
pub(crate) struct Story {
    pub(crate) number: u8,
    /// Tells the variants of one story apart; empty where there is one only.
    pub(crate) variant: &'static str,
    pub(crate) title: &'static str,
    /// How often the customer may be refunded.
    pub(crate) commits: usize,
    /// What our tool has to answer, call by call.
    pub(crate) words: &'static [&'static str],
    pub(crate) today: fn(World) -> Run<Today>,
    pub(crate) ours: fn(World) -> Run<Ours>,
}

pub(crate) type Run<T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send>>;

/// What a story is given.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) ledger: Arc<SqliteLedger>,
    pub(crate) ledger_file: PathBuf,
    /// Who owns the refunds of this run.
    pub(crate) scope: String,
    /// The program that plays the agent which gets killed.
    pub(crate) agent_program: PathBuf,
}

/// How it ends as people write it today.
pub(crate) struct Today {
    pub(crate) commits: usize,
    pub(crate) word: &'static str,
}

/// How it ends with tower-outcome.
#[derive(Default)]
pub(crate) struct Ours {
    pub(crate) commits: usize,
    pub(crate) envelopes: Vec<Envelope>,
    /// What the customer reads in the end.
    pub(crate) reply: String,
    /// Everything beside commits and words that was not as it has to be.
    pub(crate) faults: Vec<String>,
    pub(crate) timeline: Vec<String>,
    /// The row that the story is about.
    pub(crate) row: Option<EntryKey>,
}

impl Ours {
    /// What the tool answered, call by call.
    pub(crate) fn words(&self) -> Vec<String> {
        self.envelopes.iter().map(word).collect()
    }

    /// Adds a line, after the attempts that were made before it.
    pub(crate) fn note(&mut self, line: impl Into<String>) {
        let attempts = std::mem::take(&mut *attempts());
        self.timeline.extend(attempts);
        self.timeline.push(line.into());
    }

    /// Takes an answer of the tool down.
    pub(crate) fn take(&mut self, envelope: Envelope) {
        self.note(format!("it is told {}", word(&envelope)));
        self.note(format!("  {}", envelope.to_json()));
        self.envelopes.push(envelope);
    }

    /// Tells the customer what the ledger says, in words that cannot say more.
    pub(crate) fn tell(&mut self, outcome: Outcome) {
        let action = Action::new("refund", outcome).with_resource("7");
        self.reply = CHECKER.summary(&[action]);
        self.note(format!("the customer reads: {}", self.reply));
    }

    /// Holds the story to something beside commits and words.
    pub(crate) fn expect(&mut self, holds: bool, otherwise: &str) {
        if !holds {
            self.faults.push(otherwise.to_owned());
        }
    }
}

impl Story {
    /// Number and variant, as the table names it.
    pub(crate) fn name(&self) -> String {
        format!("{}{}", self.number, self.variant)
    }

    pub(crate) fn passes(&self, ours: &Ours) -> bool {
        ours.commits == self.commits && ours.words() == self.words && ours.faults.is_empty()
    }
}

/// What the client has reported of its attempts and nobody has taken down yet.
pub(crate) fn attempts() -> MutexGuard<'static, Vec<String>> {
    ATTEMPTS.lock().unwrap_or_else(PoisonError::into_inner)
}

static ATTEMPTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

pub(crate) fn word(envelope: &Envelope) -> String {
    format!("{}/{}", envelope.outcome(), envelope.code())
}
