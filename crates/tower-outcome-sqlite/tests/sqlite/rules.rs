use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tower_outcome_core::Code;
use tower_outcome_core::ledger::{Answer, Ending, Event, Ledger, State, conformance};
use tower_outcome_sqlite::SqliteLedger;

use crate::support::{Dir, claim, granted, key};

#[tokio::test]
async fn keeps_every_rule_of_a_ledger() {
    let dir = Dir::new();
    let count = std::cell::Cell::new(0);
    conformance::run(async |clock| {
        count.set(count.get() + 1);
        let path = dir.path().join(format!("{}.sqlite", count.get()));
        SqliteLedger::open_with_clock(path, move || clock.now()).unwrap()
    })
    .await;
}

#[tokio::test]
async fn keeps_every_rule_of_a_ledger_that_is_shared() {
    let dir = Dir::new();
    conformance::run_shared(async |clock, number| {
        let path = dir.path().join(format!("{number}.sqlite"));
        SqliteLedger::open_with_clock(path, move || clock.now()).unwrap()
    })
    .await;
}

#[tokio::test]
async fn what_was_answered_is_there_after_a_reopen() {
    let dir = Dir::new();
    let ledger = SqliteLedger::open(dir.file()).unwrap();
    let grant = granted(&ledger, 7).await;
    let settle = Event::Settle {
        epoch: grant.epoch,
        ending: Ending::Done {
            code: Code::Done,
            result: Some(b"{\"id\":1}".as_slice().into()),
        },
    };
    ledger.apply(&key(7), settle).await.unwrap();
    let before = ledger.read(&key(7)).await.unwrap();
    drop(ledger);

    let reopened = SqliteLedger::open(dir.file()).unwrap();
    assert_eq!(reopened.read(&key(7)).await.unwrap(), before);
    let again = reopened.apply(&key(7), claim(7)).await.unwrap();
    assert!(matches!(
        again,
        Answer::Settled {
            code: Code::AlreadyDone,
            ..
        }
    ));
}

#[tokio::test]
async fn two_handles_on_one_file_see_each_other() {
    let dir = Dir::new();
    let one = SqliteLedger::open(dir.file()).unwrap();
    let other = SqliteLedger::open(dir.file()).unwrap();
    let grant = granted(&one, 7).await;
    let lost = other.apply(&key(7), claim(7)).await.unwrap();
    assert_eq!(lost, Answer::InProgress);

    let code = Code::NotSent;
    let epoch = grant.epoch;
    let release = Event::Release { epoch, code };
    one.apply(&key(7), release.clone()).await.unwrap();
    let next = granted(&other, 7).await;
    assert_eq!(next.epoch, grant.epoch + 1);
    let stale = one.apply(&key(7), release).await.unwrap_err();
    assert!(stale.is_fenced());
}

#[tokio::test]
async fn what_is_queued_together_is_answered_one_by_one() {
    let dir = Dir::new();
    let ledger = SqliteLedger::open(dir.file()).unwrap();
    let mut holder = Connection::open(dir.file()).unwrap();
    let held = hold(&mut holder);
    let (zero, one, two, three) = (key(0), key(1), key(2), key(3));
    let not_claimed = Event::Find { result: None };
    let mut asked = pin!(async {
        tokio::join!(
            ledger.apply(&zero, claim(0)),
            ledger.apply(&one, claim(1)),
            ledger.apply(&two, not_claimed),
            ledger.apply(&one, claim(1)),
            ledger.apply(&three, claim(3)),
        )
    });
    // All but the first few meet in one transaction, which cannot begin yet.
    assert!(poll_once(asked.as_mut()).is_pending());
    held.commit().unwrap();

    let (_, first, illegal, second, third) = asked.await;
    assert!(matches!(first.unwrap(), Answer::Granted(_)));
    assert_eq!(second.unwrap(), Answer::InProgress);
    assert!(illegal.unwrap_err().is_fenced());
    assert!(matches!(third.unwrap(), Answer::Granted(_)));
    for order in [0, 1, 3] {
        let entry = ledger.read(&key(order)).await.unwrap();
        assert_eq!(entry.map(|entry| entry.state), Some(State::Claimed));
    }
}

#[tokio::test]
async fn what_was_asked_is_done_though_nobody_waits_and_the_ledger_is_dropped() {
    let dir = Dir::new();
    let ledger = SqliteLedger::open(dir.file()).unwrap();
    // Holds the file, so that the claims are still queued when the ledger is dropped.
    let mut holder = Connection::open(dir.file()).unwrap();
    let held = hold(&mut holder);
    for order in 0..3 {
        let key = key(order);
        let asked = pin!(ledger.apply(&key, claim(order)));
        assert!(poll_once(asked).is_pending());
    }
    drop(ledger);
    held.commit().unwrap();

    // The last one to close the file removes its log, which tells that the thread has ended.
    drop(holder);
    while dir.path().join("ledger.sqlite-wal").exists() {
        std::thread::yield_now();
    }
    let reopened = SqliteLedger::open(dir.file()).unwrap();
    for order in 0..3 {
        let entry = reopened.read(&key(order)).await.unwrap();
        assert_eq!(entry.map(|entry| entry.state), Some(State::Claimed));
    }
}

#[tokio::test]
async fn a_store_that_fails_is_unavailable_and_recovers() {
    let dir = Dir::new();
    let ledger = SqliteLedger::open(dir.file()).unwrap();
    granted(&ledger, 1).await;
    let other = Connection::open(dir.file()).unwrap();
    other
        .execute_batch("ALTER TABLE entries RENAME TO elsewhere")
        .unwrap();
    let error = ledger.apply(&key(2), claim(2)).await.unwrap_err();
    assert_eq!(error.code(), Code::StoreUnavailable);
    assert!(!error.is_fenced());

    other
        .execute_batch("ALTER TABLE elsewhere RENAME TO entries")
        .unwrap();
    granted(&ledger, 2).await;
}

/// Keeps every other writer waiting until it is committed.
fn hold(holder: &mut Connection) -> Transaction<'_> {
    let behavior = TransactionBehavior::Immediate;
    holder.transaction_with_behavior(behavior).unwrap()
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}
