//! Refunds of numbered orders, and what may happen to one.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use tower_outcome_core::ledger::{
    Answer, Claim, Ending, Entry, EntryKey, Event, Filter, Grant, Ledger, Owner, WriteRecord,
};
use tower_outcome_core::{Code, Intent};

const LEASE: Duration = Duration::from_hours(1);

/// The refund of an order.
///
/// # Panics
///
/// Never: a number has a canonical form.
#[must_use]
pub fn intent(order: u32) -> Intent {
    Intent::new("acme", "refund", &json!({ "order": order })).expect("an intent of a number")
}

/// Where a ledger keeps it.
#[must_use]
pub fn key(order: u32) -> EntryKey {
    EntryKey::of(&intent(order))
}

/// A claim of a new owner.
#[must_use]
pub fn claim(order: u32) -> Event {
    Event::Claim(Claim::new(&intent(order), Owner::random(), LEASE))
}

/// A claim that may be sent without another word.
#[must_use]
pub fn unannounced(order: u32) -> Event {
    Event::Claim(Claim {
        announces_sends: false,
        ..Claim::new(&intent(order), Owner::random(), LEASE)
    })
}

/// The first send.
#[must_use]
pub fn send(epoch: u64) -> Event {
    Event::Send {
        epoch,
        write: WriteRecord {
            label: "refund".into(),
            route: "POST api.example/refunds".into(),
            wire_key: "k-1".into(),
            only: true,
            ..WriteRecord::default()
        },
        lease: LEASE,
        sends_for: LEASE,
    }
}

/// Nothing was sent.
#[must_use]
pub fn release(epoch: u64) -> Event {
    let code = Code::NotSent;
    Event::Release { epoch, code }
}

/// It is done.
#[must_use]
pub fn done(epoch: u64, result: Option<&[u8]>) -> Event {
    let code = Code::Done;
    let result = result.map(Into::into);
    let ending = Ending::Done { code, result };
    Event::Settle { epoch, ending }
}

/// The other side refused it.
#[must_use]
pub fn refused(epoch: u64) -> Event {
    let code = Code::Rejected;
    let ending = Ending::Failed { code };
    Event::Settle { epoch, ending }
}

/// Nobody knows, but for a job's number.
#[must_use]
pub fn doubt(epoch: u64) -> Event {
    let conclusion = Code::TimeoutAfterSend.into();
    let result = Some(b"job 7".as_slice().into());
    let ending = Ending::Unknown { conclusion, result };
    Event::Settle { epoch, ending }
}

/// Claims the refund.
///
/// # Panics
///
/// If it isn't granted.
pub async fn granted(ledger: &impl Ledger, order: u32) -> Grant {
    match ledger.apply(&key(order), claim(order)).await {
        Ok(Answer::Granted(grant)) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

/// Has the ledger take an event.
///
/// # Panics
///
/// If it doesn't.
pub async fn applied(ledger: &impl Ledger, order: u32, event: Event) {
    let answer = ledger.apply(&key(order), event).await;
    assert_eq!(answer.expect("applied"), Answer::Applied);
}

/// Has the ledger fence an event off.
///
/// # Panics
///
/// If it doesn't.
pub async fn fenced(ledger: &impl Ledger, order: u32, event: Event) {
    let error = ledger.apply(&key(order), event).await;
    let error = error.expect_err("fenced off");
    assert!(error.is_fenced(), "{error:?}");
}

/// What the ledger has.
///
/// # Panics
///
/// If it has nothing, or cannot be read.
pub async fn entry(ledger: &impl Ledger, order: u32) -> Entry {
    let entry = ledger
        .read(&key(order))
        .await
        .expect("a ledger that answers");
    entry.expect("an entry")
}

/// Makes an order of which nobody knows what became.
///
/// # Panics
///
/// If the ledger does not take it down.
pub async fn in_doubt(ledger: &impl Ledger, order: u32) {
    let epoch = granted(ledger, order).await.epoch;
    applied(ledger, order, send(epoch)).await;
    applied(ledger, order, doubt(epoch)).await;
}

/// Asserts that of four entries in doubt `harmed` cannot be read, and are named wherever the others
/// are listed.
///
/// # Panics
///
/// If they are not, or one is missing.
pub async fn others_are_listed(ledger: &impl Ledger, harmed: [EntryKey; 2], others: [u32; 2]) {
    let keys = |orders: [u32; 2]| BTreeSet::from(orders.map(key));
    let harmed = BTreeSet::from(harmed);
    let of = |entries: Vec<Entry>| entries.into_iter().map(|entry| entry.key).collect();
    // Those that cannot be read take nobody's place.
    for limit in [2, 9] {
        for listing in [ledger.due(limit).await, ledger.unresolved(limit).await] {
            let listing = listing.expect("a list of those that can be read");
            assert_eq!(keys(others), of(listing.entries));
            if limit > 4 {
                assert_eq!(harmed, listing.unreadable.into_iter().collect());
            }
        }
        for one in [ledger.due(1).await, ledger.unresolved(1).await] {
            assert_eq!(one.expect("a list").entries.len(), 1);
        }
    }
    for limit in [1, 2, 9] {
        let mut filter = Filter::new(limit);
        let (mut listed, mut unreadable) = (BTreeSet::new(), BTreeSet::new());
        loop {
            let page = ledger.page(&filter).await.expect("a page");
            listed.extend(page.entries.into_iter().map(|entry| entry.key));
            unreadable.extend(page.unreadable);
            match page.next {
                Some(next) => filter.after = Some(next),
                None => break,
            }
        }
        assert_eq!((listed, unreadable), (keys(others), harmed.clone()));
    }
    let elsewhere = Filter {
        scope: Some("elsewhere".into()),
        ..Filter::new(9)
    };
    let page = ledger.page(&elsewhere).await.expect("a page");
    assert_eq!((page.entries, page.unreadable), (vec![], vec![]));
}
