//! A ledger in Redis or Valkey: fast, shared by any number of machines, and able to forget.
//!
//! ```no_run
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use serde_json::json;
//! use tower_outcome_core::Intent;
//! use tower_outcome_core::ledger::{Answer, Claim, EntryKey, Event, Ledger, Owner};
//! use tower_outcome_redis::RedisLedger;
//!
//! let ledger = RedisLedger::connect("redis://agent:secret@cache.internal/0").await?;
//! let intent = Intent::new("acme", "refund", &json!({ "order": 7 }))?;
//! let key = EntryKey::of(&intent);
//! let claim = Claim::new(&intent, Owner::random(), Duration::from_secs(30));
//!
//! let first = ledger.apply(&key, Event::Claim(claim.clone())).await?;
//! assert!(matches!(first, Answer::Granted(_)));
//! let second = ledger.apply(&key, Event::Claim(claim)).await?;
//! assert_eq!(second, Answer::InProgress);
//! # Ok(()) }
//! ```
//!
//! # What it can lose
//!
//! A server that has answered may still forget:
//!
//! - **A failover loses what the replica had not received yet.** Replication is asynchronous, so
//!   this holds whatever the primary writes to its disk. `min-replicas-to-write` makes it rarer and
//!   does not end it.
//! - **A crash loses what had not reached the disk**: about a second's writes with `appendfsync
//!   everysec`, everything since the last snapshot without an append-only file, nothing with
//!   `appendfsync always`. [`RedisLedger::persistence`] tells what the server does.
//!
//! What is forgotten is, in the worst case, that a write was sent. The next identical call is then
//! granted a claim of its own, and sends it again. That is harmless only where the provider knows
//! the key and does the same write once. So:
//!
//! - The ledger demands a profile that honours keys, and others are refused before anything leaves,
//!   unless [`Settings::for_any_provider`] says that a write that happens twice is acceptable.
//! - The generation stays 0, so that the key on the wire never changes. The price: a provider that
//!   stores its refusals repeats a refusal until its own memory of the key ends.
//! - What this process has claimed and not settled it remembers. Where the server has lost such an
//!   entry, the next step puts it back; where the server has given the lost claim to another process
//!   by then, ours may bring proof and nothing else. It remembers the 10,000 that changed last, some
//!   10 MB; once it had to forget one, what is asked of a claim that it does not remember is refused.
//! - `failed` may turn out wrong for the intent as a whole, where it was the loss that let a second
//!   attempt start. Where that is not acceptable, keep the ledger in a database that is durable.
//!
//! # What it needs
//!
//! Redis 7.0 or later, or Valkey: one server, or a primary with replicas, and no cluster. Its
//! `maxmemory-policy` has to be `noeviction`. This is looked at for every new connection. With
//! access control, the user needs:
//!
//! ```text
//! ~{tower-outcome}:* +set +get +mget +del +zadd +zrem +zrange +scan +evalsha +script|load +time +info
//!                    +config|get +hello
//! ```
//!
//! All keys carry the prefix as their hash tag: a proxy that spreads keys over servers keeps one
//! ledger on one of them. For `rediss://` build the crate `redis` with one of its TLS features.
//!
//! Leases are measured on the server's clock, so that the clocks of the machines do not matter.
//!
//! # Speed
//!
//! A claim and its end are one command and one round trip each: the holder of a claim remembers its
//! row and needs no look first. A stored answer takes two. Whatever is asked at the same time shares
//! one connection and does not wait for each other.
//!
//! # How an entry ends
//!
//! An entry that is claimed, sent or in doubt has no expiry. Once it has ended its result is kept for
//! a day and the entry for 400 days; the expiry is set by the very command that writes the row. An
//! alias has none either, since it must not go before the entry that it leads to:
//! [`purge`](Ledger::purge) forgets it once that is gone and nobody has used the alias for 400 days.
//! A full server refuses new claims with `store_full`.
//!
//! # When the connection breaks
//!
//! A change whose answer is lost may have taken effect. It ends in an error that says so, and is
//! never repeated by itself; the next question opens another connection.
//!
//! # Reading it
//!
//! A row is the number of its last change, 48 digits, and JSON. The sorted set
//! `{tower-outcome}:open` names the entries in doubt, and those that come to be once their lease
//! ends. Rows hold hashes, routes, keys and the capped result of a call. They never hold an argument.

#![warn(clippy::unwrap_used)]

use std::fmt;
use std::time::Duration;

use tower_outcome_core::ledger::{
    Answer, Changed, Counts, Entry, EntryKey, Event, Filter, Ledger, LedgerError, LedgerFuture,
    Listing, Page, machine,
};

use crate::keyspace::Keyspace;
use crate::session::Sessions;
use crate::step::Steps;

pub use crate::server::Persistence;
pub use crate::settings::Settings;
pub use redis;

mod exchange;
mod fault;
mod keyspace;
mod lists;
mod memory;
mod purge;
mod row;
mod server;
mod session;
mod settings;
mod step;

/// A ledger in Redis or Valkey.
///
/// Needs a tokio runtime with I/O and time. See the [crate docs](crate).
pub struct RedisLedger {
    steps: Steps,
    needs_honoured_keys: bool,
}

impl RedisLedger {
    /// Connects to the server at `url`, with the defaults of [`Settings`].
    ///
    /// # Errors
    ///
    /// Those of [`Settings::new`] and [`Settings::connect`].
    pub async fn connect(url: &str) -> Result<Self, LedgerError> {
        Settings::new(url)?.connect().await
    }

    pub(crate) fn new(sessions: Sessions, keyspace: Keyspace, needs_honoured_keys: bool) -> Self {
        Self {
            steps: Steps::new(sessions, keyspace),
            needs_honoured_keys,
        }
    }

    /// What a crash of the server can take back, as of the last connection.
    #[must_use]
    pub fn persistence(&self) -> Persistence {
        self.steps.sessions.persistence()
    }
}

impl fmt::Debug for RedisLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisLedger")
            .field("persistence", &self.persistence())
            .field("needs_honoured_keys", &self.needs_honoured_keys)
            .finish_non_exhaustive()
    }
}

impl Ledger for RedisLedger {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(self.steps.apply(key, event))
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        Box::pin(async move {
            let row = self.steps.read(key).await?;
            Ok(row.map(|row| machine::expired(row.entry, self.steps.now())))
        })
    }

    fn unresolved(&self, limit: usize) -> LedgerFuture<'_, Listing> {
        Box::pin(lists::unresolved(&self.steps, limit))
    }

    fn due(&self, limit: usize) -> LedgerFuture<'_, Listing> {
        Box::pin(lists::due(&self.steps, limit))
    }

    fn page<'a>(&'a self, filter: &'a Filter) -> LedgerFuture<'a, Page> {
        Box::pin(lists::page(&self.steps, filter))
    }

    fn counts(&self) -> LedgerFuture<'_, Counts> {
        Box::pin(lists::counts(&self.steps))
    }

    /// Takes aliases away, and nothing else: the server does, when an entry's time has come.
    fn purge(&self, limit: usize) -> LedgerFuture<'_, usize> {
        Box::pin(purge::purge(&self.steps, limit))
    }

    fn changed<'a>(&'a self, _: &'a EntryKey) -> Changed<'a> {
        Box::pin(tokio::time::sleep(Duration::from_millis(50)))
    }

    fn may_lose_writes(&self) -> bool {
        true
    }

    fn needs_honoured_keys(&self) -> bool {
        self.needs_honoured_keys
    }
}
