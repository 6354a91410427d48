//! What may have left before the last attempt.

use super::{Call, Progress, Record, Track};
use crate::classify::History;
use tower_outcome_core::Outcome;

impl Call {
    /// What may have left before the last attempt: of this very call, of the tool call it belongs
    /// to, or of an earlier call.
    pub(crate) fn history(&self) -> History {
        let progress = self.progress();
        if progress.inherits_doubt || self.any_left(&progress, 1) {
            History::LeftInThisCall
        } else if progress.grant.is_some_and(|grant| grant.maybe_sent) {
            History::LeftInEarlierCall
        } else {
            History::Clean
        }
    }

    pub(super) fn last_track<'a>(&'a self, progress: &'a Progress) -> Option<&'a Track> {
        let later = progress.later.last().map(|track| &**track);
        later.or_else(|| (progress.attempts > 0).then_some(&self.record.first))
    }

    /// Whether an attempt may have left, the last few not asked.
    pub(super) fn any_left(&self, progress: &Progress, but_last: usize) -> bool {
        if progress.attempts <= but_last {
            return false;
        }
        let mut asked = self.record.tracks(progress).rev().skip(but_last);
        asked.any(|attempt| {
            // A refusal that was proof in its time is no taint.
            let proven = attempt
                .code()
                .is_some_and(|code| code.outcome() == Outcome::Failed);
            !proven && !attempt.is_proven_unsent()
        })
    }
}

impl Record {
    /// What is known of each attempt, in their order.
    pub(super) fn tracks<'a>(
        &'a self,
        progress: &'a Progress,
    ) -> impl DoubleEndedIterator<Item = &'a Track> {
        let first = (progress.attempts > 0).then_some(&self.first);
        first
            .into_iter()
            .chain(progress.later.iter().map(|track| &**track))
    }
}
