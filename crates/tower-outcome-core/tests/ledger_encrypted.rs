//! What is sealed, where it opens, and that no word depends on it.

#![cfg(feature = "encryption")]

use std::time::Duration;

use serde_json::json;
use tower_outcome_core::ledger::cipher::SEAL_ROOM;
use tower_outcome_core::ledger::entry::{MAX_REQUEST, MAX_RESULT};
use tower_outcome_core::ledger::{
    AesGcmSiv, Answer, Cipher, CipherError, Claim, EncryptedLedger, Ending, Entry, EntryKey, Event,
    Filter, Ledger, MemoryLedger, Owner, Resolved, State, StoredRequest, WriteRecord,
};
use tower_outcome_core::{Code, Intent};

type Sealing = EncryptedLedger<MemoryLedger, AesGcmSiv>;

#[cfg(feature = "conformance")]
#[tokio::test]
async fn keeps_every_rule_of_a_ledger() {
    use tower_outcome_core::ledger::conformance;

    conformance::run(async |clock| {
        let ledger = MemoryLedger::default().with_clock(move || clock.now());
        EncryptedLedger::new(ledger, cipher())
    })
    .await;
}

#[tokio::test]
async fn every_result_and_request_is_sealed_and_opened_again() {
    let endings = [
        settle(done(Some(RESULT))),
        settle(Ending::Partial {
            result: Some(RESULT.into()),
        }),
        settle(Ending::Unknown {
            conclusion: Code::AcceptedPending.into(),
            result: Some(RESULT.into()),
        }),
        find(RESULT),
    ];
    for (order, ending) in (0..).zip(endings) {
        let ledger = ledger();
        sent(&ledger, order, Some(REQUEST)).await;
        assert_eq!(request(&entry(&ledger, order).await), Some(REQUEST.into()));
        let stored = request(&entry(ledger.get_ref(), order).await).unwrap();
        assert!(!contains(&stored, REQUEST), "{order}");

        ledger.apply(&key(order), ending).await.unwrap();
        let read = entry(&ledger, order).await;
        assert_eq!(read.result.as_deref(), Some(RESULT));
        let stored = entry(ledger.get_ref(), order).await.result.unwrap();
        assert!(!contains(&stored, RESULT), "{order}");
        for listed in lists(&ledger).await {
            assert_eq!(listed, std::slice::from_ref(&read), "{order}");
        }
    }
}

#[tokio::test]
async fn what_a_person_has_found_is_sealed() {
    let ledger = ledger();
    sent(&ledger, 1, None).await;
    let doubt = Ending::Unknown {
        conclusion: Code::ResponseLost.into(),
        result: None,
    };
    ledger.apply(&key(1), settle(doubt)).await.unwrap();
    let result = Some(RESULT.into());
    let resolve = Event::Resolve {
        epoch: 1,
        verdict: Resolved::Done { result },
        by: "mia".into(),
        reason: "saw it".into(),
    };
    ledger.apply(&key(1), resolve).await.unwrap();
    assert_eq!(replayed(&ledger, 1).await, already_done());
    let stored = entry(ledger.get_ref(), 1).await.result.unwrap();
    assert!(!contains(&stored, RESULT));
}

#[tokio::test]
async fn a_result_with_any_bit_changed_is_omitted_and_the_word_stays() {
    let ledger = ledger();
    let sealed = ledger.sealed(&key(0), find(RESULT));
    let Event::Find {
        result: Some(sealed),
    } = sealed
    else {
        panic!("{sealed:?}")
    };
    for (order, place) in (0..).zip(0..sealed.len() * 8) {
        let mut damaged = ledger.sealed(&key(order), find(RESULT));
        if let Event::Find {
            result: Some(sealed),
        } = &mut damaged
        {
            sealed[place / 8] ^= 1 << (place % 8);
        }
        sent(&ledger, order, None).await;
        put(&ledger, order, damaged).await;
        assert_omitted(&ledger, order).await;
    }
    for (order, cut) in (10_000..).zip(0..sealed.len()) {
        sent(&ledger, order, None).await;
        put(&ledger, order, find(&sealed[..cut])).await;
        assert_omitted(&ledger, order).await;
    }
}

