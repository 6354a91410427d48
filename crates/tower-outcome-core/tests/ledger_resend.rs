//! What is in doubt may be sent once more, and then nobody earlier can say that it failed.

use std::time::Duration;

use serde_json::json;
use tower_outcome_core::ledger::machine::{Refused, step};
use tower_outcome_core::ledger::{
    Answer, Claim, Ending, Entry, EntryKey, Event, Owner, Resolved, State, Timestamp, WriteRecord,
};
use tower_outcome_core::{Code, Intent};

const START: Timestamp = Timestamp(1_000_000);
const LEASE: Duration = Duration::from_secs(30);

fn intent() -> Intent {
    Intent::new("acme", "refund", &json!({ "order": 7 })).unwrap()
}

/// Applies an event that has to be allowed.
fn after(entry: Option<&Entry>, event: Event, now: Timestamp) -> (Entry, Answer) {
    let (next, answer) = step(&EntryKey::of(&intent()), entry, event, now).unwrap();
    (next.expect("it changes the entry"), answer)
}

/// An entry whose owner may have sent and whose lease has ended.
fn doubt() -> (Entry, Timestamp) {
    let claim = Claim::new(&intent(), Owner::random(), LEASE);
    let (claimed, _) = after(None, Event::Claim(claim), START);
    let sent = Event::Send {
        epoch: claimed.epoch,
        write: WriteRecord::default(),
        lease: LEASE,
        sends_for: LEASE,
    };
    let (sent, _) = after(Some(&claimed), sent, START);
    (sent, START.after(LEASE * 2))
}

fn resend(epoch: u64) -> Event {
    let sends_for = LEASE;
    Event::Resend { epoch, sends_for }
}

fn settle(epoch: u64, ending: Ending) -> Event {
    Event::Settle { epoch, ending }
}

fn refused(entry: &Entry, event: Event, now: Timestamp) -> bool {
    let stepped = step(&EntryKey::of(&intent()), Some(entry), event, now);
    matches!(stepped, Err(Refused::Illegal(_)))
}

#[test]
fn a_resend_fences_off_everyone_who_sent_before() {
    let (entry, now) = doubt();
    let (resent, answer) = after(Some(&entry), resend(entry.epoch), now);
    let Answer::Granted(grant) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(
        (grant.epoch, grant.generation),
        (entry.epoch + 1, entry.generation)
    );
    assert!(grant.maybe_sent && resent.maybe_sent);
    assert_eq!(resent.state, State::Unknown);
    assert_eq!(resent.updated_at, entry.updated_at);
    let failed = || Ending::Failed {
        code: Code::Declined,
    };
    let code = Code::NotSent;
    let epoch = entry.epoch;
    assert!(refused(&resent, settle(epoch, failed()), now));
    assert!(refused(&resent, Event::Release { epoch, code }, now));
    assert!(refused(&resent, resend(epoch), now));
    let (failed, _) = after(Some(&resent), settle(grant.epoch, failed()), now);
    assert_eq!(
        (failed.state, failed.generation),
        (State::Failed, entry.generation + 1)
    );
}

#[test]
fn proof_is_still_taken_from_whoever_sent_before() {
    let (entry, now) = doubt();
    let (resent, _) = after(Some(&entry), resend(entry.epoch), now);
    let done = Ending::Done {
        code: Code::Done,
        result: None,
    };
    let (done, _) = after(Some(&resent), settle(entry.epoch, done), now);
    assert_eq!(done.state, State::Done);
}

#[test]
fn nobody_can_resolve_as_failed_while_it_is_sent_again() {
    let (entry, now) = doubt();
    let (resent, _) = after(Some(&entry), resend(entry.epoch), now);
    let failed = |epoch| Event::Resolve {
        epoch,
        verdict: Resolved::Failed,
        by: "ada".into(),
        reason: "not there".into(),
    };
    assert!(refused(&resent, failed(resent.epoch), now.after(LEASE)));
    let over = now.after(LEASE + Duration::from_millis(1));
    assert!(refused(&resent, failed(entry.epoch), over));
    assert_eq!(
        after(Some(&resent), failed(resent.epoch), over).0.state,
        State::Failed
    );
}

#[test]
fn only_what_is_in_doubt_is_sent_again() {
    let claim = Claim::new(&intent(), Owner::random(), LEASE);
    let (claimed, _) = after(None, Event::Claim(claim), START);
    assert!(refused(&claimed, resend(claimed.epoch), START));
    let (sent, now) = doubt();
    assert!(
        refused(&sent, resend(sent.epoch), START),
        "its owner is alive"
    );
    let (done, _) = after(Some(&sent), Event::Find { result: None }, now);
    assert!(refused(&done, resend(done.epoch), now));
    let none = step(&EntryKey::of(&intent()), None, resend(0), now);
    assert!(none.is_err());
}

#[test]
fn a_moment_is_written_in_utc() {
    for (millis, text) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_399_999, "2000-02-28T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_764_547_200_042, "2025-12-01T00:00:00.042Z"),
        (u64::MAX, "18446744073709551615"),
    ] {
        assert_eq!(Timestamp(millis).to_string(), text);
    }
}
