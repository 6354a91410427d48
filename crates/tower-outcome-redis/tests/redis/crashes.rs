//! A server that is killed and comes back, with `appendfsync always`.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{Mutex, watch};
use tower_outcome_core::Code;
use tower_outcome_core::ledger::{Answer, Ledger, State};
use xtask::servers::{Redis, Server as _};

use crate::support::{Place, applied, claim, done, doubt, entry, granted, key, send};

#[tokio::test]
async fn what_was_answered_outlives_a_crash_of_the_server_after_every_step() {
    let mut server = Redis::start().unwrap();
    let ledger = Place::at(server.url()).ledger().await;
    let grant = granted(&ledger, 1).await;
    for (event, state) in [
        (None, State::Claimed),
        (Some(send(grant.epoch)), State::Dispatching),
        (Some(doubt(grant.epoch)), State::Unknown),
        (Some(done(grant.epoch, Some(b"{}"))), State::Done),
    ] {
        if let Some(event) = event {
            applied(&ledger, 1, event).await;
        }
        let before = entry(&ledger, 1).await;
        assert_eq!(before.state, state);

        server.crash();
        let down = ledger.apply(&key(2), claim(2)).await.unwrap_err();
        assert_eq!(down.code(), Code::StoreUnavailable);
        assert!(!down.is_fenced());
        server.start_again().unwrap();
        assert_eq!(entry(&ledger, 1).await, before);
    }
    granted(&ledger, 2).await;
}

/// Eight ledgers claim and send without pause while the server is killed and comes back, thrice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_amid_changes_takes_nothing_back_and_makes_nothing_up() {
    let mut server = Redis::start().unwrap();
    let place = Place::at(server.url());
    let granted = Arc::new(Mutex::new(BTreeMap::new()));
    let (stop, stopped) = watch::channel(false);
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..8 {
        let ledger = place.ledger().await;
        let (granted, stopped) = (Arc::clone(&granted), stopped.clone());
        workers.spawn(async move {
            for order in worker * 1_000_000.. {
                if *stopped.borrow() {
                    return;
                }
                let claimed = ledger.apply(&key(order), claim(order)).await;
                let Ok(Answer::Granted(grant)) = claimed else {
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
        let stored = entry(&ledger, *order).await;
        assert_eq!(stored.epoch, *epoch);
        // A send whose answer was lost may have been taken down or not.
        let either = [State::Dispatching, State::Claimed];
        let allowed = if *sent { &either[..1] } else { &either };
        assert!(allowed.contains(&stored.state), "{:?}", stored.state);
    }
}
