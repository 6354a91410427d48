//! One look at one entry.

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;
use tower_outcome::retry::LANDING;
use tower_outcome_core::ledger::{Answer, Ending, Entry, Event, Timestamp, WriteRecord};
use tower_outcome_core::{BoxError, Code};

use super::resender::{RESEND_LIMIT, Resent};
use super::{Cancelled, Candidates, Found, Reconciler, Report, Resender};

/// One look at one entry, by whoever the ledger lets look.
pub(super) struct Inquiry<'a> {
    reconciler: &'a Reconciler,
    entry: &'a Entry,
}

/// What the provider said in the end.
enum Told {
    Cancelled,
    Done { code: Code, data: Option<Value> },
    Failed(Code),
    Nothing,
}

/// Whether it is taken down what became of an entry, and by whom.
enum Settled {
    Elsewhere,
    Here,
    Not,
}

impl<'a> Inquiry<'a> {
    pub(super) const fn new(reconciler: &'a Reconciler, entry: &'a Entry) -> Self {
        Self { reconciler, entry }
    }

    /// For how long nobody else may look meanwhile, and the provider wants to be left alone.
    pub(super) fn shortest_pause(&self) -> Duration {
        let resender = self.sole_write().and_then(|write| self.resender(write));
        resender.map_or(Duration::ZERO, |it| it.min_delay().max(RESEND_PAUSE))
    }

    pub(super) async fn run(self) -> Report {
        let mut report = Report::default();
        let mut epoch = self.entry.epoch;
        let mut told = self.look_up(&mut report).await;
        if let (Told::Nothing, Some(write), true) = (&told, self.sole_write(), self.has_landed()) {
            match self.resend(write).await {
                Some((grant, resent)) => {
                    report.resent.push(self.entry.key.clone());
                    (epoch, told) = (grant, resent.into());
                }
                None if self.cancel(write).await => told = Told::Cancelled,
                None => {}
            }
        }
        let list = match (self.settle(epoch, &told).await, told) {
            (Settled::Elsewhere, _) => return report,
            (Settled::Here, Told::Cancelled) => &mut report.cancelled,
            (Settled::Here, Told::Done { .. }) => &mut report.confirmed,
            (Settled::Here, Told::Failed(_)) => &mut report.failed,
            (Settled::Here, Told::Nothing) | (Settled::Not, _) => &mut report.open,
        };
        list.push(self.entry.key.clone());
        report
    }

    /// Asks for every write that can be asked for. A call of which one write is found may have had
    /// another one to make: only the promise that there is no other makes the find proof of the whole.
    async fn look_up(&self, report: &mut Report) -> Told {
        let mut candidates = Vec::new();
        let mut told = Told::Nothing;
        for write in self.entry.writes.iter().filter(|write| has_token(write)) {
            let asked = self.reconciler.look_up.find(self.entry, write);
            match self.answer(write, asked).await {
                Some(Found::Done(data)) if self.sole_write().is_some() => {
                    told = Told::Done {
                        code: Code::Done,
                        data: Some(data),
                    };
                }
                Some(Found::Failed) if self.sole_write().is_some() && self.has_landed() => {
                    told = Told::Failed(Code::Declined);
                }
                Some(Found::Done(data)) => candidates.push(data),
                Some(Found::Candidates(found)) => candidates.extend(found),
                Some(Found::Failed | Found::Inconclusive | Found::NotFound) | None => {}
            }
        }
        if !candidates.is_empty() {
            report.candidates.push(Candidates {
                key: self.entry.key.clone(),
                found: candidates,
            });
        }
        told
    }

    /// Sends the write again, if all that makes it safe is given. From then on nobody who sent it
    /// before can say that it failed.
    async fn resend(&self, write: &WriteRecord) -> Option<(u64, Resent)> {
        let resender = self.resender(write)?;
        let request = resender.prepare(write, self.key_age())?;
        let event = Event::Resend {
            epoch: self.entry.epoch,
            sends_for: RESEND_LIMIT,
        };
        match self.reconciler.ledger.apply(&self.entry.key, event).await {
            Ok(Answer::Granted(grant)) => Some((grant.epoch, resender.send(request).await)),
            Ok(_) => None,
            Err(error) => {
                tracing::warn!(%error, write.route, "the ledger did not let a write be sent again");
                None
            }
        }
    }

    async fn cancel(&self, write: &WriteRecord) -> bool {
        if write.wire_key.is_empty() {
            return false;
        }
        let asked = self.reconciler.look_up.cancel(self.entry, write);
        self.answer(write, asked).await == Some(Cancelled::Acknowledged)
    }

    /// What the provider answered, if it did.
    async fn answer<T>(
        &self,
        write: &WriteRecord,
        asked: impl Future<Output = Result<T, BoxError>>,
    ) -> Option<T> {
        let answered = timeout(ASK_LIMIT, asked).await.map_err(BoxError::from);
        match answered.flatten() {
            Ok(answer) => Some(answer),
            Err(error) => {
                tracing::warn!(%error, write.route, "a provider could not be asked about a write");
                None
            }
        }
    }

    async fn settle(&self, epoch: u64, told: &Told) -> Settled {
        let ending = match told {
            Told::Cancelled => Ending::Failed {
                code: Code::Declined,
            },
            Told::Done { code, data } => Ending::Done {
                code: *code,
                result: data
                    .as_ref()
                    .map(|data| data.to_string().into_bytes().into()),
            },
            Told::Failed(code) => Ending::Failed { code: *code },
            Told::Nothing => return Settled::Not,
        };
        let event = Event::Settle { epoch, ending };
        match self.reconciler.ledger.apply(&self.entry.key, event).await {
            Ok(_) => Settled::Here,
            Err(error) if error.is_fenced() => Settled::Elsewhere,
            Err(error) => {
                tracing::warn!(%error, "the ledger did not take down what a provider said");
                Settled::Not
            }
        }
    }

    /// The write that is promised to be the only one of its call.
    fn sole_write(&self) -> Option<&'a WriteRecord> {
        match self.entry.writes.as_slice() {
            [write] if write.only => Some(write),
            _ => None,
        }
    }

    fn resender(&self, write: &WriteRecord) -> Option<&'a Resender> {
        let resenders = &self.reconciler.resenders;
        resenders.iter().find(|resender| resender.sends(write))
    }

    /// Whether nobody may still be sending, and what was sent has arrived wherever it went.
    fn has_landed(&self) -> bool {
        let last = self.entry.last_send_by.unwrap_or(self.entry.lease_until);
        self.now() > last.after(LANDING)
    }

    /// The longest time for which the provider may have known the key.
    fn key_age(&self) -> Duration {
        Duration::from_millis(self.now().0.saturating_sub(self.entry.created_at.0))
    }

    fn now(&self) -> Timestamp {
        (self.reconciler.clock)()
    }
}

impl From<Resent> for Told {
    fn from(Resent { code, data }: Resent) -> Self {
        match code {
            Some(code) if code.outcome().is_done() => Self::Done { code, data },
            Some(code) => Self::Failed(code),
            None => Self::Nothing,
        }
    }
}

fn has_token(write: &WriteRecord) -> bool {
    let reference = write.reference.as_deref().unwrap_or_default();
    !(write.wire_key.is_empty() && reference.is_empty())
}

/// For how long one answer of a provider is waited for.
const ASK_LIMIT: Duration = Duration::from_secs(30);

/// Longer than one look with a resend takes.
const RESEND_PAUSE: Duration = Duration::from_mins(2);
