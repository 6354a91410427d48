//! The rules of the ledger, as one pure function.
//!
//! Safety rests on four of them: a claim that may have been sent never becomes free by itself; only
//! the holder of the current epoch may release, send or fail; proof that it happened is accepted
//! from anyone and never taken back; and the generation moves only when a refusal is proven.

use std::sync::Arc;
use std::time::Duration;

use super::aliased;
use super::entry::{
    Entry, EntryKey, MAX_NAME, MAX_REQUEST, MAX_RESULT, Owner, RESULT_RETENTION, Resolution, State,
    TOMBSTONE_RETENTION, Timestamp, WriteRecord,
};
use super::event::{Answer, Claim, Ending, Event, Grant, Resolved};
use super::life::expire;
use crate::fingerprint::{Comparison, Fingerprint};
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
    event: Event,
    now: Timestamp,
) -> Result<(Option<Entry>, Answer), Refused> {
    let mut row = entry.cloned();
    let (changed, answer) = advance(key, &mut row, event, now)?;
    Ok((row.filter(|_| changed), answer))
}

/// Does what [`step`] does to the row itself, and returns whether it is to be stored. If not, it is
/// as it was, or as [`expired`] leaves it.
pub(super) fn advance(
    key: &EntryKey,
    row: &mut Option<Entry>,
    event: Event,
    now: Timestamp,
) -> Result<(bool, Answer), Refused> {
    refuse_long(key, &event)?;
    let entry = match (row, &event) {
        (Some(entry), _) => {
            expire(entry, now);
            entry
        }
        (vacancy, Event::Alias { .. } | Event::Claim(_)) => vacancy.insert(vacant(key, now)),
        (None, event) => {
            return Err(Refused::Illegal(Illegal {
                state: State::Free,
                event: event.as_str(),
            }));
        }
    };
    if entry.state == State::Alias && !aliased::is_proof(entry, &event) {
        return Ok(aliased::asked(entry, event, now)?);
    }
    match event {
        Event::Alias { of, shared } => Ok(aliased::introduced(entry, of, shared, now)?),
        Event::Claim(claim) => Ok(claimed(entry, claim, now)),
        Event::Look { again_after } => Ok(look(entry, again_after, now)?),
        Event::Resend { epoch, sends_for } => Ok(resend(entry, epoch, sends_for, now)?),
        event => Ok(change(entry, event, now)?),
    }
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
    let texts: [(&str, &str); 2] = match event {
        Event::Claim(claim) => [("scope", &key.scope), ("tool", &claim.tool)],
        Event::Resolve { by, reason, .. } => [("by", by), ("reason", reason)],
        Event::Alias { .. }
        | Event::Find { .. }
        | Event::Look { .. }
        | Event::Release { .. }
        | Event::Resend { .. }
        | Event::Send { .. }
        | Event::Settle { .. } => return Ok(()),
    };
    let long = texts.into_iter().find(|(_, text)| text.len() > MAX_NAME);
    long.map_or(Ok(()), |(field, _)| {
        let reason = format!("is longer than {MAX_NAME} bytes");
        Err(Refused::TooLong(Error::invalid(field, reason)))
    })
}

fn claimed(entry: &mut Entry, claim: Claim, now: Timestamp) -> (bool, Answer) {
    let answer = match entry.state {
        State::Failed | State::Free => return grant(entry, claim, now),
        State::Claimed | State::Dispatching => Answer::InProgress,
        State::Alias | State::Unknown => Answer::StillConfirming,
        State::Done | State::Partial => {
            match entry.compare(&claim.fingerprint) {
                // A part of something else happened, or the rules of the two have nothing in common:
                // what this one would do is not known.
                Comparison::Apart => Answer::StillConfirming,
                Comparison::Differs(_) if entry.state == State::Partial => Answer::StillConfirming,
                Comparison::Differs(field) => Answer::Differs {
                    field: field.into(),
                },
                Comparison::Equal => {
                    let own = entry.key.key;
                    let learnt = entry.fingerprint.learn(&claim.fingerprint, &own);
                    return (learnt, replay(entry, now));
                }
            }
        }
    };
    (false, answer)
}

