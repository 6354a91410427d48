//! The rules of the ledger, as one pure function.
//!
//! Safety rests on four of them: a claim that may have been sent never becomes free by itself; only
//! the holder of the current epoch may release, send or fail; proof that it happened is accepted
//! from anyone and never taken back; and the generation moves only when a refusal is proven.

use super::entry::{
    Entry, EntryKey, MAX_RESULT, Owner, RESULT_RETENTION, State, TOMBSTONE_RETENTION, Timestamp,
};
use super::event::{Answer, Claim, Ending, Event, Grant};
use crate::fingerprint::Fingerprint;
use crate::{Code, Landing};

/// Applies `event` to `entry`, the row of `key`, at `now`.
///
/// Returns the row to store (`None`: leave it as it is) and the answer.
///
/// # Errors
///
/// [`Illegal`] where the entry's state or epoch does not allow the event. Nothing is to be stored.
pub fn step(
    key: &EntryKey,
    entry: Option<&Entry>,
    event: Event,
    now: Timestamp,
) -> Result<(Option<Entry>, Answer), Illegal> {
    let entry = entry.map(|entry| expired(entry.clone(), now));
    match (entry, event) {
        (None, Event::Claim(claim)) => Ok(grant(vacant(key, now), claim, now)),
        (Some(entry), Event::Claim(claim)) => Ok(claimed_again(entry, claim, now)),
        (Some(entry), event) => change(entry, event, now),
        (None, event) => Err(Illegal {
            state: State::Free,
            event: event.as_str(),
        }),
    }
}

/// The entry as it stands at `now`: an owner whose lease has ended is gone.
#[must_use]
pub fn expired(mut entry: Entry, now: Timestamp) -> Entry {
    if entry.lease_until > now {
        return entry;
    }
    match entry.state {
        State::Claimed if !entry.maybe_sent => entry.state = State::Free,
        State::Claimed | State::Dispatching => {
            entry.state = State::Unknown;
            entry.code = Some(Code::ResponseLost);
            entry.landing = Landing::InFlight;
        }
        State::Done | State::Failed | State::Free | State::Partial | State::Unknown => {}
    }
    entry
}

/// The entry's state does not allow the event, or its epoch is another owner's.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Illegal {
    /// The entry's state.
    pub state: State,
    /// The event, as [`Event::as_str`] names it.
    pub event: &'static str,
}

fn claimed_again(entry: Entry, claim: Claim, now: Timestamp) -> (Option<Entry>, Answer) {
    let answer = match entry.state {
        State::Failed | State::Free => return grant(entry, claim, now),
        State::Claimed | State::Dispatching => Answer::InProgress,
        State::Unknown => Answer::StillConfirming,
        State::Done | State::Partial => match entry.fingerprint.differs(&claim.fingerprint) {
            // A part of something else happened: what this one would do is not known.
            Some(_) if entry.state == State::Partial => Answer::StillConfirming,
            Some(field) => Answer::Differs {
                field: field.into(),
            },
            None => replay(&entry, now),
        },
    };
    (None, answer)
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

fn grant(mut entry: Entry, claim: Claim, now: Timestamp) -> (Option<Entry>, Answer) {
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
    let grant = Grant {
        epoch: entry.epoch,
        generation: entry.generation,
        maybe_sent: false,
    };
    (Some(entry), Answer::Granted(grant))
}

fn change(entry: Entry, event: Event, now: Timestamp) -> Result<(Option<Entry>, Answer), Illegal> {
    let illegal = Illegal {
        state: entry.state,
        event: event.as_str(),
    };
    let ours = fence(&event).is_none_or(|epoch| epoch == entry.epoch);
    let claimed = ours && matches!(entry.state, State::Claimed | State::Dispatching);
    let open = claimed || (ours && entry.state == State::Unknown);

    let mut next = entry;
    next.updated_at = now;
    match event {
        Event::Send {
            write,
            lease,
            sends_for,
            ..
        } if claimed => {
            next.state = State::Dispatching;
            next.maybe_sent = true;
            next.lease_until = now.after(lease);
            next.last_send_by = next.last_send_by.max(Some(now.after(sends_for)));
            if !next.writes.iter().any(|known| known.label == write.label) {
                next.writes.push(write);
            }
        }
        Event::Release { code, .. } if open => {
            next.state = State::Free;
            next.maybe_sent = false;
            next.code = Some(code);
            next.result = None;
            next.writes.clear();
        }
        Event::Settle { ending, .. } if ending.contradicts_itself() => return Err(illegal),
        Event::Settle { ending, .. } => match ending {
            Ending::Done { code, result } => return done(next, code, result).ok_or(illegal),
            Ending::Failed { code } if open => {
                next.state = State::Failed;
                next.maybe_sent = false;
                next.generation += 1;
                next.code = Some(code);
                next.result = None;
            }
            Ending::Partial { result } if open => {
                next.state = State::Partial;
                next.code = Some(Code::Partial);
                next.result = capped(result);
            }
            Ending::Unknown { conclusion, result } if open => {
                next.state = State::Unknown;
                next.maybe_sent = true;
                next.code = Some(conclusion.code());
                next.landing = conclusion.landing().unwrap_or_default();
                next.result = capped(result);
            }
            Ending::Failed { .. } | Ending::Partial { .. } | Ending::Unknown { .. } => {
                return Err(illegal);
            }
        },
        Event::Find { result } => return done(next, Code::Done, result).ok_or(illegal),
        Event::Claim(_) | Event::Release { .. } | Event::Send { .. } => return Err(illegal),
    }
    Ok((Some(next), Answer::Applied))
}

/// Takes proof that it happened: from anyone, at any epoch, and never twice.
fn done(
    mut entry: Entry,
    code: Code,
    result: Option<Box<[u8]>>,
) -> Option<(Option<Entry>, Answer)> {
    match entry.state {
        State::Done => return Some((None, Answer::Applied)),
        State::Partial => return None,
        State::Claimed | State::Dispatching | State::Failed | State::Free | State::Unknown => {}
    }
    entry.state = State::Done;
    entry.code = Some(code);
    entry.result = capped(result);
    Some((Some(entry), Answer::Applied))
}

/// The epoch that an event has to show, if it has to show one.
const fn fence(event: &Event) -> Option<u64> {
    match event {
        Event::Release { epoch, .. } | Event::Send { epoch, .. } | Event::Settle { epoch, .. } => {
            Some(*epoch)
        }
        Event::Claim(_) | Event::Find { .. } => None,
    }
}

fn capped(result: Option<Box<[u8]>>) -> Option<Box<[u8]>> {
    result.filter(|bytes| bytes.len() <= MAX_RESULT)
}

fn vacant(key: &EntryKey, now: Timestamp) -> Entry {
    Entry {
        key: key.clone(),
        tool: Box::default(),
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
    }
}
