//! The row that a write has claimed.

use std::future::{Future, ready};

use futures_util::future::Either;
use http::Response;
use tower_outcome_core::ledger::{Answer, Ending, EntryKey, Event, Ledger, LedgerError};
use tower_outcome_core::{Code, Conclusion, Outcome};

use super::stored;
use crate::call::Call;
use crate::{Error, ReplyBody};

/// Without a future of its own where the ledger needs none.
pub(super) fn apply<'a>(
    ledger: &'a dyn Ledger,
    key: &'a EntryKey,
    event: Event,
) -> impl Future<Output = Result<Answer, LedgerError>> + use<'a> {
    match ledger.immediate() {
        Some(ledger) => Either::Left(ready(ledger.apply_now(key, event))),
        None => Either::Right(ledger.apply(key, event)),
    }
}

/// The row that this write has claimed.
pub(super) struct Row<'a> {
    pub(super) ledger: &'a dyn Ledger,
    pub(super) key: &'a EntryKey,
    pub(super) epoch: u64,
}

impl Row<'_> {
    pub(super) fn apply(&self, event: Event) -> impl Future<Output = Result<Answer, LedgerError>> {
        apply(self.ledger, self.key, event)
    }

    /// Frees the claim: nothing left, and nothing can.
    pub(super) async fn release(&self, call: &Call, code: Code) -> Error {
        call.gate().seal();
        let conclusion = Conclusion::new(code);
        let epoch = self.epoch;
        match self.apply(Event::Release { epoch, code }).await {
            Ok(_) => Error::new(conclusion),
            Err(error) if error.is_fenced() => Error::new(Code::StillConfirming),
            Err(error) => Error::new(conclusion.for_this_call()).with_source(error),
        }
    }

    /// Takes the doubt down, and lets the caller be told.
    pub(super) async fn doubt(&self, call: &Call) {
        let conclusion = Conclusion::new(call.lost_code());
        if conclusion.outcome().is_done() {
            // Proven by the head of an answer whose body is still to come: no doubt to take down.
            call.give_interim(conclusion);
            return;
        }
        let ending = Ending::Unknown {
            conclusion,
            result: None,
        };
        self.write(ending).await;
        call.give_interim(conclusion);
    }

    /// Takes down what became of the write. A `failed` has to be taken down before it is said.
    pub(super) async fn settle<B>(
        &self,
        call: &Call,
        result: Result<Response<ReplyBody<B>>, Error>,
    ) -> Result<Response<ReplyBody<B>>, Error> {
        let judged = call.judge(result.as_ref().map(drop).map_err(Error::conclusion));
        let stored = result.as_ref().ok().and_then(stored::pack);
        let conclusion = self.take_down(call, judged, stored).await;
        call.settle(conclusion);
        result.map_err(|error| error.concluded(conclusion))
    }

    /// What can be said once the ledger has it.
    pub(super) async fn take_down(
        &self,
        call: &Call,
        judged: Conclusion,
        stored: Option<Box<[u8]>>,
    ) -> Conclusion {
        match (judged.outcome(), judged.code()) {
            (Outcome::AlreadyDone | Outcome::Ok, code) => {
                self.write(Ending::Done {
                    code,
                    result: stored,
                })
                .await;
                judged
            }
            (Outcome::Failed, code) if call.was_answered() => {
                let taken = self.write(Ending::Failed { code }).await;
                if taken {
                    judged
                } else {
                    Code::StillConfirming.into()
                }
            }
            (Outcome::Failed, code) => self.release(call, code).await.conclusion(),
            (_, Code::Partial) => {
                self.write(Ending::Partial { result: stored }).await;
                judged
            }
            (Outcome::Skipped | Outcome::Unknown, _) => {
                self.write(Ending::Unknown {
                    conclusion: judged,
                    result: stored,
                })
                .await;
                judged
            }
        }
    }

    /// Whether the ledger has it. If not, the lease ends and the entry is in doubt by itself.
    async fn write(&self, ending: Ending) -> bool {
        let epoch = self.epoch;
        match self.apply(Event::Settle { epoch, ending }).await {
            Ok(_) => true,
            Err(error) => {
                tracing::warn!(%error, "the ledger did not take down what became of a write");
                false
            }
        }
    }
}