fn replay(entry: &Entry, now: Timestamp) -> Answer {
    let kept = entry.result.is_some() && now <= entry.updated_at.after(RESULT_RETENTION);
    Answer::Settled {
        code: match entry.state {
            State::Partial => Code::Partial,
            _ if kept => Code::AlreadyDone,
            _ => Code::ResultOmitted,
        },
        result: entry.result.clone().filter(|_| kept),
        until: entry.updated_at.after(TOMBSTONE_RETENTION),
    }
}

fn grant(entry: &mut Entry, claim: Claim, now: Timestamp) -> (bool, Answer) {
    entry.state = State::Claimed;
    entry.epoch += 1;
    entry.maybe_sent = !claim.announces_sends;
    entry.tool = claim.tool;
    entry.owner = claim.owner;
    entry.lease_until = now.after(claim.lease);
    entry.fingerprint = claim.fingerprint;
    entry.code = None;
    entry.landing = Landing::InFlight;
    entry.result = None;
    entry.writes.clear();
    entry.updated_at = now;
    entry.last_send_by = None;
    entry.looks = 0;
    entry.look_at = entry.lease_until;
    entry.resolution = None;
    let grant = Grant {
        epoch: entry.epoch,
        generation: entry.generation,
        maybe_sent: false,
    };
    (true, Answer::Granted(grant))
}

/// Lets one of several who want to look it up do so.
fn look(
    entry: &mut Entry,
    again_after: Duration,
    now: Timestamp,
) -> Result<(bool, Answer), Illegal> {
    if entry.state != State::Unknown {
        return Err(Illegal {
            state: entry.state,
            event: "look",
        });
    }
    if entry.look_at > now {
        return Ok((false, Answer::InProgress));
    }
    entry.looks = entry.looks.saturating_add(1);
    entry.look_at = now.after(again_after);
    Ok((true, Answer::Applied))
}

/// Lets what is in doubt be sent once more, and fences off whoever sent it before.
fn resend(
    entry: &mut Entry,
    epoch: u64,
    sends_for: Duration,
    now: Timestamp,
) -> Result<(bool, Answer), Illegal> {
    if entry.state != State::Unknown || entry.epoch != epoch {
        return Err(Illegal {
            state: entry.state,
            event: "resend",
        });
    }
    entry.epoch += 1;
    entry.last_send_by = entry.last_send_by.max(Some(now.after(sends_for)));
    let grant = Grant {
        epoch: entry.epoch,
        generation: entry.generation,
        maybe_sent: true,
    };
    Ok((true, Answer::Granted(grant)))
}

