//! A ledger that says what it is asked, and takes its time.

use std::sync::Arc;
use std::time::Duration;

use tower_outcome_core::ledger::{
    Answer, Ending, EntryKey, Event, Ledger, LedgerError, LedgerFuture,
};

use super::mutant::Mutated;
use super::say;
use crate::words::{Heard, Pauses, Report, Step};

pub(super) struct Watched {
    inner: Arc<Mutated>,
    pauses: Pauses,
}

impl Watched {
    pub(super) const fn new(inner: Arc<Mutated>, pauses: Pauses) -> Self {
        Self { inner, pauses }
    }

    /// The pauses before and after a step.
    const fn pauses(&self, step: Step) -> (Duration, Duration) {
        match step {
            Step::Alias => (Duration::ZERO, Duration::ZERO),
            Step::Claim => (Duration::ZERO, self.pauses.after_claim),
            Step::Send => (Duration::ZERO, self.pauses.after_send),
            _ => (self.pauses.before_settle, Duration::ZERO),
        }
    }
}

impl Ledger for Watched {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        let step = step(&event);
        let (before, after) = self.pauses(step);
        Box::pin(async move {
            tokio::time::sleep(before).await;
            say(&Report::Asked(step));
            let answer = self.inner.apply(key, event).await;
            say(&Report::Answered(step, heard(&answer)));
            tokio::time::sleep(after).await;
            answer
        })
    }

    tower_outcome_core::forward_ledger!(self => self.inner; read unresolved due page counts purge
        changed may_lose_writes needs_honoured_keys);
}

const fn step(event: &Event) -> Step {
    match event {
        Event::Alias { .. } | Event::Home { .. } => Step::Alias,
        Event::Claim(_) => Step::Claim,
        Event::Find { .. } => Step::Find,
        Event::Look { .. } => Step::Look,
        Event::Release { .. } => Step::Release,
        Event::Resend { .. } => Step::Resend,
        Event::Resolve { .. } => Step::Resolve,
        Event::Send { .. } => Step::Send,
        Event::Settle { ending, .. } => match ending {
            Ending::Done { .. } => Step::Done,
            Ending::Failed { .. } => Step::Failed,
            Ending::Partial { .. } => Step::Partial,
            Ending::Unknown { .. } => Step::Unknown,
        },
    }
}

const fn heard(answer: &Result<Answer, LedgerError>) -> Heard {
    match answer {
        Ok(Answer::Applied) => Heard::Applied,
        Ok(Answer::Granted(grant)) => Heard::Granted { epoch: grant.epoch },
        Ok(_) => Heard::Other,
        Err(_) => Heard::Error,
    }
}
