//! What the ledger's entry answers to a call, without anything being sent.

use serde_json::Value;
use tower_outcome_core::ledger::entry::TOMBSTONE_RETENTION;
use tower_outcome_core::ledger::{Answer, Comparison, Entry, State, Timestamp};
use tower_outcome_core::{Code, Conclusion, Envelope, Fingerprint, Landing};

/// What an entry says to a call that wants to be made.
pub(super) enum Stands {
    Ended(Envelope),
    InProgress,
    /// The entry is elsewhere.
    Moved,
    /// The next call may send.
    Open,
}

pub(super) fn stands(entry: &Entry, fingerprint: &Fingerprint) -> Stands {
    match entry.state {
        State::Alias if entry.leads_to().is_some() => Stands::Moved,
        State::Alias => Stands::Ended(Envelope::new(Code::StillConfirming)),
        State::Failed | State::Free => Stands::Open,
        State::Claimed | State::Dispatching => match entry.compare(fingerprint) {
            Comparison::Equal => Stands::InProgress,
            // Nothing to wait for: its answer would not be this call's.
            Comparison::Apart | Comparison::Differs(_) if entry.state == State::Claimed => {
                Stands::Ended(Envelope::new(Code::AlreadyInProgress))
            }
            Comparison::Apart | Comparison::Differs(_) => {
                Stands::Ended(Envelope::new(Code::StillConfirming))
            }
        },
        State::Unknown => Stands::Ended(Envelope::new(doubt(entry.landing))),
        State::Done | State::Partial => Stands::Ended(ended(entry, fingerprint)),
    }
}

/// The doubt about an earlier call.
pub(super) fn doubt(landing: Landing) -> Conclusion {
    let conclusion = Conclusion::new(Code::StillConfirming);
    match landing {
        Landing::InFlight => conclusion,
        Landing::Settled => conclusion.settled(),
    }
}

fn ended(entry: &Entry, fingerprint: &Fingerprint) -> Envelope {
    match entry.compare(fingerprint) {
        Comparison::Apart => return Envelope::new(Code::StillConfirming),
        Comparison::Differs(field) => return differs(field),
        Comparison::Equal => {}
    }
    let code = match (entry.state, &entry.result) {
        (State::Partial, _) => Code::Partial,
        (_, Some(_)) => Code::AlreadyDone,
        (_, None) => Code::ResultOmitted,
    };
    settled(
        code,
        entry.result.as_deref(),
        entry.updated_at.after(TOMBSTONE_RETENTION),
    )
}

/// The answer of a claim that was not granted; `None` where the call has to wait.
pub(super) fn answered(answer: Answer) -> Option<Envelope> {
    match answer {
        Answer::Settled {
            code,
            result,
            until,
        } => Some(settled(code, result.as_deref(), until)),
        Answer::Differs { field } => Some(differs(&field)),
        Answer::StillConfirming => Some(Envelope::new(Code::StillConfirming)),
        Answer::Applied | Answer::Granted(_) | Answer::InProgress | Answer::Moved(_) => None,
    }
}

fn settled(code: Code, result: Option<&[u8]>, until: Timestamp) -> Envelope {
    let data = result.map_or(Value::Null, |bytes| {
        serde_json::from_slice(bytes).unwrap_or_default()
    });
    let envelope = Envelope::new(code).with_data(data);
    if code == Code::Partial {
        return envelope;
    }
    envelope.with_deduplicated_until(seconds(until))
}

fn differs(field: &str) -> Envelope {
    let detail = format!("{field} is not what it was in the call that is stored.");
    Envelope::new(Code::KeyConflict).with_detail(&detail)
}

/// What the ledger alone says of a call that is not to be made.
///
/// Without a fingerprint it is the call that is stored, whatever it was.
pub(super) fn status(entry: Option<&Entry>, fingerprint: Option<&Fingerprint>) -> Envelope {
    let Some(entry) = entry else {
        // A ledger that was lost or pruned looks the same.
        return Envelope::new(Conclusion::new(Code::NotSent).for_this_call());
    };
    match stands(entry, fingerprint.unwrap_or(&entry.fingerprint)) {
        Stands::Ended(envelope) => envelope,
        Stands::InProgress | Stands::Moved => Envelope::new(Code::AlreadyInProgress),
        Stands::Open => Envelope::new(entry.code.unwrap_or(Code::NotSent)),
    }
}

pub(super) const fn seconds(at: Timestamp) -> u64 {
    at.0 / 1000
}
