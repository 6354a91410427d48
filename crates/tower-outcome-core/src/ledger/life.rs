//! How an entry ages: the end of a lease, and of what is kept.

use super::entry::{Entry, RESULT_RETENTION, State, TOMBSTONE_RETENTION, Timestamp};
use crate::{Code, Landing};

/// The entry as it stands at `now`: an owner whose lease has ended is gone.
#[must_use]
pub fn expired(mut entry: Entry, now: Timestamp) -> Entry {
    let stored = Standing {
        state: entry.state,
        code: entry.code,
        landing: entry.landing,
    };
    let standing = Life::of(&entry).standing_at(stored, now);
    entry.state = standing.state;
    entry.code = standing.code;
    entry.landing = standing.landing;
    entry
}

/// What has outlived its use of an entry at `now`.
#[must_use]
pub fn outlived(entry: &Entry, now: Timestamp) -> Outlived {
    Life::of(entry).outlived(now)
}

/// What may be taken away of an entry, without any identical call being answered otherwise.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outlived {
    /// The alias is to be forgotten, once the entry that it leads to is.
    Alias,
    /// The entry is to be forgotten.
    Everything,
    /// It is in use, in doubt, or still recognised.
    Nothing,
    /// Its result is no longer replayed.
    Result,
}

/// What of an entry changes with the end of its lease.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    pub(super) state: State,
    pub(super) code: Option<Code>,
    pub(super) landing: Landing,
}

/// What of an entry decides how it ages.
#[derive(Clone, Copy)]
pub(super) struct Life {
    pub(super) state: State,
    pub(super) maybe_sent: bool,
    pub(super) lease_until: Timestamp,
    pub(super) updated_at: Timestamp,
    pub(super) has_result: bool,
}

impl Life {
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            state: entry.state,
            maybe_sent: entry.maybe_sent,
            lease_until: entry.lease_until,
            updated_at: entry.updated_at,
            has_result: entry.result.is_some(),
        }
    }

    /// The state at `now`: an owner whose lease has ended is gone.
    pub(super) fn state_at(self, now: Timestamp) -> State {
        match self.state {
            open @ (State::Claimed | State::Dispatching) if self.lease_until > now => open,
            State::Claimed if !self.maybe_sent => State::Free,
            State::Claimed | State::Dispatching => State::Unknown,
            other => other,
        }
    }

    /// What of the entry is otherwise at `now` than it is `stored`.
    pub(super) fn standing_at(self, stored: Standing, now: Timestamp) -> Standing {
        let state = self.state_at(now);
        if state == State::Unknown && stored.state != state {
            Standing {
                state,
                code: Some(Code::ResponseLost),
                landing: Landing::InFlight,
            }
        } else {
            Standing { state, ..stored }
        }
    }

    /// What has outlived its use at `now`.
    pub(super) fn outlived(self, now: Timestamp) -> Outlived {
        // A claim that nothing was sent under has ended with its lease.
        let ended_at = match self.state {
            State::Claimed => self.updated_at.max(self.lease_until),
            _ => self.updated_at,
        };
        match self.state_at(now) {
            State::Claimed | State::Dispatching | State::Unknown => Outlived::Nothing,
            State::Alias if now > ended_at.after(TOMBSTONE_RETENTION) => Outlived::Alias,
            _ if now > ended_at.after(TOMBSTONE_RETENTION) => Outlived::Everything,
            State::Done | State::Partial
                if self.has_result && now > self.updated_at.after(RESULT_RETENTION) =>
            {
                Outlived::Result
            }
            State::Alias | State::Done | State::Failed | State::Free | State::Partial => {
                Outlived::Nothing
            }
        }
    }
}
