use std::sync::atomic::{AtomicUsize, Ordering};

use tower_outcome_core::Code;
use tower_outcome_core::ledger::{
    Answer, EntryKey, Event, Ledger, LedgerFuture, State, conformance,
};
use tower_outcome_redis::RedisLedger;

use crate::support::{
    Place, applied, claim, done, doubt, entry, fenced, granted, key, refused, release, send,
    unannounced,
};

#[tokio::test]
async fn keeps_every_rule_of_a_ledger() {
    conformance::run(async |clock| {
        let settings = Place::new().settings().with_clock(move || clock.now());
        settings.connect().await.unwrap()
    })
    .await;
}

#[tokio::test]
async fn keeps_every_rule_of_a_ledger_that_is_shared() {
    let places: Vec<Place> = (0..10).map(|_| Place::new()).collect();
    conformance::run_shared(async |clock, number| {
        let settings = places[number as usize].settings();
        let settings = settings.with_clock(move || clock.now());
        settings.connect().await.unwrap()
    })
    .await;
}

/// What either of them remembers is out of date whenever it is asked.
#[tokio::test]
async fn keeps_every_rule_while_two_processes_take_turns() {
    conformance::run(async |clock| {
        let place = Place::new();
        let process = async || {
            let clock = clock.clone();
            let settings = place.settings().with_clock(move || clock.now());
            settings.connect().await.unwrap()
        };
        Turns::new([process().await, process().await])
    })
    .await;
}

#[tokio::test]
async fn the_generation_stays_where_it_is_and_keys_have_to_be_honoured() {
    let place = Place::new();
    let ledger = place.ledger().await;
    assert!(ledger.may_lose_writes() && ledger.needs_honoured_keys());
    let grant = granted(&ledger, 1).await;
    applied(&ledger, 1, send(grant.epoch)).await;
    applied(&ledger, 1, refused(grant.epoch)).await;
    assert_eq!(granted(&ledger, 1).await.generation, 0);

    let told_otherwise = place.settings().for_any_provider().connect().await.unwrap();
    assert!(told_otherwise.may_lose_writes() && !told_otherwise.needs_honoured_keys());
}

#[tokio::test]
async fn what_was_answered_is_there_for_the_next_process() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let grant = granted(&ledger, 7).await;
    applied(&ledger, 7, done(grant.epoch, Some(b"{\"id\":1}"))).await;
    let before = entry(&ledger, 7).await;
    drop(ledger);

    let next = place.ledger().await;
    assert_eq!(entry(&next, 7).await, before);
    let again = next.apply(&key(7), claim(7)).await.unwrap();
    let Answer::Settled { code, result, .. } = again else {
        panic!("{again:?}");
    };
    assert_eq!(code, Code::AlreadyDone);
    assert_eq!(result.as_deref(), Some(b"{\"id\":1}".as_slice()));
}

#[tokio::test]
async fn what_others_have_changed_is_seen_although_the_row_is_remembered() {
    let place = Place::new();
    let (ours, theirs) = (place.ledger().await, place.ledger().await);
    let grant = granted(&ours, 1).await;
    applied(&ours, 1, send(grant.epoch)).await;
    // A look-up of another process proves it.
    let found = Event::Find { result: None };
    applied(&theirs, 1, found).await;
    fenced(&ours, 1, release(grant.epoch)).await;
    fenced(&ours, 1, doubt(grant.epoch)).await;
    applied(&ours, 1, done(grant.epoch, Some(b"late"))).await;
    assert_eq!(
        entry(&ours, 1).await.result,
        None,
        "proof is never overwritten"
    );

    let grant = granted(&ours, 2).await;
    applied(&theirs, 2, release(grant.epoch)).await;
    let next = granted(&theirs, 2).await;
    fenced(&ours, 2, send(grant.epoch)).await;
    fenced(&ours, 2, release(grant.epoch)).await;
    fenced(&ours, 2, refused(grant.epoch)).await;
    let identical = ours.apply(&key(2), claim(2)).await.unwrap();
    assert_eq!(identical, Answer::InProgress);
    assert_eq!(entry(&ours, 2).await.epoch, next.epoch);
}

#[tokio::test]
async fn only_what_is_in_doubt_is_listed() {
    let place = Place::new();
    let ledger = place.ledger().await;
    for order in 0..250 {
        let grant = granted(&ledger, order).await;
        match order % 5 {
            0 => applied(&ledger, order, send(grant.epoch)).await,
            1 => applied(&ledger, order, done(grant.epoch, None)).await,
            2 => applied(&ledger, order, release(grant.epoch)).await,
            3 => applied(&ledger, order, doubt(grant.epoch)).await,
            _ => {}
        }
    }
    ledger.apply(&key(1000), unannounced(1000)).await.unwrap();
    for (limit, listed) in [(0, 0), (1, 1), (49, 49), (usize::MAX, 50)] {
        let entries = ledger.unresolved(limit).await.unwrap().entries;
        assert_eq!(entries.len(), listed);
        for (place, entry) in entries.iter().enumerate() {
            let order = 5 * u32::try_from(place).unwrap() + 3;
            assert_eq!((&entry.key, entry.state), (&key(order), State::Unknown));
            assert_eq!(entry.result.as_deref(), Some(b"job 7".as_slice()));
        }
    }
    // What may come to be in doubt by time alone is looked at, and nothing else.
    let open = format!("{{{}}}:open", place.prefix);
    let looked_at: u32 = place.client().await.ask(&["ZCARD", &open]).await;
    assert_eq!(looked_at, 101);
}

/// Two ledgers, of which each takes every other step.
struct Turns {
    ledgers: [RedisLedger; 2],
    turn: AtomicUsize,
}

impl Turns {
    fn new(ledgers: [RedisLedger; 2]) -> Self {
        let turn = AtomicUsize::new(0);
        Self { ledgers, turn }
    }
}

impl Ledger for Turns {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        self.ledgers[turn % 2].apply(key, event)
    }

    tower_outcome_core::forward_ledger!(self => self.ledgers[0]; read unresolved due page counts
        purge changed may_lose_writes);
}
