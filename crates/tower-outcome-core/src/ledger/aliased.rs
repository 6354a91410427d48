//! How a row becomes an alias, and what an alias answers: the part of [`machine`](super::machine)
//! that is about several keys of one intent.

use super::entry::{Entry, State, TOMBSTONE_RETENTION, Timestamp};
use super::event::{Answer, Ending, Event};
use super::machine::Illegal;
use crate::{Code, IdempotencyKey, Landing};

/// Makes an alias of an entry that nobody uses.
pub(super) fn introduced(
    entry: &mut Entry,
    of: IdempotencyKey,
    shared: bool,
    now: Timestamp,
) -> Result<(bool, Answer), Illegal> {
    if of == entry.key.key {
        return Err(illegal(entry, "alias"));
    }
    if !matches!(entry.state, State::Failed | State::Free) {
        return Ok((false, Answer::InProgress));
    }
    entry.state = State::Alias;
    entry.alias_of = Some(of);
    entry.maybe_sent = false;
    entry.code = shared.then_some(SHARED);
    entry.landing = Landing::InFlight;
    entry.result = None;
    entry.writes.clear();
    entry.last_send_by = None;
    entry.updated_at = now;
    Ok((true, Answer::Applied))
}

/// Whether an alias is the intent's own entry after all: it was claimed before it became an alias,
/// and what was sent under that claim is proven to have happened.
pub(super) fn is_proof(entry: &Entry, event: &Event) -> bool {
    let done = matches!(
        event,
        Event::Find { .. }
            | Event::Settle {
                ending: Ending::Done { .. },
                ..
            }
    );
    done && entry.epoch > 0
}

/// What an alias answers to anything else. Nobody has a claim on one.
pub(super) fn asked(
    entry: &mut Entry,
    event: Event,
    now: Timestamp,
) -> Result<(bool, Answer), Illegal> {
    let name = event.as_str();
    let Some(target) = entry.alias_of else {
        return Err(illegal(entry, name));
    };
    let moved = match (event, entry.leads_to()) {
        (Event::Alias { of, .. }, _) if of == target => Answer::Applied,
        (Event::Alias { shared: true, .. }, _) => {
            let news = !entry.is_shared();
            entry.code = Some(SHARED);
            return Ok((used(entry, now) || news, Answer::Applied));
        }
        (Event::Alias { .. }, None) => Answer::Applied,
        (Event::Claim(_), None) => Answer::StillConfirming,
        (Event::Alias { .. } | Event::Claim(_), Some(_)) => Answer::Moved(target),
        _ => return Err(illegal(entry, name)),
    };
    Ok((used(entry, now), moved))
}

/// Keeps an alias that is used from being forgotten. Whether it is to be stored: not each time.
fn used(entry: &mut Entry, now: Timestamp) -> bool {
    let ages = now > entry.updated_at.after(TOMBSTONE_RETENTION / 2);
    if ages {
        entry.updated_at = now;
    }
    ages
}

fn illegal(entry: &Entry, event: &'static str) -> Illegal {
    Illegal {
        state: entry.state,
        event,
    }
}

/// Why an alias leads nowhere.
const SHARED: Code = Code::KeyConflictUnresolved;
