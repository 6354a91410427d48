//! Connections that break, and scripts that are gone.

use std::error::Error as _;
use std::time::Duration;

use tower_outcome_core::Code;
use tower_outcome_core::ledger::{Answer, Event, Ledger, LedgerError, State};
use tower_outcome_redis::RedisLedger;
use xtask::servers::{Redis, Server as _};

use crate::proxy::{Mode, Proxy};
use crate::support::{
    Place, Raw, applied, claim, done, doubt, entry, granted, key, release, send, unannounced,
};

#[tokio::test]
async fn a_server_without_the_script_is_given_it_again() {
    let server = Redis::start().unwrap();
    let place = Place::at(server.url());
    let ledger = place.ledger().await;
    let mut client = place.client().await;
    let mut flush = async || client.run(&["SCRIPT", "FLUSH"]).await;
    let grant = granted(&ledger, 1).await;
    flush().await;
    applied(&ledger, 1, send(grant.epoch)).await;
    flush().await;
    applied(&ledger, 1, doubt(grant.epoch)).await;
    flush().await;
    applied(&ledger, 1, done(grant.epoch, None)).await;
    assert_eq!(entry(&ledger, 1).await.state, State::Done);
}

#[tokio::test]
async fn a_connection_that_broke_while_nobody_asked_costs_nothing() {
    let server = Redis::start().unwrap();
    let place = Place::at(server.url());
    let ledger = place.ledger().await;
    let grant = granted(&ledger, 1).await;
    let mut client = place.client().await;
    for event in [
        send(grant.epoch),
        doubt(grant.epoch),
        done(grant.epoch, None),
    ] {
        kill_others(&mut client).await;
        // By the time that this is answered the end of the other connection has arrived as well.
        client.run(&["PING"]).await;
        applied(&ledger, 1, event).await;
    }
}

/// The server holds the change back until its connection is cut, so that it is lost.
#[tokio::test]
async fn a_change_that_was_lost_on_the_way_may_have_taken_effect_for_all_we_know() {
    let server = Redis::start().unwrap();
    let place = Place::at(server.url());
    let mut client = place.client().await;
    for (order, last) in steps() {
        let ledger = place.ledger().await;
        prepare(&ledger, order).await;
        let before = ledger.read(&key(order)).await.unwrap();

        client.run(&["CLIENT", "PAUSE", "600000", "WRITE"]).await;
        let cut = async {
            while !is_held_back(&mut client).await {}
            kill_others(&mut client).await;
            client.run(&["CLIENT", "UNPAUSE"]).await;
        };
        let key = key(order);
        let (lost, ()) = tokio::join!(ledger.apply(&key, last.clone()), cut);
        in_doubt(&lost.unwrap_err());

        assert_eq!(ledger.read(&key).await.unwrap(), before);
        ledger.apply(&key, last).await.unwrap();
    }
}

/// The change is made, and only its answer is lost.
#[tokio::test]
async fn a_change_whose_answer_was_lost_may_have_taken_effect_and_can_be_repeated() {
    for (order, last) in steps() {
        let (proxy, ledger) = proxied().await;
        prepare(&ledger, order).await;
        let key = key(order);
        let before = ledger.read(&key).await.unwrap();

        proxy.set(Mode::LoseAnswer);
        in_doubt(&ledger.apply(&key, last.clone()).await.unwrap_err());
        let after = ledger.read(&key).await.unwrap();
        assert_ne!(after, before, "the change was made");

        let again = ledger.apply(&key, last.clone()).await.unwrap();
        let expected = match last {
            // Nobody holds it: its lease frees it, or puts it in doubt.
            Event::Claim(_) => Answer::InProgress,
            _ => Answer::Applied,
        };
        assert_eq!(again, expected);
    }
}

