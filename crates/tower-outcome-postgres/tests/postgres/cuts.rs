use std::error::Error as _;
use std::fmt::Debug;
use std::time::Duration;

use tower_outcome_core::Code;
use tower_outcome_core::ledger::{Answer, Ledger, LedgerError, LedgerFuture, State};

use crate::proxy::{Cut, Proxy};
use crate::support::{claim, granted, key};

#[tokio::test]
async fn a_change_whose_answer_is_lost_says_that_it_may_have_taken_effect() {
    let (proxy, place) = Proxy::before_a_place().await;
    let ledger = place.ledger().await;
    granted(&ledger, 1).await;

    proxy.cut(Cut::Answer);
    let lost = ledger.apply(&key(2), claim(2)).await.unwrap_err();
    assert!(may_have_taken_effect(&lost), "{lost:?}");
    assert_eq!(lost.code(), Code::StoreUnavailable);
    // The next question is asked over another connection, and the change is there.
    let entry = ledger.read(&key(2)).await.unwrap().unwrap();
    assert_eq!((entry.state, entry.epoch), (State::Claimed, 1));
}

#[tokio::test]
async fn wherever_a_request_is_cut_the_change_is_made_once_or_not_at_all() {
    let (proxy, place) = Proxy::before_a_place().await;
    let ledger = place.ledger().await;
    let watcher = place.ledger().await;
    // Steps that share no factor with the protocol's fields, so as to hit all kinds of bytes.
    for (order, after) in (0..).zip((0..).step_by(13)) {
        // Has the connection open, so that the cut hits the claim.
        ledger.read(&key(order)).await.unwrap();
        proxy.cut(Cut::Request(after));
        let claimed = ledger.apply(&key(order), claim(order)).await;
        if !proxy.has_cut() {
            assert!(matches!(claimed, Ok(Answer::Granted(_))));
            assert!(order > 20, "the request is longer than that");
            return;
        }
        let lost = claimed.unwrap_err();
        assert!(may_have_taken_effect(&lost), "{lost:?}");
        let entry = watcher.read(&key(order)).await.unwrap();
        assert_eq!(entry, None, "a request without its end does nothing");
        granted(&ledger, order).await;
    }
}

#[tokio::test]
async fn a_server_that_falls_silent_is_given_up_and_asked_anew() {
    let (proxy, place) = Proxy::before_a_place().await;
    let ledger = place.ledger().await;
    let key = key(1);
    let lost = given_up(&proxy, ledger.apply(&key, claim(1))).await;
    assert!(may_have_taken_effect(&lost), "{lost:?}");
    let entry = ledger.read(&key).await.unwrap().unwrap();
    assert_eq!(entry.state, State::Claimed);
}

#[tokio::test]
async fn a_server_that_falls_silent_while_it_is_connected_to_is_given_up() {
    let (proxy, place) = Proxy::before_a_place().await;
    let ledger = place.ledger().await;
    proxy.cut(Cut::Answer);
    ledger.read(&key(1)).await.unwrap_err();
    given_up(&proxy, ledger.read(&key(1))).await;
    given_up(&proxy, ledger.due(1)).await;
    given_up(&proxy, ledger.counts()).await;
    granted(&ledger, 1).await;
    ledger.counts().await.unwrap();
}

#[tokio::test]
async fn a_server_that_falls_silent_in_a_list_keeps_nobody_from_the_next() {
    let (proxy, place) = Proxy::before_a_place().await;
    let ledger = place.ledger().await;
    ledger.due(1).await.unwrap();
    given_up(&proxy, ledger.due(1)).await;
    ledger.due(1).await.unwrap();
}

/// What becomes of a question whose answer does not come.
async fn given_up<T: Debug>(proxy: &Proxy, mut asked: LedgerFuture<'_, T>) -> LedgerError {
    proxy.cut(Cut::Silence);
    while !proxy.has_cut() {
        assert!(poll_once(asked.as_mut()).await.is_pending());
        tokio::task::yield_now().await;
    }
    // From here on only the ledger's own patience can end it.
    tokio::time::pause();
    let ended = tokio::time::timeout(Duration::from_hours(1), asked).await;
    tokio::time::resume();
    ended.expect("it ends").unwrap_err()
}

async fn poll_once<F: Future + Unpin>(mut future: F) -> std::task::Poll<F::Output> {
    std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut future).poll(cx)))
        .await
}

fn may_have_taken_effect(error: &LedgerError) -> bool {
    let source = error.source().unwrap().to_string();
    source.contains("may have taken effect")
}
