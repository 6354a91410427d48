//! The rules of the ledger, as one pure function.
//!
//! Safety rests on four of them: a claim that may have been sent never becomes free by itself; only
//! the holder of the current epoch may release, send or fail; proof that it happened is accepted
//! from anyone and never taken back; and the generation moves only when a refusal is proven.

use std::sync::Arc;
use std::time::Duration;

use super::entry::{
    Entry, EntryKey, MAX_NAME, MAX_REQUEST, MAX_RESULT, RESULT_RETENTION, Resolution, State,
    TOMBSTONE_RETENTION, Timestamp, WriteRecord,
};
use super::event::{Answer, Claim, Ending, Event, Grant};
use super::life::Standing;
use super::request::StoredRequest;
use super::row::Row;
use super::{aliased, doubted};
use crate::fingerprint::Comparison;
use crate::{Code, Error, Landing};

pub use super::life::{Outlived, expired, outlived};

/// Applies `event` to `entry`, the row of `key`, at `now`.
///
/// Returns the row to store (`None`: leave it as it is) and the answer.
///
/// # Errors
///
/// [`Refused`] where the entry's state or epoch does not allow the event, or something in it is too
/// long. Nothing is to be stored.
pub fn step(
    key: &EntryKey,
    entry: Option<&Entry>,
    mut event: Event,
    now: Timestamp,
) -> Result<(Option<Entry>, Answer), Refused> {
    let mut row = match entry {
        Some(entry) => Box::new(Row::new(entry.clone())),
        None => vacancy(key, &event, now)?,
    };
    let (changed, answer) = advance(&mut row, &mut event, now)?;
    Ok((changed.then(|| row.entry()), answer))
}

/// The row of a key that has none yet, for an event that may be the first one.
pub(super) fn vacancy(key: &EntryKey, event: &Event, now: Timestamp) -> Result<Box<Row>, Refused> {
    if matches!(event, Event::Alias { .. } | Event::Claim(_)) {
        return Ok(Box::new(Row::vacant(key, now)));
    }
    refuse_long(key, event)?;
    Err(Refused::Illegal(Illegal {
        state: State::Free,
        event: event.as_str(),
    }))
}

/// Does what [`step`] does to the row itself, and returns whether it is to be stored. If not, it is
/// as it was. Takes out of the event what is kept of it.
#[inline]
pub(super) fn advance(
    row: &mut Row,
    event: &mut Event,
    now: Timestamp,
) -> Result<(bool, Answer), Refused> {
    refuse_long(&row.key, event)?;
    let stored = row.standing;
    row.expire(now);
    let decided = decide(row, event, now);
    match &decided {
        Ok((true, _)) => row.tidy(),
        Ok((false, _)) | Err(_) => row.standing = stored,
    }
    Ok(decided?)
}

#[inline]
fn decide(row: &mut Row, event: &mut Event, now: Timestamp) -> Result<(bool, Answer), Illegal> {
    if row.standing.state == State::Alias && !aliased::is_proof(row, event) {
        return aliased::asked(row, event, now);
    }
    let illegal = Illegal {
        state: row.standing.state,
        event: event.as_str(),
    };
    let ours = event.epoch().is_none_or(|epoch| epoch == row.epoch);
    let claimed = ours && matches!(row.standing.state, State::Claimed | State::Dispatching);
    let in_doubt = ours && row.standing.state == State::Unknown;
    let open = claimed || in_doubt;

    let applied = match event {
        Event::Alias { of, shared } => return aliased::introduced(row, *of, *shared, now),
        Event::Claim(claim) => return Ok(claim_of(row, claim, now)),
        Event::Find { result } => done(row, Code::Done, result.take(), now),
        Event::Home { .. } => return Ok((false, Answer::InProgress)),
        Event::Look { again_after } if in_doubt => {
            return Ok(doubted::look(row, *again_after, now));
        }
        Event::Release { code, .. } if open => {
            released(row, *code, now);
            Some(true)
        }
        Event::Resend { sends_for, .. } if in_doubt => {
            return Ok(doubted::resend(row, now.after(*sends_for)));
        }
        Event::Resolve {
            verdict,
            by,
            reason,
            ..
        } if in_doubt => {
            let word = Resolution {
                by: std::mem::take(by),
                reason: std::mem::take(reason),
                at: now,
            };
            doubted::resolved(row, verdict, word)
        }
        Event::Send {
            write,
            lease,
            sends_for,
            ..
        } if claimed => {
            send(row, write, [*lease, *sends_for], now);
            Some(true)
        }
        Event::Settle { ending, .. } => settle(row, ending, open, now),
        Event::Look { .. }
        | Event::Release { .. }
        | Event::Resend { .. }
        | Event::Resolve { .. }
        | Event::Send { .. } => None,
    };
    let changed = applied.ok_or(illegal)?;
    Ok((changed, Answer::Applied))
}