#[tokio::test]
async fn a_send_whose_answer_was_lost_can_be_released() {
    let (proxy, ledger) = proxied().await;
    let grant = granted(&ledger, 1).await;
    proxy.set(Mode::LoseAnswer);
    in_doubt(&ledger.apply(&key(1), send(grant.epoch)).await.unwrap_err());
    applied(&ledger, 1, release(grant.epoch)).await;
    assert_eq!(entry(&ledger, 1).await.state, State::Free);
}

#[tokio::test]
async fn a_server_that_falls_silent_is_not_waited_for_and_is_given_up() {
    let (proxy, ledger) = proxied().await;
    let grant = granted(&ledger, 1).await;
    proxy.set(Mode::Silent);
    // With nothing else to do the paused clock goes on to the end of the wait.
    tokio::time::pause();
    in_doubt(&ledger.apply(&key(1), send(grant.epoch)).await.unwrap_err());
    tokio::time::resume();
    proxy.set(Mode::Open);
    applied(&ledger, 1, send(grant.epoch)).await;
    assert_eq!(proxy.connections(), 2);
}

#[tokio::test]
async fn a_server_that_falls_silent_while_it_is_connected_to_is_given_up() {
    let (proxy, ledger) = proxied().await;
    proxy.set(Mode::Silent);
    tokio::time::pause();
    for _ in 0..2 {
        let key = key(1);
        let asked = tokio::time::timeout(Duration::from_hours(1), ledger.read(&key)).await;
        asked.expect("it ends").unwrap_err();
    }
    tokio::time::resume();
    assert_eq!(proxy.connections(), 2);
    proxy.set(Mode::Open);
    granted(&ledger, 1).await;
}

#[tokio::test]
async fn those_who_wait_for_a_server_that_is_gone_do_not_all_knock() {
    let (proxy, ledger) = proxied().await;
    granted(&ledger, 1).await;
    proxy.set(Mode::Shut);
    // Finds the connection gone.
    ledger.read(&key(1)).await.unwrap_err();
    let before = proxy.connections();
    let key = key(1);
    let mut asked: Vec<_> = (0..50).map(|_| ledger.read(&key)).collect();
    std::future::poll_fn(|cx| {
        asked.retain_mut(|one| match one.as_mut().poll(cx) {
            std::task::Poll::Ready(answer) => {
                let error = answer.unwrap_err();
                assert_eq!(error.code(), Code::StoreUnavailable);
                false
            }
            std::task::Poll::Pending => true,
        });
        if asked.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    assert_eq!(proxy.connections() - before, 1);

    proxy.set(Mode::Open);
    assert_eq!(entry(&ledger, 1).await.state, State::Claimed);
}

/// One step of every kind, for an order that [`prepare`] has brought there.
fn steps() -> [(u32, Event); 4] {
    [
        (1, claim(1)),
        (2, unannounced(2)),
        (3, send(1)),
        (4, done(1, Some(b"{}"))),
    ]
}

async fn prepare(ledger: &RedisLedger, order: u32) {
    if order >= 3 {
        granted(ledger, order).await;
    }
    if order >= 4 {
        applied(ledger, order, send(1)).await;
    }
}

async fn proxied() -> (Proxy, RedisLedger) {
    let mut place = Place::new();
    let (proxy, url) = Proxy::start(&place.url).await;
    place.url = url;
    let ledger = place.ledger().await;
    // So that the script is there, and no answer is about that.
    ledger.apply(&key(999), unannounced(999)).await.unwrap();
    (proxy, ledger)
}

fn in_doubt(error: &LedgerError) {
    assert_eq!(error.code(), Code::StoreUnavailable);
    assert!(!error.is_fenced());
    let source = error.source().unwrap().to_string();
    assert!(source.contains("may have taken effect"), "{source}");
}

async fn kill_others(client: &mut Raw) {
    client
        .run(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"])
        .await;
}

async fn is_held_back(client: &mut Raw) -> bool {
    let info: String = client.ask(&["INFO", "clients"]).await;
    info.contains("blocked_clients:1")
}
