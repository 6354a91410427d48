use tower_outcome_core::Code;
use tower_outcome_core::ledger::{Answer, Ending, Event, Ledger};

use crate::proxy::Proxy;
use crate::support::{claim, granted, key, send};

#[tokio::test]
async fn a_claim_and_its_end_are_two_statements_and_two_round_trips() {
    let (proxy, ledger) = counted().await;
    let grant = granted(&ledger, 1).await;
    assert_eq!(proxy.count(), (1, 1));
    ledger.apply(&key(1), done(grant.epoch)).await.unwrap();
    assert_eq!(proxy.count(), (1, 1));
}

#[tokio::test]
async fn a_send_that_is_announced_is_one_statement_more() {
    let (proxy, ledger) = counted().await;
    let grant = granted(&ledger, 1).await;
    proxy.count();
    ledger.apply(&key(1), send(grant.epoch)).await.unwrap();
    assert_eq!(proxy.count(), (1, 1));
    ledger.apply(&key(1), done(grant.epoch)).await.unwrap();
    assert_eq!(proxy.count(), (1, 1));
}

#[tokio::test]
async fn a_stored_answer_is_one_statement_and_writes_nothing() {
    let (proxy, ledger) = counted().await;
    let grant = granted(&ledger, 1).await;
    ledger.apply(&key(1), done(grant.epoch)).await.unwrap();
    proxy.count();
    let again = ledger.apply(&key(1), claim(1)).await.unwrap();
    assert!(matches!(again, Answer::Settled { .. }));
    assert_eq!(proxy.count(), (1, 1));
}

#[tokio::test]
async fn what_waits_shares_one_statement_and_so_one_commit() {
    let (proxy, ledger) = counted().await;
    // On this runtime all of them are queued before the ledger's task runs.
    let answers = all(200, async |order| {
        granted(&ledger, order).await;
    });
    answers.await;
    assert_eq!(proxy.count(), (1, 1));
    let answers = all(200, async |order| {
        ledger.apply(&key(order), done(1)).await.unwrap();
    });
    answers.await;
    assert_eq!(proxy.count(), (1, 1));
}

#[tokio::test]
async fn questions_about_one_entry_are_answered_in_their_order_by_one_statement() {
    let (proxy, ledger) = counted().await;
    let key = key(1);
    let (claimed, twin, sent, ended, read, late) = tokio::join!(
        ledger.apply(&key, claim(1)),
        ledger.apply(&key, claim(1)),
        ledger.apply(&key, send(1)),
        ledger.apply(&key, done(1)),
        ledger.read(&key),
        ledger.apply(&key, send(1)),
    );
    assert!(matches!(claimed.unwrap(), Answer::Granted(_)));
    assert_eq!(twin.unwrap(), Answer::InProgress);
    assert_eq!(sent.unwrap(), Answer::Applied);
    assert_eq!(ended.unwrap(), Answer::Applied);
    assert_eq!(read.unwrap().unwrap().code, Some(Code::Done));
    assert!(late.unwrap_err().is_fenced());
    assert_eq!(proxy.count(), (1, 1));
}

/// A ledger whose statements are counted.
async fn counted() -> (Proxy, tower_outcome_postgres::PostgresLedger) {
    let (proxy, place) = Proxy::before_a_place().await;
    let ledger = place.ledger().await;
    proxy.count();
    (proxy, ledger)
}

/// Asks about that many orders at once.
async fn all(orders: u32, ask: impl AsyncFn(u32)) {
    let mut asked: Vec<_> = (0..orders).map(|order| Box::pin(ask(order))).collect();
    std::future::poll_fn(|cx| {
        asked.retain_mut(|one| one.as_mut().poll(cx).is_pending());
        if asked.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}

fn done(epoch: u64) -> Event {
    let code = Code::Done;
    let result = None;
    let ending = Ending::Done { code, result };
    Event::Settle { epoch, ending }
}