/// Why [`step`] did nothing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Refused {
    /// The entry does not allow it.
    Illegal(Illegal),
    /// Something is longer than may be stored.
    TooLong(Error),
}

impl From<Illegal> for Refused {
    fn from(illegal: Illegal) -> Self {
        Self::Illegal(illegal)
    }
}

/// The entry's state does not allow the event, or its epoch is another owner's.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Illegal {
    /// The entry's state.
    pub state: State,
    /// The event, as [`Event::as_str`] names it.
    pub event: &'static str,
}

fn refuse_long(key: &EntryKey, event: &Event) -> Result<(), Refused> {
    let is_long = |text: &str| text.len() > MAX_NAME;
    let field = match event {
        Event::Alias { .. } | Event::Claim(_) if is_long(&key.scope) => "scope",
        Event::Claim(claim) if is_long(&claim.tool) => "tool",
        Event::Resolve { by, .. } if is_long(by) => "by",
        Event::Resolve { reason, .. } if is_long(reason) => "reason",
        _ => return Ok(()),
    };
    let reason = format!("is longer than {MAX_NAME} bytes");
    Err(Refused::TooLong(Error::invalid(field, reason)))
}

fn claim_of(row: &mut Row, claim: &mut Claim, now: Timestamp) -> (bool, Answer) {
    let answer = match row.standing.state {
        State::Failed | State::Free => return grant(row, claim, now),
        State::Claimed | State::Dispatching => Answer::InProgress,
        State::Alias | State::Unknown => Answer::StillConfirming,
        State::Done | State::Partial => match row.compare(&claim.fingerprint) {
            // A part of something else happened, or the rules of the two have nothing in common:
            // what this one would do is not known.
            Comparison::Apart => Answer::StillConfirming,
            Comparison::Differs(_) if row.standing.state == State::Partial => {
                Answer::StillConfirming
            }
            Comparison::Differs(field) => Answer::Differs {
                field: field.into(),
            },
            Comparison::Equal => return (row.learn(&claim.fingerprint), replay(row, now)),
        },
    };
    (false, answer)
}

fn replay(row: &Row, now: Timestamp) -> Answer {
    let fresh = now <= row.updated_at.after(RESULT_RETENTION);
    let result = row.result().filter(|_| fresh);
    Answer::Settled {
        code: match row.standing.state {
            State::Partial => Code::Partial,
            _ if result.is_some() => Code::AlreadyDone,
            _ => Code::ResultOmitted,
        },
        result: result.map(Box::from),
        until: row.updated_at.after(TOMBSTONE_RETENTION),
    }
}

