use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::Mutex;
use tower_outcome_core::Code;
use tower_outcome_core::ledger::{Answer, Ledger, State};
use xtask::servers::{Postgres, Server as _};

use crate::support::{Place, claim, granted, key, send};

#[tokio::test]
async fn what_was_answered_outlives_a_crash_of_the_server() {
    let mut server = Postgres::start().unwrap();
    let ledger = Place::at(server.url()).ledger().await;
    let grant = granted(&ledger, 1).await;
    ledger.apply(&key(1), send(grant.epoch)).await.unwrap();
    let before = ledger.read(&key(1)).await.unwrap();

    server.crash();
    let down = ledger.apply(&key(2), claim(2)).await.unwrap_err();
    assert_eq!(down.code(), Code::StoreUnavailable);
    assert!(!down.is_fenced());

    server.start_again().unwrap();
    assert_eq!(ledger.read(&key(1)).await.unwrap(), before);
    granted(&ledger, 2).await;
}

/// Eight ledgers claim and send without pause while the server crashes and comes back, thrice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_amid_changes_takes_nothing_back_and_makes_nothing_up() {
    let mut server = Postgres::start().unwrap();
    let place = Place::at(server.url());
    let granted = Arc::new(Mutex::new(BTreeMap::new()));
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..8 {
        let ledger = place.ledger().await;
        let (granted, stopped) = (Arc::clone(&granted), stopped.clone());
        workers.spawn(async move {
            for number in 0.. {
                if *stopped.borrow() {
                    return;
                }
                let order = worker * 1_000_000 + number;
                let Ok(Answer::Granted(grant)) = ledger.apply(&key(order), claim(order)).await
                else {
                    continue;
                };
                let sent = ledger.apply(&key(order), send(grant.epoch)).await.is_ok();
                granted.lock().await.insert(order, (grant.epoch, sent));
            }
        });
    }
    for crash in 1..=3 {
        // Whatever is under way by then.
        while granted.lock().await.len() < crash * 200 {
            tokio::task::yield_now().await;
        }
        server.crash();
        server.start_again().unwrap();
    }
    stop.send(true).unwrap();
    workers.join_all().await;

    let ledger = place.ledger().await;
    for (order, (epoch, sent)) in &*granted.lock().await {
        let entry = ledger.read(&key(*order)).await.unwrap().unwrap();
        assert_eq!(entry.epoch, *epoch);
        // A send whose answer was lost may have been taken down or not.
        let sent_states = [State::Dispatching];
        let either = [State::Claimed, State::Dispatching];
        let allowed = if *sent { &sent_states[..] } else { &either };
        assert!(allowed.contains(&entry.state), "{:?}", entry.state);
    }
}

#[tokio::test]
async fn commits_are_fewer_than_what_they_hold() {
    let server = Postgres::start().unwrap();
    let place = Place::at(server.url());
    let ledger = Arc::new(place.ledger().await);
    let client = place.client().await;
    let transactions = async || {
        let row = client
            .query_one("SELECT pg_current_xact_id()::text::int8", &[])
            .await;
        row.unwrap().get::<_, i64>(0)
    };
    let before = transactions().await;
    let mut claims = tokio::task::JoinSet::new();
    for order in 0..1000 {
        let ledger = Arc::clone(&ledger);
        claims.spawn(async move { granted(&ledger, order).await });
    }
    claims.join_all().await;
    // One of them is the count's own.
    let commits = transactions().await - before - 1;
    assert!(commits <= 4, "{commits} commits for 1000 claims");
}
