//! The row that a call has claimed.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use tower_outcome::context::{Claimed, Recorder};
use tower_outcome_core::ledger::{
    Ending, EntryKey, Event, Ledger, LedgerError, LedgerFuture, Owner, WriteRecord,
};
use tower_outcome_core::{Code, Conclusion, Gate, Outcome, Seen};

use super::around::Around;
use super::fold::Folded;
use crate::tool::Redaction;

/// A claimed row, and the only place that moves it.
pub(super) struct Row {
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) key: EntryKey,
    pub(super) gate: Gate,
    pub(super) owner: Owner,
    pub(super) epoch: u64,
    pub(super) lease: Duration,
    /// Whether the tool promised to make one write and no more.
    pub(super) single_write: bool,
    pub(super) redaction: Redaction,
    /// Where the handler of another call makes this one.
    pub(super) around: Option<Around>,
    /// When the claim was asked for: its lease began no earlier.
    pub(super) asked_at: Instant,
}

impl Row {
    /// Takes down what became of the call, and says what may be said of it.
    ///
    /// `seen` is what had left. A `failed` is said only once it has been taken down.
    pub(super) async fn settle(&self, folded: &Folded, seen: Seen) -> Conclusion {
        let conclusion = folded.conclusion;
        let code = conclusion.code();
        match conclusion.outcome() {
            Outcome::AlreadyDone | Outcome::Ok => {
                let result = folded.result();
                self.take_down(Ending::Done { code, result }).await;
                conclusion
            }
            Outcome::Failed if seen == Seen::Never => self.release(conclusion).await,
            Outcome::Failed if self.take_down(Ending::Failed { code }).await => conclusion,
            Outcome::Failed => Code::StillConfirming.into(),
            Outcome::Unknown if code == Code::Partial => {
                let result = folded.result();
                self.take_down(Ending::Partial { result }).await;
                conclusion
            }
            Outcome::Skipped | Outcome::Unknown => {
                let result = folded.result();
                self.take_down(Ending::Unknown { conclusion, result }).await;
                conclusion
            }
        }
    }

    /// Frees the claim: nothing left, and nothing can.
    pub(super) async fn release(&self, conclusion: Conclusion) -> Conclusion {
        let (epoch, code) = (self.epoch, conclusion.code());
        let released = Event::Release { epoch, code };
        match self.apply(released).await {
            Ok(()) => conclusion,
            // Another owner may have sent in the meantime, for all that is known here.
            Err(error) if error.is_fenced() || self.asked_at.elapsed() >= self.lease => {
                Code::StillConfirming.into()
            }
            Err(_) => conclusion.for_this_call(),
        }
    }

    /// A ledger that hangs must not keep the caller waiting, nor the write.
    async fn apply(&self, event: Event) -> Result<(), LedgerError> {
        let applied = timeout(LEDGER_LIMIT, self.ledger.apply(&self.key, event));
        applied.await.map_err(LedgerError::unavailable)?.map(drop)
    }

    /// Has this row and those of the calls around say that something may leave.
    async fn announce(&self, sent: Event) -> Result<(), LedgerError> {
        if let Some(around) = &self.around {
            around.before_send().await?;
        }
        self.apply(sent).await
    }

    async fn take_down(&self, ending: Ending) -> bool {
        let epoch = self.epoch;
        let settled = Event::Settle { epoch, ending };
        match self.apply(settled).await {
            Ok(()) => true,
            Err(error) => {
                // The lease ends, and the entry is in doubt by itself.
                tracing::warn!(%error, "the ledger did not take down what became of a tool call");
                false
            }
        }
    }
}

impl Recorder for Row {
    fn needs_honoured_keys(&self) -> bool {
        self.ledger.needs_honoured_keys()
    }

    fn keeps_requests(&self) -> bool {
        self.ledger.encrypts() && self.redaction.is_empty()
    }

    fn claimed(&self) -> Option<Claimed<'_>> {
        Some(Claimed {
            ledger: &*self.ledger,
            key: &self.key,
            owner: self.owner,
            epoch: self.epoch,
        })
    }

    fn before_send(&self, mut write: WriteRecord) -> LedgerFuture<'_, ()> {
        write.only = self.single_write;
        write.label = self.redaction.text(write.label);
        write.route = self.redaction.text(write.route);
        let sent = Event::Send {
            epoch: self.epoch,
            write,
            lease: self.lease,
            sends_for: self.lease,
        };
        Box::pin(async move {
            match self.announce(sent).await {
                // The call has ended and its row has moved on. The sealed gate keeps the write at
                // home, and the word for that is surer than the ledger's refusal.
                Err(_) if self.gate.is_sealed() => Ok(()),
                taken_down => taken_down,
            }
        })
    }
}

/// For how long one answer of the ledger is waited for. One that comes later may still have taken
/// effect, as after any error.
pub(super) const LEDGER_LIMIT: Duration = Duration::from_secs(5);
