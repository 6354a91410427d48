//! What lies in memory is what the rules say, whatever happens to it.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use proptest::prelude::*;
use tower_outcome_core::ledger::entry::{RESULT_RETENTION, TOMBSTONE_RETENTION};
use tower_outcome_core::ledger::{
    Claim, Ending, Entry, EntryKey, Event, Filter, Ledger, LedgerError, MemoryLedger, Owner,
    Resolved, StoredRequest, Timestamp, WriteRecord, machine,
};
use tower_outcome_core::{Code, Conclusion, Fingerprint, IdempotencyKey};

proptest! {
    #[test]
    fn every_entry_is_read_back_as_the_rules_left_it(
        steps in proptest::collection::vec((0..3_u8, event(), 0..20_000_u64), 1..60),
    ) {
        let now = Arc::new(AtomicU64::new(1_000_000));
        let (ledger, mut model) = (ledger(&now), BTreeMap::<EntryKey, Entry>::new());
        for (number, event, later) in steps {
            let at = Timestamp(now.fetch_add(later, Ordering::Relaxed) + later);
            let key = key(number);
            let expected = machine::step(&key, model.get(&key), event.clone(), at);
            let answer = done(ledger.apply(&key, event));
            match expected {
                Ok((next, expected)) => {
                    prop_assert_eq!(answer.unwrap(), expected);
                    model.extend(next.map(|next| (key.clone(), next)));
                }
                Err(refused) => {
                    let refused = LedgerError::from(refused);
                    prop_assert_eq!(answer.unwrap_err().to_string(), refused.to_string());
                }
            }
            let seen = model.get(&key).map(|entry| machine::expired(entry.clone(), at));
            prop_assert_eq!(done(ledger.read(&key)).unwrap(), seen);
        }
        let at = Timestamp(now.load(Ordering::Relaxed));
        let listed = done(ledger.page(&Filter::new(9))).unwrap().entries;
        let mut expected: Vec<Entry> =
            model.into_values().map(|entry| machine::expired(entry, at)).collect();
        expected.sort_by_key(|entry| (entry.created_at, entry.key.clone()));
        prop_assert_eq!(listed, expected);
    }
}

#[test]
fn a_purge_takes_no_more_than_it_may_and_makes_room() {
    let now = Arc::new(AtomicU64::new(1_000_000));
    let many = 5000;
    let clock = Arc::clone(&now);
    let ledger =
        MemoryLedger::new(many).with_clock(move || Timestamp(clock.load(Ordering::Relaxed)));
    let keys = |from: usize| (from..from + many).map(numbered);
    for key in keys(0) {
        done(ledger.apply(&key, claim())).unwrap();
        let result = Some(Box::from(*b"paid"));
        let ending = Ending::Done {
            code: Code::Done,
            result,
        };
        done(ledger.apply(&key, Event::Settle { epoch: 1, ending })).unwrap();
    }
    let purge_all = |share: usize| {
        let mut purged = 0;
        while let more @ 1.. = done(ledger.purge(share)).unwrap() {
            assert!(more <= share);
            purged += more;
        }
        purged
    };
    assert_eq!(purge_all(100), 0);
    advance(&now, RESULT_RETENTION);
    assert_eq!(purge_all(333), many, "the results");
    let kept = done(ledger.read(&numbered(7))).unwrap().unwrap();
    assert_eq!((kept.result, kept.code), (None, Some(Code::Done)));
    let full = done(ledger.apply(&numbered(many), claim())).unwrap_err();
    assert_eq!(full.code(), Code::StoreFull);

    advance(&now, TOMBSTONE_RETENTION);
    assert_eq!(purge_all(777), many, "the entries");
    assert_eq!(done(ledger.counts()).unwrap().total(), 0);
    for key in keys(many) {
        done(ledger.apply(&key, claim())).unwrap();
    }
    assert_eq!(done(ledger.counts()).unwrap().total(), many as u64);
}

