//! How long an alias is kept: never shorter than what it leads to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tower_outcome_core::IdempotencyKey;
use tower_outcome_core::ledger::entry::TOMBSTONE_RETENTION;
use tower_outcome_core::ledger::{Answer, EntryKey, Event, Ledger, State, Timestamp};
use tower_outcome_redis::RedisLedger;

use crate::support::{Place, applied, claim, doubt, granted, key};

struct Bench {
    place: Place,
    ledger: RedisLedger,
    now: Arc<AtomicU64>,
}

impl Bench {
    async fn new() -> Self {
        let (place, now) = (Place::new(), Arc::new(AtomicU64::new(1_750_000_000_000)));
        let clock = Arc::clone(&now);
        let settings = place.settings();
        let settings = settings.with_clock(move || Timestamp(clock.load(Ordering::SeqCst)));
        Self {
            ledger: settings.connect().await.unwrap(),
            place,
            now,
        }
    }

    fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_millis()).unwrap();
        self.now.fetch_add(by, Ordering::SeqCst);
    }

    async fn alias(&self, order: u32) {
        let alias = Event::Alias {
            of: key(order).key,
            shared: false,
        };
        self.ledger.apply(&alias_of(order), alias).await.unwrap();
    }

    async fn leads(&self, order: u32) -> bool {
        let alias = self.ledger.read(&alias_of(order)).await.unwrap();
        alias.is_some_and(|alias| alias.leads_to() == Some(key(order)))
    }

    async fn purged(&self, limit: usize) -> usize {
        self.ledger.purge(limit).await.unwrap()
    }

    /// What the server does when the time of an ended entry has come.
    async fn expire(&self, order: u32) {
        self.place
            .client()
            .await
            .run(&["DEL", &self.place.entry(order)])
            .await;
    }

    /// For how many milliseconds the server keeps the alias; -1 for ever.
    async fn kept(&self, order: u32) -> i64 {
        let pattern = format!("{{{}}}:entry:*", self.place.prefix);
        let mut client = self.place.client().await;
        let names: Vec<String> = client.ask(&["KEYS", &pattern]).await;
        let entry = self.place.entry(order);
        let [alias] = names
            .into_iter()
            .filter(|name| *name != entry)
            .collect::<Vec<_>>()
            .try_into()
            .unwrap();
        client.ask(&["PTTL", &alias]).await
    }
}

fn alias_of(order: u32) -> EntryKey {
    let mut bytes = *key(order).key.as_bytes();
    bytes[0] ^= 0xff;
    EntryKey {
        scope: "acme".into(),
        key: IdempotencyKey::from_bytes(bytes),
    }
}

/// I3: who knows the younger key alone would send again if it went before the entry in doubt.
#[tokio::test]
async fn an_alias_outlives_an_entry_that_is_in_doubt_for_longer_than_anything_is_kept() {
    let bench = Bench::new().await;
    bench.alias(1).await;
    granted(&bench.ledger, 1).await;
    applied(&bench.ledger, 1, doubt(1)).await;
    assert_eq!(bench.kept(1).await, -1);
    for _ in 0..4 {
        bench.advance(TOMBSTONE_RETENTION * 2);
        assert_eq!(bench.purged(100).await, 0);
        assert!(bench.leads(1).await);
    }
    let again = bench.ledger.apply(&alias_of(1), claim(1)).await.unwrap();
    assert_eq!(again, Answer::Moved(key(1).key));
    assert_eq!(bench.kept(1).await, -1);
}

#[tokio::test]
async fn an_alias_is_forgotten_once_its_entry_is_and_nobody_has_used_it_for_400_days() {
    let bench = Bench::new().await;
    bench.alias(1).await;
    bench.advance(TOMBSTONE_RETENTION);
    assert_eq!(bench.purged(100).await, 0);
    bench.alias(1).await;
    bench.advance(TOMBSTONE_RETENTION);
    assert_eq!(bench.purged(100).await, 0);
    bench.advance(Duration::from_millis(1));
    assert_eq!(bench.purged(100).await, 1);
    assert_eq!(bench.ledger.read(&alias_of(1)).await.unwrap(), None);
    assert_eq!(bench.purged(100).await, 0);
    let left: Vec<String> = bench
        .place
        .client()
        .await
        .ask(&["KEYS", &format!("{{{}}}:*", bench.place.prefix)])
        .await;
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn aliases_that_have_to_stay_keep_no_other_from_being_forgotten() {
    let bench = Bench::new().await;
    for order in 0..20 {
        bench.alias(order).await;
        if order < 10 {
            granted(&bench.ledger, order).await;
        }
        bench.advance(Duration::from_millis(1));
    }
    bench.advance(TOMBSTONE_RETENTION);
    assert_eq!(bench.purged(3).await, 3);
    assert_eq!(bench.purged(100).await, 7);
    for order in 0..20 {
        assert_eq!(bench.leads(order).await, order < 10, "{order}");
    }
    // Looked at again once that much time has passed again.
    bench.expire(4).await;
    assert_eq!(bench.purged(100).await, 0);
    bench.advance(TOMBSTONE_RETENTION + Duration::from_millis(1));
    assert_eq!(bench.purged(100).await, 1);
    assert!(!bench.leads(4).await && bench.leads(5).await);
}

#[tokio::test]
async fn an_alias_that_is_proven_to_be_an_entry_of_its_own_is_none_any_more() {
    let bench = Bench::new().await;
    let own = alias_of(1);
    let claimed = bench.ledger.apply(&own, claim(1)).await.unwrap();
    assert!(matches!(claimed, Answer::Granted(_)));
    applied_at(&bench, &own, crate::support::refused(1)).await;
    bench.alias(1).await;
    applied_at(&bench, &own, Event::Find { result: None }).await;
    bench.advance(TOMBSTONE_RETENTION * 2);
    assert_eq!(bench.purged(100).await, 0);
    let entry = bench.ledger.read(&own).await.unwrap().unwrap();
    assert_eq!((entry.state, entry.alias_of), (State::Done, None));
    let aliases = format!("{{{}}}:aliases", bench.place.prefix);
    let exists: bool = bench.place.client().await.ask(&["EXISTS", &aliases]).await;
    assert!(!exists);
}

async fn applied_at(bench: &Bench, key: &EntryKey, event: Event) {
    let answer = bench.ledger.apply(key, event).await.unwrap();
    assert_eq!(answer, Answer::Applied);
}
