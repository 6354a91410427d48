//! The ledger in memory, and the suite that it is held to.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::json;
use tower_outcome_core::ledger::{
    Answer, Claim, EntryKey, Event, Ledger, MemoryLedger, Owner, State,
};
use tower_outcome_core::{Code, Intent};

#[cfg(feature = "conformance")]
#[test]
fn keeps_every_rule_of_a_ledger() {
    use tower_outcome_core::ledger::conformance;

    now(conformance::run(async |clock| {
        MemoryLedger::default().with_clock(move || clock.now())
    }));
}

#[test]
fn a_full_ledger_refuses_new_claims_and_keeps_what_it_has() {
    let ledger = MemoryLedger::new(1);
    let (known, next) = (key(1), key(2));
    assert!(matches!(
        now(ledger.apply(&known, claim(1))),
        Ok(Answer::Granted(_))
    ));
    let error = now(ledger.apply(&next, claim(2))).unwrap_err();
    assert_eq!(error.code(), Code::StoreFull);
    assert!(!error.is_fenced());
    assert_eq!(now(ledger.read(&next)).unwrap(), None);

    let (epoch, code) = (1, Code::NotSent);
    let release = Event::Release { epoch, code };
    assert_eq!(now(ledger.apply(&known, release)).unwrap(), Answer::Applied);
    assert!(matches!(
        now(ledger.apply(&known, claim(1))),
        Ok(Answer::Granted(_))
    ));
}

#[test]
fn an_error_names_state_and_event_and_no_key() {
    let ledger = MemoryLedger::default();
    let key = key(1);
    now(ledger.apply(&key, claim(1))).unwrap();
    let (epoch, code) = (9, Code::NotSent);
    let error = now(ledger.apply(&key, Event::Release { epoch, code })).unwrap_err();
    assert!(error.is_fenced());
    assert_eq!(error.code(), Code::StillConfirming);
    let text = error.to_string();
    assert!(
        text.contains("claimed") && text.contains("release"),
        "{text}"
    );
    assert!(!text.contains(&key.key.short()), "{text}");
}

#[test]
fn every_state_is_read_back_from_its_text() {
    for state in State::ALL {
        assert_eq!(State::parse(state.as_str()).as_ref(), Ok(state));
    }
    assert!(State::parse("paid").is_err());
}

#[test]
fn an_owner_survives_a_store_and_shows_a_part_of_itself() {
    let owner = Owner::random();
    assert_eq!(Owner::from_bytes(owner.to_bytes()), owner);
    assert_ne!(Owner::random(), owner);
    assert_eq!(owner.to_string().len(), 8);
}

fn intent(order: u32) -> Intent {
    Intent::new("acme", "refund", &json!({ "order": order })).unwrap()
}

fn key(order: u32) -> EntryKey {
    EntryKey::of(&intent(order))
}

fn claim(order: u32) -> Event {
    let lease = Duration::from_secs(30);
    Event::Claim(Claim::new(&intent(order), Owner::random(), lease))
}

/// What a ledger in memory has at once.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("memory does not wait"),
    }
}
