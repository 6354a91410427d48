//! Keys of its own for every test, and the one write that all of them make.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use tower_outcome_core::ledger::{
    Answer, Claim, Ending, Entry, EntryKey, Event, Grant, Ledger, Owner, WriteRecord,
};
use tower_outcome_core::{Code, Intent};
use tower_outcome_redis::redis::aio::MultiplexedConnection;
use tower_outcome_redis::redis::{self, Client, FromRedisValue};
use tower_outcome_redis::{RedisLedger, Settings};
use xtask::servers::{Redis, Server as _};

/// Keys that no other test uses, on the test server or another one.
pub(crate) struct Place {
    pub(crate) url: String,
    pub(crate) prefix: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let url = std::env::var(Redis::VARIABLE).unwrap_or_else(|_| {
            panic!(
                "{} is not set: these tests need a Redis server, which `cargo xtask test` starts \
                 for them",
                Redis::VARIABLE
            )
        });
        Self::at(url)
    }

    pub(crate) fn at(url: String) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("test-{}-{number}", std::process::id());
        Self { url, prefix }
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings::new(&self.url).unwrap().with_prefix(&self.prefix)
    }

    pub(crate) async fn ledger(&self) -> RedisLedger {
        self.settings().connect().await.unwrap()
    }

    /// A connection without a ledger.
    pub(crate) async fn client(&self) -> Raw {
        let client = Client::open(&*self.url).unwrap();
        Raw(client.get_multiplexed_async_connection().await.unwrap())
    }

    /// The name of an order's entry.
    pub(crate) fn entry(&self, order: u32) -> String {
        self.named("entry", order)
    }

    /// The name of an order's result.
    pub(crate) fn result(&self, order: u32) -> String {
        self.named("result", order)
    }

    fn named(&self, kind: &str, order: u32) -> String {
        let key = key(order);
        let (high, low) = key.key.as_bytes().split_at(16);
        let half = |bytes: &[u8]| u128::from_be_bytes(bytes.try_into().unwrap());
        let digits = format!("{:032x}{:032x}", half(high), half(low));
        format!("{{{}}}:{kind}:{digits}:{}", self.prefix, key.scope)
    }
}

/// A client that says to the server what a test wants.
pub(crate) struct Raw(MultiplexedConnection);

impl Raw {
    pub(crate) async fn ask<T: FromRedisValue>(&mut self, words: &[&str]) -> T {
        let mut command = redis::cmd(words[0]);
        for word in &words[1..] {
            command.arg(word);
        }
        command.query_async(&mut self.0).await.unwrap()
    }

    pub(crate) async fn run(&mut self, words: &[&str]) {
        self.ask::<redis::Value>(words).await;
    }
}

pub(crate) fn intent(order: u32) -> Intent {
    Intent::new("acme", "refund", &json!({ "order": order })).unwrap()
}

pub(crate) fn key(order: u32) -> EntryKey {
    EntryKey::of(&intent(order))
}

pub(crate) fn claim(order: u32) -> Event {
    Event::Claim(Claim::new(&intent(order), Owner::random(), LEASE))
}

/// A claim that may be sent without another word.
pub(crate) fn unannounced(order: u32) -> Event {
    Event::Claim(Claim {
        announces_sends: false,
        ..Claim::new(&intent(order), Owner::random(), LEASE)
    })
}

pub(crate) fn send(epoch: u64) -> Event {
    Event::Send {
        epoch,
        write: WriteRecord {
            label: "refund".into(),
            route: "POST api.example/refunds".into(),
            wire_key: "k-1".into(),
            only: true,
            ..WriteRecord::default()
        },
        lease: LEASE,
        sends_for: LEASE,
    }
}

pub(crate) fn release(epoch: u64) -> Event {
    let code = Code::NotSent;
    Event::Release { epoch, code }
}

pub(crate) fn done(epoch: u64, result: Option<&[u8]>) -> Event {
    let code = Code::Done;
    let result = result.map(Into::into);
    let ending = Ending::Done { code, result };
    Event::Settle { epoch, ending }
}

pub(crate) fn refused(epoch: u64) -> Event {
    let code = Code::Rejected;
    let ending = Ending::Failed { code };
    Event::Settle { epoch, ending }
}

pub(crate) fn doubt(epoch: u64) -> Event {
    let conclusion = Code::TimeoutAfterSend.into();
    let result = Some(b"job 7".as_slice().into());
    let ending = Ending::Unknown { conclusion, result };
    Event::Settle { epoch, ending }
}

pub(crate) async fn granted(ledger: &RedisLedger, order: u32) -> Grant {
    match ledger.apply(&key(order), claim(order)).await.unwrap() {
        Answer::Granted(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

pub(crate) async fn applied(ledger: &RedisLedger, order: u32, event: Event) {
    let answer = ledger.apply(&key(order), event).await.unwrap();
    assert_eq!(answer, Answer::Applied);
}

pub(crate) async fn fenced(ledger: &RedisLedger, order: u32, event: Event) {
    let error = ledger.apply(&key(order), event).await.unwrap_err();
    assert!(error.is_fenced(), "{error:?}");
}

pub(crate) async fn entry(ledger: &RedisLedger, order: u32) -> Entry {
    ledger.read(&key(order)).await.unwrap().unwrap()
}

const LEASE: Duration = Duration::from_hours(1);
