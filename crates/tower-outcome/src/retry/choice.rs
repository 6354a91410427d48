//! Whether there is to be another attempt, and after which wait.

use std::time::Duration;

use http::Request;
use tokio::time::Instant;
use tower::retry::budget::Budget as _;
use tower::util::rng::{HasherRng, Rng as _};

use super::facts::{Cover, Facts, Shown};
use super::{Decision, KeyedRetry, Pushback, Reason, log, record};
use crate::profile::{Retention, Target};

impl KeyedRetry {
    /// Why nothing may follow the next attempt, whatever comes of it.
    pub(super) fn veto<B>(&self, request: &Request<B>) -> Option<Reason> {
        if self.made + 1 >= self.settings.attempts {
            return Some(Reason::AttemptsSpent);
        }
        let may_refresh = self.settings.refresh.is_some() && !self.refreshed;
        let covered = match record::is_keyed(request) {
            Some(keyed) => keyed || self.settings.retries_unsent,
            None if self.settings.profile.only_reads(request.method()) => true,
            None if self.settings.profile.honours_no_keys() => record::is_read(request),
            None => {
                let profile = self.settings.profile.narrowed(&Target::of(request));
                Cover::of(&profile, request) != Cover::None
            }
        };
        (!covered && !may_refresh).then_some(Reason::Unkeyed)
    }

    /// Whether another attempt may follow.
    fn choose(&self, facts: &Facts) -> Result<Reason, Reason> {
        let again = match (facts.shown, facts.cover) {
            (Shown::Answered, _) => return Err(Reason::Answered),
            (Shown::Ended, _) => return Err(Reason::CallEnded),
            (Shown::NotRecorded, _) => return Err(Reason::NotRecorded),
            (Shown::Unauthorized, _) => Err(Reason::RefusedAgain),
            (Shown::Unsent, Cover::None) if !self.settings.retries_unsent || facts.tainted => {
                Err(Reason::Unkeyed)
            }
            (Shown::Unsent, _) => Ok(Reason::Unsent),
            (_, Cover::None) => Err(Reason::Unkeyed),
            (Shown::RunsAgain, _) => Err(Reason::RunsAgain),
            (Shown::NoNews, _) => Err(Reason::NoNews),
            (Shown::Open, Cover::Key) => Ok(Reason::KeyProtects),
            (Shown::Open, Cover::Read) => Ok(Reason::Reads),
        };
        let again = match again {
            Err(Reason::RefusedAgain) if self.may_refresh(facts) => Ok(Reason::Refreshed),
            again => again,
        };
        match again {
            Ok(_) | Err(Reason::NoNews) if facts.pushback == Some(Pushback::Never) => {
                Err(Reason::ProviderForbids)
            }
            again => again,
        }
    }

    /// Whether new credentials may be tried: once, and not where a write is left open that only its
    /// key could protect.
    fn may_refresh(&self, facts: &Facts) -> bool {
        let open = facts.tainted && (facts.cover == Cover::None || facts.key_is_of_credential);
        self.settings.refresh.is_some() && !self.refreshed && !open
    }

    /// How long to wait before the next attempt.
    fn wait(&mut self, facts: &Facts, reason: Reason) -> Result<Duration, Reason> {
        let asked = match facts.pushback {
            // Exactly that, and the backoff begins anew (gRFC A6, "Pushback").
            Some(Pushback::After(wait)) => {
                self.doubled = 0;
                wait
            }
            _ if reason == Reason::Refreshed => facts.retry_after.unwrap_or_default(),
            _ => {
                let ceiling = self
                    .settings
                    .first_delay
                    .saturating_mul(1 << self.doubled.min(16));
                self.doubled += 1;
                let jittered = ceiling
                    .min(MAX_DELAY)
                    .mul_f64(HasherRng::default().next_f64());
                jittered.max(facts.retry_after.unwrap_or_default())
            }
        };
        let wait = if facts.cover == Cover::Key {
            asked.max(facts.min_delay)
        } else {
            asked
        };
        let lands = facts.key_age.saturating_add(wait).saturating_add(LANDING);
        let forgotten = match facts.retention {
            Some(Retention::For(window)) => lands >= window,
            // Nobody says: the time of the call is the limit.
            Some(Retention::Forever) | None => false,
        };
        if facts.cover == Cover::Key && facts.tainted && forgotten {
            return Err(Reason::KeyMayBeForgotten);
        }
        if facts.time_left.is_some_and(|left| wait >= left) {
            return Err(Reason::DeadlineNear);
        }
        if self.elapsed().saturating_add(wait) >= self.settings.total_time {
            return Err(Reason::TimeSpent);
        }
        Ok(wait)
    }

    /// Whether there is to be another attempt after the one that has just ended.
    pub(super) fn decide(&mut self, facts: &Facts) -> Decision {
        self.made += 1;
        self.may_have_left = facts.tainted;
        let chosen = self.choose(facts).and_then(|reason| {
            let wait = self.wait(facts, reason)?;
            match &self.settings.budget {
                Some(budget) if !budget.withdraw() => Err(Reason::BudgetSpent),
                _ => Ok((reason, wait)),
            }
        });
        let (reason, wait) = match chosen {
            Ok((reason, wait)) => (reason, Some(wait)),
            Err(reason) => (reason, None),
        };
        let decision = Decision {
            attempt: self.made,
            reason,
            wait,
        };
        log(decision);
        decision
    }

    /// What tower clones for the next call: it begins now, whatever this one is a clone of.
    pub(super) fn begin(&mut self) {
        if self.made == 0 {
            self.began = Some(Instant::now());
        }
    }

    pub(super) fn deposit(&self) {
        if let Some(budget) = &self.settings.budget {
            budget.deposit();
        }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.began.map(|began| began.elapsed()).unwrap_or_default()
    }
}

/// The longest wait between two attempts that the policy chooses by itself.
pub const MAX_DELAY: Duration = Duration::from_secs(5);

/// How long an attempt may be under way before the provider looks its key up.
pub const LANDING: Duration = Duration::from_mins(1);