#[test]
fn two_scopes_that_share_a_key_share_nothing_else() {
    let ledger = MemoryLedger::new(2);
    let (one, mut other) = (numbered(1), numbered(1));
    other.scope = "another".into();
    done(ledger.apply(&one, claim())).unwrap();
    assert_eq!(done(ledger.read(&other)).unwrap(), None);
    done(ledger.apply(&other, claim())).unwrap();
    assert_eq!(done(ledger.read(&one)).unwrap().unwrap().key, one);
}

fn ledger(now: &Arc<AtomicU64>) -> MemoryLedger {
    let now = Arc::clone(now);
    MemoryLedger::default().with_clock(move || Timestamp(now.load(Ordering::Relaxed)))
}

fn advance(now: &AtomicU64, by: Duration) {
    let millis = u64::try_from(by.as_millis()).unwrap();
    now.fetch_add(millis + 1, Ordering::Relaxed);
}

fn key(number: u8) -> EntryKey {
    numbered(number.into())
}

fn numbered(number: usize) -> EntryKey {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&number.to_le_bytes());
    EntryKey {
        scope: "acme".into(),
        key: IdempotencyKey::from_bytes(key),
    }
}

fn claim() -> Event {
    Event::Claim(Claim {
        tool: "refund".into(),
        owner: Owner::from_bytes([7; 16]),
        lease: Duration::from_secs(10),
        fingerprint: Fingerprint::default(),
        announces_sends: true,
    })
}

fn event() -> impl Strategy<Value = Event> {
    let epoch = || 0..4_u64;
    let result = || proptest::option::of(any::<[u8; 3]>().prop_map(|it| Box::from(it.as_slice())));
    let seconds = || (0..20_u64).prop_map(Duration::from_secs);
    let claims = (0..2_u8, any::<bool>(), seconds()).prop_map(|(part, announces_sends, lease)| {
        let fingerprint = match part {
            0 => Fingerprint::default(),
            _ => Fingerprint::default().with_part("/amount", &[part]),
        };
        Event::Claim(Claim {
            tool: ["refund", "book"][usize::from(part)].into(),
            owner: Owner::from_bytes([part; 16]),
            lease,
            fingerprint,
            announces_sends,
        })
    });
    let sends = (epoch(), 0..2_u8, seconds()).prop_map(|(epoch, label, sends_for)| Event::Send {
        epoch,
        write: WriteRecord {
            label: label.to_string(),
            request: Some(StoredRequest::new([label; 4])),
            ..WriteRecord::default()
        },
        lease: Duration::from_secs(10),
        sends_for,
    });
    let endings = prop_oneof![
        result().prop_map(|result| Ending::Done {
            code: Code::Done,
            result
        }),
        Just(Ending::Failed {
            code: Code::Declined
        }),
        Just(Ending::Failed { code: Code::Done }),
        result().prop_map(|result| Ending::Partial { result }),
        result().prop_map(|result| Ending::Unknown {
            conclusion: Conclusion::new(Code::ResponseLost),
            result,
        }),
    ];
    let verdicts = prop_oneof![
        result().prop_map(|result| Resolved::Done { result }),
        Just(Resolved::Failed),
    ];
    prop_oneof![
        4 => claims,
        2 => sends,
        3 => (epoch(), endings).prop_map(|(epoch, ending)| Event::Settle { epoch, ending }),
        1 => result().prop_map(|result| Event::Find { result }),
        1 => seconds().prop_map(|again_after| Event::Look { again_after }),
        1 => epoch().prop_map(|epoch| Event::Release { epoch, code: Code::NotSent }),
        1 => (epoch(), seconds())
            .prop_map(|(epoch, sends_for)| Event::Resend { epoch, sends_for }),
        1 => (epoch(), verdicts).prop_map(|(epoch, verdict)| Event::Resolve {
            epoch,
            verdict,
            by: "ada".into(),
            reason: "looked".into(),
        }),
    ]
}

/// What a ledger in memory has at once.
fn done<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("memory does not wait"),
    }
}
