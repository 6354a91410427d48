//! What decides whether there is time for another attempt, and what was decided.

use std::time::Duration;

use tokio::time::Instant;

use super::{Call, CallKey};
use crate::profile::Retention;
use crate::retry::Decision;

impl Call {
    /// What the retry decided after the last attempt, or before it where nothing that came of it
    /// could lead to another; `None` before that, and without a [`KeyedRetry`](crate::KeyedRetry).
    #[must_use]
    pub fn last_decision(&self) -> Option<Decision> {
        self.progress().decision
    }

    pub(crate) fn decided(&self, decision: Decision) {
        self.progress().decision = Some(decision);
    }

    /// When the call ends, whatever has come of it by then.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.progress().deadline
    }

    pub(crate) fn ends_at(&self, deadline: Instant) {
        self.progress().deadline = Some(deadline);
    }

    /// The time since something was first sent under the key, in this call or in an earlier one of
    /// the same tool call.
    pub(crate) fn key_age(&self) -> Option<Duration> {
        let since = self.progress().first_sent.map(|first| first.elapsed());
        since.map(|since| since.saturating_add(self.age_before()))
    }

    /// The same where it counts: a window of which nobody says how long it is lasts for the call.
    pub(crate) fn counted_key_age(&self) -> Option<Duration> {
        match self.profile().retention() {
            Some(Retention::For(_)) => self.key_age(),
            None if !self.age_before().is_zero() => self.key_age(),
            Some(Retention::Forever) | None => None,
        }
    }

    /// How old the key was when the call was made out of its record.
    fn age_before(&self) -> Duration {
        match &self.record.key {
            CallKey::Again(again) => again.age,
            _ => Duration::ZERO,
        }
    }

    /// Takes over the doubt about an earlier call that made the same write.
    pub(crate) fn inherit_doubt(&self, earlier: &Self) {
        let first_sent = earlier.progress().first_sent;
        let mut progress = self.progress();
        progress.inherits_doubt = true;
        progress.first_sent = progress.first_sent.or(first_sent);
    }
}