fn grant(row: &mut Row, claim: &mut Claim, now: Timestamp) -> (bool, Answer) {
    row.standing = Standing {
        state: State::Claimed,
        code: None,
        landing: Landing::InFlight,
    };
    row.epoch += 1;
    row.maybe_sent = !claim.announces_sends;
    row.tool = Arc::clone(&claim.tool);
    row.owner = claim.owner.to_bytes();
    row.lease_until = now.after(claim.lease);
    row.updated_at = now;
    row.renew(std::mem::take(&mut claim.fingerprint));
    let grant = Grant {
        epoch: row.epoch,
        generation: row.generation,
        maybe_sent: false,
    };
    (true, Answer::Granted(grant))
}

/// Takes down how a claim ended, or that it is not known. None where it is not allowed.
#[inline]
fn settle(row: &mut Row, ending: &mut Ending, open: bool, now: Timestamp) -> Option<bool> {
    if ending.contradicts_itself() {
        return None;
    }
    match ending {
        Ending::Done { code, result } => return done(row, *code, result.take(), now),
        Ending::Failed { code } if open => failed(row, *code, now),
        Ending::Partial { result } if open => {
            row.forget_requests();
            row.standing.state = State::Partial;
            row.standing.code = Some(Code::Partial);
            row.set_result(capped(result.take()));
        }
        Ending::Unknown { conclusion, result } if open => {
            if row.standing.state != State::Unknown {
                row.more_mut().look_at = now;
            }
            row.standing = Standing {
                state: State::Unknown,
                code: Some(conclusion.code()),
                landing: conclusion.landing().unwrap_or_default(),
            };
            row.maybe_sent = true;
            row.set_result(capped(result.take()));
        }
        Ending::Failed { .. } | Ending::Partial { .. } | Ending::Unknown { .. } => return None,
    }
    row.updated_at = now;
    Some(true)
}

fn released(row: &mut Row, code: Code, now: Timestamp) {
    row.standing.state = State::Free;
    row.standing.code = Some(code);
    row.maybe_sent = false;
    row.updated_at = now;
    row.set_result(None);
    if let Some(more) = row.any_more_mut() {
        more.writes.clear();
    }
}

fn send(row: &mut Row, write: &mut WriteRecord, [lease, sends_for]: [Duration; 2], now: Timestamp) {
    let lease_until = now.after(lease);
    row.standing.state = State::Dispatching;
    row.maybe_sent = true;
    row.lease_until = lease_until;
    row.updated_at = now;
    let more = row.more_mut();
    more.look_at = lease_until;
    more.last_send_by = more.last_send_by.max(Some(now.after(sends_for)));
    if !more.writes.iter().any(|known| known.label == write.label) {
        // Hardly any call writes more than once.
        more.writes.reserve_exact(1);
        let mut write = std::mem::take(write);
        let fits = |request: &StoredRequest| request.as_bytes().len() <= MAX_REQUEST;
        write.request = write.request.filter(fits);
        more.writes.push(write);
    }
}

/// Takes proof that nothing happened.
pub(super) fn failed(row: &mut Row, code: Code, now: Timestamp) {
    row.forget_requests();
    row.standing.state = State::Failed;
    row.standing.code = Some(code);
    row.maybe_sent = false;
    row.generation += 1;
    row.updated_at = now;
    row.set_result(None);
}

/// Takes proof that it happened: from anyone, at any epoch, and never twice.
#[inline]
pub(super) fn done(
    row: &mut Row,
    code: Code,
    result: Option<Box<[u8]>>,
    now: Timestamp,
) -> Option<bool> {
    match row.standing.state {
        State::Done => return Some(false),
        State::Partial => return None,
        State::Alias
        | State::Claimed
        | State::Dispatching
        | State::Failed
        | State::Free
        | State::Unknown => {}
    }
    row.forget_requests();
    if let Some(more) = row.any_more_mut() {
        more.alias_of = None;
    }
    row.standing.state = State::Done;
    row.standing.code = Some(code);
    row.updated_at = now;
    row.set_result(capped(result));
    Some(true)
}

fn capped(result: Option<Box<[u8]>>) -> Option<Box<[u8]>> {
    result.filter(|bytes| bytes.len() <= MAX_RESULT)
}
