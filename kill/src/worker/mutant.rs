//! Wrong protocols, made of right events.

use std::sync::Arc;
use std::time::Duration;

use tower_outcome::Code;
use tower_outcome_core::Landing;
use tower_outcome_core::ledger::{
    Answer, Ending, Entry, EntryKey, Event, Ledger, LedgerError, LedgerFuture, State, Timestamp,
};
use tower_outcome_tools::{Found, LookUp};

use crate::options::Mutant;
use crate::timing;

/// A ledger, or a wrong one made of it.
pub(super) struct Mutated {
    inner: Arc<dyn Ledger>,
    mutant: Option<Mutant>,
}

impl Mutated {
    pub(super) const fn new(inner: Arc<dyn Ledger>, mutant: Option<Mutant>) -> Self {
        Self { inner, mutant }
    }

    async fn apply_wrongly(&self, key: &EntryKey, event: Event) -> Result<Answer, LedgerError> {
        let answer = self.inner.apply(key, event.clone()).await;
        match (self.mutant, &answer) {
            (Some(Mutant::FreeOnCrash), Ok(Answer::StillConfirming)) => {
                match self.inner.read(key).await? {
                    Some(entry) if is_left_by_a_crash(&entry) => {
                        let epoch = entry.epoch;
                        let code = Code::NotSent;
                        self.inner
                            .apply(key, Event::Release { epoch, code })
                            .await?;
                        self.inner.apply(key, event).await
                    }
                    _ => answer,
                }
            }
            (Some(Mutant::UnfencedFailed), Err(error)) if error.is_fenced() => {
                let entry = self.inner.read(key).await?;
                match entry.and_then(|entry| at_epoch(event, entry.epoch)) {
                    Some(event) => self.inner.apply(key, event).await,
                    None => answer,
                }
            }
            _ => answer,
        }
    }

    /// What the mutant of the reconciler does after its pass: believes that what is not found after
    /// the longest life of a message never will be.
    pub(super) async fn believe_what_is_not_found(
        &self,
        effects: &impl LookUp,
    ) -> Result<(), LedgerError> {
        if self.mutant != Some(Mutant::QuiescenceFromFirstSend) {
            return Ok(());
        }
        for entry in self.inner.unresolved(LIMIT).await?.entries {
            let ([write], Some(last_send_by)) = (entry.writes.as_slice(), entry.last_send_by)
            else {
                continue;
            };
            let first_send = last_send_by.0.saturating_sub(millis(timing::LEASE));
            let quiet = first_send + millis(timing::LONGEST_LIFE);
            let wait = quiet.saturating_sub(Timestamp::now().0);
            tokio::time::sleep(Duration::from_millis(wait)).await;
            if let Ok(Found::NotFound) = effects.find(&entry, write).await {
                let epoch = entry.epoch;
                let code = Code::NotSent;
                let ending = Ending::Failed { code };
                let event = Event::Settle { epoch, ending };
                // Somebody else has it by now.
                let _ = self.inner.apply(&entry.key, event).await;
            }
        }
        Ok(())
    }
}

impl Ledger for Mutated {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(self.apply_wrongly(key, event))
    }

    tower_outcome_core::forward_ledger!(self => self.inner; read unresolved due page counts purge
        changed may_lose_writes needs_honoured_keys);
}

/// As the end of a lease leaves it.
fn is_left_by_a_crash(entry: &Entry) -> bool {
    entry.state == State::Unknown
        && entry.code == Some(Code::ResponseLost)
        && entry.landing == Landing::InFlight
        && entry.lease_until <= Timestamp::now()
}

/// The same event by the owner of `epoch`, where it says that nothing happened.
fn at_epoch(event: Event, epoch: u64) -> Option<Event> {
    match event {
        Event::Release { code, .. } => Some(Event::Release { epoch, code }),
        Event::Settle {
            ending: ending @ Ending::Failed { .. },
            ..
        } => Some(Event::Settle { epoch, ending }),
        _ => None,
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// More than are ever in doubt at once.
const LIMIT: usize = 1000;