#[tokio::test]
async fn a_result_opens_in_its_own_row_and_column_only() {
    let ledger = ledger();
    sent(&ledger, 1, None).await;
    put(&ledger, 1, ledger.sealed(&key(2), find(RESULT))).await;
    assert_omitted(&ledger, 1).await;

    let neighbour = EntryKey {
        scope: "another tenant".into(),
        ..key(3)
    };
    sent(&ledger, 3, None).await;
    put(&ledger, 3, ledger.sealed(&neighbour, find(RESULT))).await;
    assert_omitted(&ledger, 3).await;

    // The request of the very row.
    sent(&ledger, 4, Some(RESULT)).await;
    let request = request(&entry(ledger.get_ref(), 4).await).unwrap();
    put(&ledger, 4, find(&request)).await;
    assert_omitted(&ledger, 4).await;

    // What was never sealed is nobody's word.
    sent(&ledger, 5, None).await;
    put(&ledger, 5, find(RESULT)).await;
    assert_omitted(&ledger, 5).await;
}

#[tokio::test]
async fn a_request_opens_beside_its_own_key_and_route_only() {
    let ledger = ledger();
    let own = || write(Some(REQUEST));
    let others = [
        WriteRecord {
            label: "another".into(),
            ..own()
        },
        WriteRecord {
            route: "POST api.example/payouts".into(),
            ..own()
        },
        WriteRecord {
            wire_key: "k-2".into(),
            ..own()
        },
    ];
    for (order, other) in (0..).zip(others) {
        let Event::Send { write: sealed, .. } = ledger.sealed(&key(order), send(own())) else {
            panic!("not a send")
        };
        let moved = WriteRecord {
            request: sealed.request,
            ..other
        };
        granted(&ledger, order).await;
        put(&ledger, order, send(moved)).await;
        assert_eq!(request(&entry(&ledger, order).await), None, "{order}");
    }
    let elsewhere = ledger.sealed(&key(11), send(own()));
    granted(&ledger, 12).await;
    put(&ledger, 12, elsewhere).await;
    assert_eq!(request(&entry(&ledger, 12).await), None);
    // A result of the row, put where its request belongs.
    let Event::Find { result } = ledger.sealed(&key(13), find(REQUEST)) else {
        panic!("not a find")
    };
    granted(&ledger, 13).await;
    put(&ledger, 13, send(write(result.as_deref()))).await;
    assert_eq!(request(&entry(&ledger, 13).await), None);
}

#[tokio::test]
async fn keys_change_without_a_word_changing() {
    let old = ledger();
    sent(&old, 1, Some(REQUEST)).await;
    old.apply(&key(1), settle(done(Some(RESULT))))
        .await
        .unwrap();
    let sealed = entry(old.get_ref(), 1).await.result.unwrap();

    let rotated = AesGcmSiv::new(2, [2; 32]).with_earlier_key(1, [1; 32]);
    let rotated = EncryptedLedger::new(MemoryLedger::default(), rotated);
    sent(&rotated, 1, None).await;
    put(&rotated, 1, find(&sealed)).await;
    assert_eq!(replayed(&rotated, 1).await, already_done());

    for forgotten in [
        AesGcmSiv::new(2, [2; 32]),
        AesGcmSiv::new(1, [9; 32]),
        AesGcmSiv::new(2, [1; 32]),
    ] {
        let forgotten = EncryptedLedger::new(MemoryLedger::default(), forgotten);
        sent(&forgotten, 1, None).await;
        put(&forgotten, 1, find(&sealed)).await;
        assert_omitted(&forgotten, 1).await;
    }
}

#[tokio::test]
async fn a_part_whose_result_does_not_open_stays_a_part() {
    let ledger = ledger();
    sent(&ledger, 1, None).await;
    let result = Some(RESULT.into());
    put(&ledger, 1, settle(Ending::Partial { result })).await;
    let answer = replayed(&ledger, 1).await;
    assert_eq!(answer, (Code::Partial, None));
}

#[tokio::test]
async fn what_is_too_long_once_it_is_sealed_is_left_out() {
    let ledger = ledger();
    for (order, room, kept) in [(1, 0, false), (2, 32, false), (3, 33, true)] {
        let result = vec![7; MAX_RESULT - room];
        sent(&ledger, order, Some(&vec![7; MAX_REQUEST - room])).await;
        assert_eq!(request(&entry(&ledger, order).await).is_some(), kept);
        ledger.apply(&key(order), find(&result)).await.unwrap();
        let read = entry(&ledger, order).await;
        assert_eq!((read.state, read.result.is_some()), (State::Done, kept));
    }
    const { assert!(SEAL_ROOM >= 33) };
}

#[tokio::test]
async fn a_cipher_that_fails_takes_no_proof_away() {
    let cipher = Failing(cipher());
    let ledger = EncryptedLedger::new(MemoryLedger::default(), cipher);
    granted(&ledger, 1).await;
    ledger
        .apply(&key(1), send(write(Some(REQUEST))))
        .await
        .unwrap();
    ledger
        .apply(&key(1), settle(done(Some(RESULT))))
        .await
        .unwrap();
    assert_eq!(entry(&ledger, 1).await.state, State::Done);
    assert_eq!(replayed(&ledger, 1).await, (Code::ResultOmitted, None));
    let stored = entry(ledger.get_ref(), 1).await;
    assert_eq!(
        (stored.result, stored.writes[0].request.as_ref()),
        (None, None)
    );
}

