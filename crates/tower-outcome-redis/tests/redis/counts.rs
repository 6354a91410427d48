use std::collections::BTreeMap;

use tower_outcome_core::ledger::{Answer, Ledger};
use tower_outcome_redis::RedisLedger;
use xtask::servers::{Redis, Server as _};

use crate::support::{Place, Raw, applied, claim, done, granted, key, release, send, unannounced};

#[tokio::test]
async fn a_claim_and_its_end_are_one_command_each() {
    let mut counted = Counted::start().await;
    let grant = granted(&counted.ledger, 1).await;
    assert_eq!(counted.calls().await, ["set 1"]);
    applied(&counted.ledger, 1, done(grant.epoch, None)).await;
    let end = ["evalsha 1", "get 1", "set 1", "time 1"];
    assert_eq!(counted.calls().await, end);
}

#[tokio::test]
async fn a_send_that_is_announced_is_one_command_more() {
    let mut counted = Counted::start().await;
    let grant = granted(&counted.ledger, 1).await;
    counted.calls().await;
    applied(&counted.ledger, 1, send(grant.epoch)).await;
    let sent = ["evalsha 1", "get 1", "set 1", "time 1", "zadd 2"];
    assert_eq!(counted.calls().await, sent);
    applied(&counted.ledger, 1, done(grant.epoch, Some(b"{}"))).await;
    let end = ["evalsha 1", "get 1", "set 2", "time 1", "zrem 2"];
    assert_eq!(counted.calls().await, end);
}

#[tokio::test]
async fn a_claim_without_an_announcement_is_one_command_and_listed_by_it() {
    let mut counted = Counted::start().await;
    let answer = counted.ledger.apply(&key(1), unannounced(1)).await.unwrap();
    assert!(matches!(answer, Answer::Granted(_)));
    let claimed = ["evalsha 1", "get 1", "set 1", "time 1", "zadd 2"];
    assert_eq!(counted.calls().await, claimed);
}

#[tokio::test]
async fn an_identical_call_asks_once_and_writes_nothing() {
    let mut counted = Counted::start().await;
    let other = counted.place.ledger().await;
    granted(&counted.ledger, 1).await;
    counted.calls().await;
    // The holder's own process, and another one.
    for (ledger, command) in [(&counted.ledger, "mget 1"), (&other, "set 1")] {
        let answer = ledger.apply(&key(1), claim(1)).await.unwrap();
        assert_eq!(answer, Answer::InProgress);
        assert_eq!(calls(&mut counted.client).await, [command]);
    }
}

#[tokio::test]
async fn a_stored_answer_takes_two_commands_and_one_without_its_result() {
    let mut counted = Counted::start().await;
    for (order, result, commands) in [
        (1, Some(b"{}".as_slice()), &["mget 1", "set 1"][..]),
        (2, None, &["set 1"]),
    ] {
        let grant = granted(&counted.ledger, order).await;
        applied(&counted.ledger, order, done(grant.epoch, result)).await;
        counted.calls().await;
        let again = counted.ledger.apply(&key(order), claim(order)).await;
        assert!(matches!(again.unwrap(), Answer::Settled { .. }));
        assert_eq!(counted.calls().await, commands);
    }
}

#[tokio::test]
async fn what_another_process_holds_is_looked_at_before_it_is_changed() {
    let mut counted = Counted::start().await;
    let other = counted.place.ledger().await;
    let grant = granted(&counted.ledger, 1).await;
    counted.calls().await;
    applied(&other, 1, release(grant.epoch)).await;
    let looked = ["evalsha 1", "get 1", "mget 1", "set 1", "time 1"];
    assert_eq!(counted.calls().await, looked);
    // What the first one remembers is out of date, which the script tells it.
    let again = granted(&counted.ledger, 1).await;
    assert_eq!(again.epoch, grant.epoch + 1);
}

#[tokio::test]
async fn the_list_of_what_is_in_doubt_reads_nothing_else() {
    let mut counted = Counted::start().await;
    for order in 0..20 {
        let grant = granted(&counted.ledger, order).await;
        applied(&counted.ledger, order, done(grant.epoch, None)).await;
    }
    counted.calls().await;
    assert_eq!(counted.ledger.unresolved(10).await.unwrap().entries, []);
    assert_eq!(counted.calls().await, ["zrange 1"]);
}

/// A server of its own, whose commands are counted.
struct Counted {
    place: Place,
    ledger: RedisLedger,
    client: Raw,
    _server: Redis,
}

impl Counted {
    async fn start() -> Self {
        let server = Redis::start().unwrap();
        let place = Place::at(server.url());
        let ledger = place.ledger().await;
        // So that the script is there.
        ledger.apply(&key(999), unannounced(999)).await.unwrap();
        applied(&ledger, 999, done(1, None)).await;
        let mut client = place.client().await;
        calls(&mut client).await;
        Self {
            place,
            ledger,
            client,
            _server: server,
        }
    }

    async fn calls(&mut self) -> Vec<String> {
        calls(&mut self.client).await
    }
}

/// The commands since the last look, and how often each was called, in the order of their names.
async fn calls(client: &mut Raw) -> Vec<String> {
    let stats: String = client.ask(&["INFO", "commandstats"]).await;
    client.run(&["CONFIG", "RESETSTAT"]).await;
    let lines = stats.lines().filter_map(|line| {
        let (name, figures) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        Some((name, figures.split_once(',')?.0))
    });
    let ours = ["client", "config", "hello", "info"];
    let lines: BTreeMap<&str, &str> = lines
        .filter(|(name, _)| !ours.iter().any(|it| name.starts_with(it)))
        .collect();
    let lines = lines.into_iter();
    lines
        .map(|(name, calls)| format!("{name} {calls}"))
        .collect()
}
