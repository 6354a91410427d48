//! How a call ends: when, and in which word.

use std::task::{Context, Poll};

use tower_outcome_core::ledger::Grant;
use tower_outcome_core::{Code, Conclusion, Outcome, Seen};

use super::{Call, CallKey, Progress, Track};

/// Why a call ended before an answer came.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    /// The caller went away.
    Cancelled,
    /// Its time ran out.
    Deadline,
    /// The process is going down.
    Shutdown,
}

impl End {
    const fn unsent(self) -> Code {
        match self {
            Self::Cancelled => Code::CancelledBeforeSend,
            Self::Deadline => Code::TimeoutBeforeSend,
            Self::Shutdown => Code::ShuttingDown,
        }
    }

    const fn sent(self) -> Code {
        match self {
            Self::Cancelled | Self::Shutdown => Code::ResponseLost,
            Self::Deadline => Code::TimeoutAfterSend,
        }
    }
}

impl Call {
    fn may_have_left(&self, progress: &Progress) -> bool {
        // What passed the gate without an attempt of ours was sent by somebody else's transport.
        let unaccounted = progress.attempts == 0 && self.look() != Seen::Never;
        unaccounted
            || progress.inherits_doubt
            || progress.grant.is_some_and(|grant| grant.maybe_sent)
            || self.any_left(progress, 0)
    }

    /// Ends the call: nothing of it leaves from here on.
    pub(crate) fn end(&self, end: End) -> Seen {
        // The reason first: whoever is woken by the seal asks for it.
        self.progress().end.get_or_insert(end);
        self.record.gate.seal()
    }

    pub(crate) fn ended(&self) -> Option<End> {
        self.progress().end.or_else(|| {
            let sealed = self.record.context.as_ref()?.gate().is_sealed();
            sealed.then_some(End::Deadline)
        })
    }

    /// The code for an attempt that could not be made because the call has ended.
    pub(crate) fn unsent_code(&self) -> Code {
        self.ended().map_or(Code::NotSent, End::unsent)
    }

    /// The code for an attempt that was given up because the call has ended.
    pub(crate) fn lost_code(&self) -> Code {
        let proven = self
            .last_track(&self.progress())
            .and_then(Track::done_by_head);
        proven.unwrap_or_else(|| self.ended().map_or(Code::ResponseLost, End::sent))
    }

    /// A ledger answers for this call: its word has to wait for the ledger's.
    pub(crate) fn ask_ledger(&self) {
        self.progress().asks_ledger = true;
    }

    /// The ledger has no more to say than the call around: that one's claim stands there.
    pub(crate) fn spare_ledger(&self) {
        self.progress().asks_ledger = false;
    }

    pub(crate) fn claimed(&self, grant: Grant) {
        let mut progress = self.progress();
        progress.grant = Some(grant);
        // It was another generation's.
        progress.wire_key = None;
    }

    /// The doubt is on record wherever it has to be; the caller can be told.
    pub(crate) fn give_interim(&self, conclusion: Conclusion) {
        self.progress().interim = Some(conclusion);
        self.record.interim.wake();
    }

    /// The same, from a transport, where no ledger has to be asked first.
    pub(crate) fn give_interim_unless_claimed(&self, code: Code) {
        if !self.progress().asks_ledger {
            self.give_interim(code.into());
        }
    }

    pub(crate) fn interim(&self) -> Option<Conclusion> {
        self.progress().interim
    }

    pub(crate) fn poll_interim(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.record.interim.register(cx.waker());
        match self.interim() {
            Some(_) => Poll::Ready(()),
            None => Poll::Pending,
        }
    }

    /// Chooses the word for the whole call. Seals the gate first, so that the word stays true.
    pub(crate) fn judge(&self, ended: Result<(), Conclusion>) -> Conclusion {
        self.record.gate.seal();
        let progress = self.progress();
        let conclusion = match ended {
            Ok(()) => {
                if let Some(settled) = progress.settled {
                    return settled;
                }
                let last = self.last_track(&progress);
                // An answer that is not the last attempt's: somebody between kept an earlier one.
                if !last.is_some_and(Track::is_answered) && self.may_have_left(&progress) {
                    self.doubt(&progress).into()
                } else {
                    last.and_then(Track::code)
                        .unwrap_or(Code::ResponseLost)
                        .into()
                }
            }
            // The error of another write, handed on by a layer between.
            Err(conclusion) if conclusion.outcome().is_done() && progress.attempts == 0 => {
                Code::NotSent.into()
            }
            Err(conclusion)
                if conclusion.outcome() == Outcome::Failed && self.may_have_left(&progress) =>
            {
                self.doubt(&progress).into()
            }
            Err(conclusion) => conclusion,
        };
        if self.has_read_entry(&progress) {
            conclusion
        } else {
            conclusion.for_this_call()
        }
    }

    /// The word for a call whose time is over, while what stands below has not come to an end.
    pub(crate) fn overdue(&self) -> Conclusion {
        let conclusion = self.judge(Err(match self.look() {
            Seen::Never => Code::TimeoutBeforeSend.into(),
            // What left and was refused is proof only once the ledger has it.
            Seen::InFlight | Seen::Left => Code::TimeoutAfterSend.into(),
        }));
        if self.progress().asks_ledger {
            // Its claim is not known to be free. Its lease may have ended, and another owner may
            // have sent.
            conclusion.for_this_call()
        } else {
            conclusion
        }
    }

    /// Fixes what became of the write. The first word stays.
    pub(crate) fn settle(&self, conclusion: Conclusion) {
        self.progress().settled.get_or_insert(conclusion);
        self.record.changed.notify_waiters();
    }

    /// Notes what the caller was told.
    pub(crate) fn tell(&self, conclusion: Conclusion) -> Conclusion {
        self.progress().told = Some(conclusion);
        conclusion
    }

    /// Why there is no proof, from the latest attempt that may have left.
    fn doubt(&self, progress: &Progress) -> Code {
        let mut codes = self.record.tracks(progress).rev().filter_map(Track::code);
        let doubt = codes.find(|code| code.outcome() == Outcome::Unknown);
        match (progress.end, doubt) {
            (Some(end), _) => end.sent(),
            (None, Some(doubt)) => doubt,
            (None, None) => Code::ResponseLost,
        }
    }

    /// The word of the attempts so far, for one that is refused because of them.
    pub(super) fn first_word(&self) -> Code {
        let progress = self.progress();
        let mut codes = self.record.tracks(&progress).filter_map(Track::code);
        let done = codes.any(|code| code.outcome().is_done());
        if done {
            Code::ResultOmitted
        } else {
            self.doubt(&progress)
        }
    }

    /// Whether an earlier identical call would be known here.
    fn has_read_entry(&self, progress: &Progress) -> bool {
        self.record.context.is_some()
            || progress.grant.is_some()
            || matches!(self.record.key, CallKey::None)
    }
}
