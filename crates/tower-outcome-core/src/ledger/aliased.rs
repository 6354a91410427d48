//! How a row becomes an alias, and what an alias answers: the part of [`machine`](super::machine)
//! that is about several keys of one intent.

use super::entry::{State, TOMBSTONE_RETENTION, Timestamp};
use super::event::{Answer, Ending, Event};
use super::life::Standing;
use super::machine::Illegal;
use super::row::Row;
use crate::{Code, IdempotencyKey, Landing};

/// Makes an alias of an entry that nobody uses.
pub(super) fn introduced(
    row: &mut Row,
    of: IdempotencyKey,
    shared: bool,
    now: Timestamp,
) -> Result<(bool, Answer), Illegal> {
    if of == row.key.key {
        return Err(illegal(row, "alias"));
    }
    if !matches!(row.standing.state, State::Failed | State::Free) {
        return Ok((false, Answer::InProgress));
    }
    row.standing = Standing {
        state: State::Alias,
        code: shared.then_some(SHARED),
        landing: Landing::InFlight,
    };
    row.maybe_sent = false;
    row.updated_at = now;
    row.set_result(None);
    let more = row.more_mut();
    more.alias_of = Some(of);
    more.writes.clear();
    more.last_send_by = None;
    Ok((true, Answer::Applied))
}

/// Whether an alias is the intent's own entry after all: it was claimed before it became an alias,
/// and what was sent under that claim is proven to have happened.
pub(super) fn is_proof(row: &Row, event: &Event) -> bool {
    let done = matches!(
        event,
        Event::Find { .. }
            | Event::Settle {
                ending: Ending::Done { .. },
                ..
            }
    );
    done && row.epoch > 0
}

/// What an alias answers to anything else. Nobody has a claim on one.
pub(super) fn asked(
    row: &mut Row,
    event: &Event,
    now: Timestamp,
) -> Result<(bool, Answer), Illegal> {
    let name = event.as_str();
    let Some(target) = row.alias_of() else {
        return Err(illegal(row, name));
    };
    let moved = match (event, row.is_shared()) {
        (Event::Home { instead_of }, false) if *instead_of == target => {
            set_free(row, now);
            return Ok((true, Answer::Applied));
        }
        (Event::Home { .. }, _) => return Ok((false, Answer::InProgress)),
        (Event::Alias { of, .. }, _) if *of == target => Answer::Applied,
        (Event::Alias { shared: true, .. }, _) => {
            let news = !row.is_shared();
            row.standing.code = Some(SHARED);
            return Ok((used(row, now) || news, Answer::Applied));
        }
        (Event::Alias { .. }, true) => Answer::Applied,
        (Event::Claim(_), true) => Answer::StillConfirming,
        (Event::Alias { .. } | Event::Claim(_), false) => Answer::Moved(target),
        _ => return Err(illegal(row, name)),
    };
    Ok((used(row, now), moved))
}

/// Nobody had a claim on it, and what was sent before it became an alias is proven to have failed.
fn set_free(row: &mut Row, now: Timestamp) {
    row.standing = Standing {
        state: State::Free,
        code: None,
        landing: Landing::InFlight,
    };
    row.updated_at = now;
    row.more_mut().alias_of = None;
}

/// Keeps an alias that is used from being forgotten. Whether it is to be stored: not each time.
fn used(row: &mut Row, now: Timestamp) -> bool {
    let ages = now > row.updated_at.after(TOMBSTONE_RETENTION / 2);
    if ages {
        row.updated_at = now;
    }
    ages
}

fn illegal(row: &Row, event: &'static str) -> Illegal {
    Illegal {
        state: row.standing.state,
        event,
    }
}

/// Why an alias leads nowhere.
const SHARED: Code = Code::KeyConflictUnresolved;