fn change(entry: &mut Entry, event: Event, now: Timestamp) -> Result<(bool, Answer), Illegal> {
    let illegal = Illegal {
        state: entry.state,
        event: event.as_str(),
    };
    let ours = event.epoch().is_none_or(|epoch| epoch == entry.epoch);
    let claimed = ours && matches!(entry.state, State::Claimed | State::Dispatching);
    let in_doubt = ours && entry.state == State::Unknown;
    let open = claimed || in_doubt;

    match event {
        Event::Send {
            write,
            lease,
            sends_for,
            ..
        } if claimed => {
            entry.state = State::Dispatching;
            entry.maybe_sent = true;
            entry.lease_until = now.after(lease);
            entry.look_at = entry.lease_until;
            entry.last_send_by = entry.last_send_by.max(Some(now.after(sends_for)));
            if !entry.writes.iter().any(|known| known.label == write.label) {
                // Hardly any call writes more than once.
                entry.writes.reserve_exact(1);
                entry.writes.push(WriteRecord {
                    request: write
                        .request
                        .filter(|it| it.as_bytes().len() <= MAX_REQUEST),
                    ..write
                });
            }
        }
        Event::Release { code, .. } if open => {
            entry.state = State::Free;
            entry.maybe_sent = false;
            entry.code = Some(code);
            entry.result = None;
            entry.writes.clear();
        }
        Event::Settle { ending, .. } if ending.contradicts_itself() => return Err(illegal),
        Event::Settle { ending, .. } => match ending {
            Ending::Done { code, result } => return done(entry, code, result, now).ok_or(illegal),
            Ending::Failed { code } if open => failed(entry, code),
            Ending::Partial { result } if open => {
                forget_requests(entry);
                entry.state = State::Partial;
                entry.code = Some(Code::Partial);
                entry.result = capped(result);
            }
            Ending::Unknown { conclusion, result } if open => {
                if claimed {
                    entry.look_at = now;
                }
                entry.state = State::Unknown;
                entry.maybe_sent = true;
                entry.code = Some(conclusion.code());
                entry.landing = conclusion.landing().unwrap_or_default();
                entry.result = capped(result);
            }
            Ending::Failed { .. } | Ending::Partial { .. } | Ending::Unknown { .. } => {
                return Err(illegal);
            }
        },
        Event::Find { result } => return done(entry, Code::Done, result, now).ok_or(illegal),
        Event::Resolve {
            verdict: Resolved::Failed,
            ..
        } if may_still_send(entry, now) => return Err(illegal),
        Event::Resolve {
            verdict,
            by,
            reason,
            ..
        } if in_doubt => {
            let at = now;
            entry.resolution = Some(Resolution { by, reason, at });
            match verdict {
                Resolved::Done { result } => {
                    return done(entry, Code::Done, result, now).ok_or(illegal);
                }
                Resolved::Failed => failed(entry, Code::NotSent),
            }
        }
        Event::Alias { .. }
        | Event::Claim(_)
        | Event::Look { .. }
        | Event::Release { .. }
        | Event::Resend { .. }
        | Event::Resolve { .. }
        | Event::Send { .. } => return Err(illegal),
    }
    entry.updated_at = now;
    Ok((true, Answer::Applied))
}

/// Whether its owner may still send something under it.
fn may_still_send(entry: &Entry, now: Timestamp) -> bool {
    now <= entry.last_send_by.unwrap_or(entry.lease_until)
}

/// Takes proof that nothing happened.
fn failed(entry: &mut Entry, code: Code) {
    forget_requests(entry);
    entry.state = State::Failed;
    entry.maybe_sent = false;
    entry.generation += 1;
    entry.code = Some(code);
    entry.result = None;
}

/// What has ended is never sent again.
fn forget_requests(entry: &mut Entry) {
    for write in &mut entry.writes {
        write.request = None;
    }
}

/// Takes proof that it happened: from anyone, at any epoch, and never twice.
fn done(
    entry: &mut Entry,
    code: Code,
    result: Option<Box<[u8]>>,
    now: Timestamp,
) -> Option<(bool, Answer)> {
    match entry.state {
        State::Done => return Some((false, Answer::Applied)),
        State::Partial => return None,
        State::Alias
        | State::Claimed
        | State::Dispatching
        | State::Failed
        | State::Free
        | State::Unknown => {}
    }
    forget_requests(entry);
    entry.state = State::Done;
    entry.alias_of = None;
    entry.code = Some(code);
    entry.result = capped(result);
    entry.updated_at = now;
    Some((true, Answer::Applied))
}

fn capped(result: Option<Box<[u8]>>) -> Option<Box<[u8]>> {
    result.filter(|bytes| bytes.len() <= MAX_RESULT)
}

fn vacant(key: &EntryKey, now: Timestamp) -> Entry {
    Entry {
        key: key.clone(),
        tool: Arc::default(),
        state: State::Free,
        epoch: 0,
        generation: 0,
        maybe_sent: false,
        owner: Owner::from_bytes([0; 16]),
        lease_until: now,
        fingerprint: Fingerprint::default(),
        code: None,
        landing: Landing::InFlight,
        result: None,
        writes: Vec::new(),
        created_at: now,
        updated_at: now,
        last_send_by: None,
        looks: 0,
        look_at: now,
        resolution: None,
        alias_of: None,
    }
}
