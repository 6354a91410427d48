use std::error::Error as _;

use tower_outcome_core::Code;
use tower_outcome_core::ledger::entry::TOMBSTONE_RETENTION;
use tower_outcome_core::ledger::{Event, Ledger as _, LedgerError, Timestamp};
use tower_outcome_redis::{Persistence, RedisLedger, Settings};
use xtask::servers::{Redis, Server as _};

use crate::support::{Place, key};

#[tokio::test]
async fn a_url_that_cannot_be_read_is_refused_without_showing_it() {
    for url in [
        "hunter2",
        "redis://agent:hunter2@cache:54x32",
        "http://agent:hunter2@cache/0",
        "redis://agent:hunter2@cache/hunter2",
        "rediss://agent:hunter2@cache/0",
    ] {
        refused(&Settings::new(url).unwrap_err(), "cannot be read");
    }
}

#[tokio::test]
async fn a_prefix_that_cannot_be_a_hash_tag_is_refused() {
    for prefix in ["", "a}b", "{a"] {
        let settings = Place::new().settings().with_prefix(prefix);
        refused(&settings.connect().await.unwrap_err(), "prefix");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_as_such() {
    let port = xtask::servers::free_port().unwrap();
    let url = format!("redis://agent:hunter2@127.0.0.1:{port}/0");
    let error = RedisLedger::connect(&url).await.unwrap_err();
    refused(&error, "cannot be reached");
    assert!(error.source().is_some());
}

#[tokio::test]
async fn a_wrong_password_and_none_are_refused_without_showing_them() {
    let place = Place::new();
    let (_, server) = place.url.split_once('@').unwrap();
    for user in [":hunter2@", "agent:hunter2@", ""] {
        let url = format!("redis://{user}{server}");
        let error = RedisLedger::connect(&url).await.unwrap_err();
        refused(&error, "user or password");
    }
}

#[tokio::test]
async fn a_user_without_rights_is_told_so_and_one_with_those_of_the_documentation_is_enough() {
    let server = Redis::start().unwrap();
    let place = Place::at(server.url());
    let mut client = place.client().await;
    let pattern = format!("~{{{}}}:*", place.prefix);
    let (_, host) = place.url.split_once('@').unwrap();
    let url = format!("redis://agent:hunter2@{host}");
    let settings = || Settings::new(&url).unwrap().with_prefix(&place.prefix);

    client
        .run(&["ACL", "SETUSER", "agent", "on", ">hunter2", "+hello"])
        .await;
    refused(&settings().connect().await.unwrap_err(), "lacks a right");

    let mut rights = vec!["ACL", "SETUSER", "agent", &pattern];
    rights.extend(RIGHTS.split_whitespace());
    client.run(&rights).await;
    let later = || Timestamp::now().after(TOMBSTONE_RETENTION * 2);
    let ledger = settings().connect().await.unwrap();
    let (of, shared) = (key(2).key, false);
    crate::support::applied(&ledger, 3, Event::Alias { of, shared }).await;
    let grant = crate::support::granted(&ledger, 1).await;
    crate::support::applied(&ledger, 1, crate::support::doubt(grant.epoch)).await;
    crate::support::applied(&ledger, 1, crate::support::done(grant.epoch, None)).await;
    assert_eq!(ledger.unresolved(1).await.unwrap().entries, []);
    let purging = settings().with_clock(later).connect().await.unwrap();
    assert_eq!(purging.purge(10).await.unwrap(), 1);
    assert_eq!(ledger.counts().await.unwrap().total(), 1);
    assert_eq!(ledger.persistence(), Persistence::EveryWrite);
}

#[tokio::test]
async fn a_server_that_evicts_keys_is_refused() {
    for policy in ["allkeys-lru", "volatile-ttl"] {
        let server = Redis::start_with(&["--maxmemory-policy", policy]).unwrap();
        let error = RedisLedger::connect(&server.url()).await.unwrap_err();
        refused(&error, "noeviction");
        assert!(error.to_string().contains(policy));
    }
}

#[tokio::test]
async fn a_node_of_a_cluster_is_refused() {
    let server = Redis::start_with(&["--cluster-enabled", "yes"]).unwrap();
    let error = RedisLedger::connect(&server.url()).await.unwrap_err();
    refused(&error, "node of a cluster");
}

#[tokio::test]
async fn a_replica_is_refused() {
    let primary = Redis::start().unwrap();
    let port = primary.url().rsplit([':', '/']).nth(1).unwrap().to_owned();
    let server = Redis::start_with(&["--replicaof", &format!("127.0.0.1 {port}")]).unwrap();
    let error = RedisLedger::connect(&server.url()).await.unwrap_err();
    refused(&error, "is a replica");
}

#[tokio::test]
async fn what_a_crash_can_take_back_is_told() {
    for (settings, told) in [
        (&["--appendfsync", "always"][..], Persistence::EveryWrite),
        (&["--appendfsync", "everysec"], Persistence::EverySecond),
        (&["--appendfsync", "no"], Persistence::System),
        (&["--appendonly", "no"], Persistence::Snapshots),
        (&["--rename-command", "CONFIG", ""], Persistence::Untold),
    ] {
        let server = Redis::start_with(settings).unwrap();
        let ledger = RedisLedger::connect(&server.url()).await.unwrap();
        assert_eq!(ledger.persistence(), told);
    }
}

#[tokio::test]
async fn nothing_that_is_shown_holds_the_password() {
    let place = Place::new();
    let password = place.url.split([':', '@']).nth(2).unwrap().to_owned();
    assert!(password.len() > 20);
    let settings = format!("{:?}", place.settings());
    let shown = format!("{settings} {:?}", place.ledger().await);
    assert!(!shown.contains(&password), "{shown}");
    assert!(settings.contains(&place.prefix));
}

fn refused(error: &LedgerError, because: &str) {
    assert!(error.to_string().contains(because), "{error:?}");
    assert_eq!(error.code(), Code::StoreUnavailable);
    let source = error.source().map(ToString::to_string).unwrap_or_default();
    for shown in [error.to_string(), source, format!("{error:?}")] {
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(!shown.contains("agent"), "{shown}");
    }
}

/// As they stand in the documentation of the crate.
const RIGHTS: &str = "+set +get +mget +del +zadd +zrem +zrange +scan +evalsha +script|load +time \
     +info +config|get +hello";
