//! Keys of its own for every test, and the words of a raw client.

use std::sync::atomic::{AtomicU32, Ordering};

use tower_outcome_redis::redis::aio::MultiplexedConnection;
use tower_outcome_redis::redis::{self, Client, FromRedisValue};
use tower_outcome_redis::{RedisLedger, Settings};
pub(crate) use tower_outcome_store_tests::orders::*;
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