/// A cipher that cannot seal.
struct Failing(AesGcmSiv);

impl Cipher for Failing {
    fn seal(&self, _: &[u8], _: &[u8]) -> Result<Box<[u8]>, CipherError> {
        Err(CipherError::new("no key today"))
    }

    fn open(&self, associated: &[u8], sealed: &[u8]) -> Result<Box<[u8]>, CipherError> {
        self.0.open(associated, sealed)
    }
}

fn cipher() -> AesGcmSiv {
    AesGcmSiv::new(1, [1; 32])
}

fn ledger() -> Sealing {
    EncryptedLedger::new(MemoryLedger::default(), cipher())
}

fn intent(order: u32) -> Intent {
    Intent::new("acme", "refund", &json!({ "order": order })).unwrap()
}

fn key(order: u32) -> EntryKey {
    EntryKey::of(&intent(order))
}

fn claim(order: u32) -> Event {
    Event::Claim(Claim::new(&intent(order), Owner::random(), LEASE))
}

fn write(request: Option<&[u8]>) -> WriteRecord {
    WriteRecord {
        label: "refund".into(),
        route: "POST api.example/refunds".into(),
        wire_key: "k-1".into(),
        only: true,
        request: request.map(StoredRequest::new),
        ..WriteRecord::default()
    }
}

const fn send(write: WriteRecord) -> Event {
    Event::Send {
        epoch: 1,
        write,
        lease: LEASE,
        sends_for: LEASE,
    }
}

const fn settle(ending: Ending) -> Event {
    Event::Settle { epoch: 1, ending }
}

fn done(result: Option<&[u8]>) -> Ending {
    Ending::Done {
        code: Code::Done,
        result: result.map(Into::into),
    }
}

fn find(result: &[u8]) -> Event {
    let result = Some(result.into());
    Event::Find { result }
}

async fn granted<C: Cipher>(ledger: &EncryptedLedger<MemoryLedger, C>, order: u32) {
    let answer = ledger.apply(&key(order), claim(order)).await.unwrap();
    assert!(matches!(answer, Answer::Granted(_)), "{answer:?}");
}

async fn sent(ledger: &Sealing, order: u32, request: Option<&[u8]>) {
    granted(ledger, order).await;
    let event = send(write(request));
    ledger.apply(&key(order), event).await.unwrap();
}

/// Writes into the store as somebody would who has no key.
async fn put(ledger: &Sealing, order: u32, event: Event) {
    let answer = ledger.get_ref().apply(&key(order), event).await.unwrap();
    assert_eq!(answer, Answer::Applied);
}

async fn entry(ledger: &impl Ledger, order: u32) -> Entry {
    ledger.read(&key(order)).await.unwrap().unwrap()
}

fn request(entry: &Entry) -> Option<Box<[u8]>> {
    let request = entry.writes.first()?.request.as_ref()?;
    Some(request.as_bytes().into())
}

/// What an identical call is answered.
async fn replayed<C: Cipher>(
    ledger: &EncryptedLedger<MemoryLedger, C>,
    order: u32,
) -> (Code, Option<Box<[u8]>>) {
    match ledger.apply(&key(order), claim(order)).await.unwrap() {
        Answer::Settled { code, result, .. } => (code, result),
        other => panic!("not settled: {other:?}"),
    }
}

async fn assert_omitted(ledger: &Sealing, order: u32) {
    assert_eq!(replayed(ledger, order).await, (Code::ResultOmitted, None));
    let read = entry(ledger, order).await;
    assert_eq!((read.state, read.result), (State::Done, None));
}

async fn lists(ledger: &Sealing) -> Vec<Vec<Entry>> {
    let filter = Filter::new(10);
    let mut lists = vec![ledger.page(&filter).await.unwrap().entries];
    if lists[0][0].state == State::Unknown {
        lists.push(ledger.unresolved(10).await.unwrap().entries);
        lists.push(ledger.due(10).await.unwrap().entries);
    }
    lists
}

fn already_done() -> (Code, Option<Box<[u8]>>) {
    (Code::AlreadyDone, Some(RESULT.into()))
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

const LEASE: Duration = Duration::from_secs(30);

const REQUEST: &[u8] = b"POST /refunds canary";

const RESULT: &[u8] = b"{\"id\":\"canary\"}";
