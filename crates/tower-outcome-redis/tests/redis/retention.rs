//! What expires, and when.

use std::collections::BTreeSet;

use tower_outcome_core::Code;
use tower_outcome_core::ledger::{Answer, Ledger, State};

use crate::support::{
    Place, applied, claim, done, doubt, entry, granted, key, refused, release, send, unannounced,
};

#[tokio::test]
async fn what_may_still_be_in_the_making_never_expires() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let mut client = place.client().await;
    let mut never = async |name: &str| {
        let left: i64 = client.ask(&["PTTL", name]).await;
        assert_eq!(left, -1, "{name}");
    };
    // Also after it had ended once and had an expiry.
    for first in [None, Some(release(1)), Some(refused(1))] {
        let epoch = if first.is_some() { 2 } else { 1 };
        let order = 10 + u32::try_from(epoch).unwrap();
        let place_of = place.entry(order);
        if let Some(ended) = first {
            let before = granted(&ledger, order).await;
            assert_eq!(before.epoch, 1);
            applied(&ledger, order, ended).await;
        }
        granted(&ledger, order).await;
        never(&place_of).await;
        applied(&ledger, order, send(epoch)).await;
        never(&place_of).await;
        applied(&ledger, order, doubt(epoch)).await;
        never(&place_of).await;
        never(&place.result(order)).await;
        let mut client = place.client().await;
        client.run(&["DEL", &place_of, &place.result(order)]).await;
        // Nobody remembers it any more.
        applied(&ledger, order, done(epoch, None)).await;
        client.run(&["DEL", &place_of]).await;
    }
    ledger.apply(&key(3), unannounced(3)).await.unwrap();
    never(&place.entry(3)).await;
}

#[tokio::test]
async fn what_has_ended_is_kept_for_400_days_and_its_result_for_one() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let mut client = place.client().await;
    for (order, event) in [(1, done(1, Some(b"{}"))), (2, refused(1)), (3, release(1))] {
        granted(&ledger, order).await;
        applied(&ledger, order, event).await;
        let left: u64 = client.ask(&["PTTL", &place.entry(order)]).await;
        assert!((399 * DAY..=400 * DAY).contains(&left), "{left}");
    }
    let left: u64 = client.ask(&["PTTL", &place.result(1)]).await;
    assert!((DAY - DAY / 24..=DAY).contains(&left), "{left}");
}

#[tokio::test]
async fn a_result_that_has_expired_leaves_the_fact_behind() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let grant = granted(&ledger, 1).await;
    applied(&ledger, 1, done(grant.epoch, Some(b"{}"))).await;
    place.client().await.run(&["DEL", &place.result(1)]).await;
    let again = ledger.apply(&key(1), claim(1)).await.unwrap();
    let Answer::Settled { code, result, .. } = again else {
        panic!("{again:?}");
    };
    assert_eq!((code, result), (Code::ResultOmitted, None));
    assert_eq!(entry(&ledger, 1).await.state, State::Done);
}

#[tokio::test]
async fn nothing_is_left_of_a_result_that_no_longer_counts() {
    let place = Place::new();
    let ledger = place.ledger().await;
    for (order, event) in [(1, done(1, None)), (2, refused(1)), (3, release(1))] {
        granted(&ledger, order).await;
        applied(&ledger, order, doubt(1)).await;
        applied(&ledger, order, event).await;
    }
    let pattern = format!("{{{}}}:*", place.prefix);
    let keys: BTreeSet<String> = place.client().await.ask(&["KEYS", &pattern]).await;
    let entries: BTreeSet<String> = (1..=3).map(|order| place.entry(order)).collect();
    assert_eq!(keys, entries);
}

/// There is no moment at which an entry has not yet the expiry that it is to have, and the other
/// way round: one command says both.
#[tokio::test]
async fn no_command_of_the_ledger_sets_an_expiry_by_itself() {
    let place = Place::new();
    let ledger = place.ledger().await;
    for order in 1..=3 {
        let grant = granted(&ledger, order).await;
        applied(&ledger, order, doubt(grant.epoch)).await;
        applied(&ledger, order, done(grant.epoch, Some(b"{}"))).await;
    }
    let stats: String = place.client().await.ask(&["INFO", "commandstats"]).await;
    for command in ["expire", "pexpire", "expireat", "pexpireat", "persist"] {
        assert!(!stats.contains(&format!("cmdstat_{command}:")), "{stats}");
    }
}

#[tokio::test]
async fn a_full_server_refuses_claims_and_keeps_what_it_has() {
    let server = xtask::servers::Redis::start().unwrap();
    let place = Place::at(xtask::servers::Server::url(&server));
    let ledger = place.ledger().await;
    granted(&ledger, 1).await;
    let mut client = place.client().await;
    client.run(&["CONFIG", "SET", "maxmemory", "1"]).await;
    for claim in [claim(2), unannounced(2)] {
        let error = ledger.apply(&key(2), claim).await.unwrap_err();
        assert_eq!(error.code(), Code::StoreFull);
    }
    assert_eq!(entry(&ledger, 1).await.state, State::Claimed);
    client.run(&["CONFIG", "SET", "maxmemory", "0"]).await;
    granted(&ledger, 2).await;
}

/// In milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;
