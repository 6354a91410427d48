//! Connections that break, and scripts that are gone.

use tower_outcome_core::Code;
use tower_outcome_core::ledger::{Event, Ledger, LedgerError, State};
use tower_outcome_redis::RedisLedger;
use xtask::servers::{Redis, Server as _};

use crate::support::{
    Place, Raw, applied, claim, done, doubt, entry, granted, key, send, unannounced,
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
async fn a_connection_that_broke_in_silence_costs_nothing() {
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
        client
            .run(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"])
            .await;
        // Until we have heard of it.
        while clients(&mut client).await > 1 {}
        tokio::task::yield_now().await;
        ledger.read(&key(1)).await.ok();
        applied(&ledger, 1, event).await;
    }
}

/// The server holds every write back, the connection is cut, and the write is let through or not.
#[tokio::test]
async fn a_lost_answer_is_an_error_that_says_the_change_may_have_taken_effect() {
    let server = Redis::start().unwrap();
    let place = Place::at(server.url());
    for (order, events) in [
        (1, vec![claim(1)]),
        (2, vec![unannounced(2)]),
        (3, vec![claim(3), send(1)]),
        (4, vec![claim(4), send(1), done(1, Some(b"{}"))]),
    ] {
        let ledger = place.ledger().await;
        let (last, first) = events.split_last().unwrap();
        for event in first {
            ledger.apply(&key(order), event.clone()).await.unwrap();
        }
        let before = ledger.read(&key(order)).await.unwrap();
        let error = cut(&place, &ledger, order, last.clone()).await;
        assert_eq!(error.code(), Code::StoreUnavailable);
        assert!(!error.is_fenced());
        let shown = format!(
            "{:?} {error}",
            std::error::Error::source(&error).map(ToString::to_string)
        );
        assert!(shown.contains("may have taken effect"), "{shown}");

        // The next question finds another connection, and the same step again does no harm.
        let after = ledger.read(&key(order)).await.unwrap();
        assert_eq!(
            after, before,
            "a write that was held back is gone with its connection"
        );
        ledger.apply(&key(order), last.clone()).await.unwrap();
    }
}

/// Applies an event whose connection is cut while the server holds it back.
async fn cut(place: &Place, ledger: &RedisLedger, order: u32, event: Event) -> LedgerError {
    let mut client = place.client().await;
    client.run(&["CLIENT", "PAUSE", "600000", "WRITE"]).await;
    let key = key(order);
    let cut = async {
        while blocked(&mut client).await == 0 {}
        client
            .run(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"])
            .await;
        client.run(&["CLIENT", "UNPAUSE"]).await;
    };
    let (applied, ()) = tokio::join!(ledger.apply(&key, event), cut);
    applied.unwrap_err()
}

async fn blocked(client: &mut Raw) -> u32 {
    field(client, "blocked_clients").await
}

async fn clients(client: &mut Raw) -> u32 {
    field(client, "connected_clients").await
}

async fn field(client: &mut Raw, name: &str) -> u32 {
    let info: String = client.ask(&["INFO", "clients"]).await;
    let mut lines = info.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.unwrap().parse().unwrap()
}
