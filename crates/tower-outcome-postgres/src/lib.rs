//! A ledger in a PostgreSQL database: for processes on any number of machines.
//!
//! Every change is on the database's disk before it is answered, and every process that uses the
//! same schema of the same database sees it.
//!
//! ```no_run
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use serde_json::json;
//! use tower_outcome_core::Intent;
//! use tower_outcome_core::ledger::{Answer, Claim, EntryKey, Event, Ledger, Owner};
//! use tower_outcome_postgres::PostgresLedger;
//!
//! let ledger = PostgresLedger::connect("postgres://agent:secret@db.internal/shop").await?;
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
//! # Speed
//!
//! A claim and its end are one statement and one round trip each. Whatever is asked while a
//! statement is under way shares the next one, and with it the one wait for the disk: the more is
//! asked at once, the less each costs.
//!
//! # What it needs
//!
//! PostgreSQL 12 or later, and sessions: a pooler between has to keep one session for one
//! connection. Two connections are used at most, and one more while entries are counted. The tables
//! are made at the first connect, in a schema of their own; [`Settings`] says which. Where the role of the program may not make them,
//! connect once as one that may and grant the other the use:
//!
//! ```sql
//! GRANT USAGE ON SCHEMA tower_outcome TO agent;
//! GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA tower_outcome TO agent;
//! ```
//!
//! Leases are measured on the database's clock, so that the clocks of the machines do not matter.
//! What was answered is as durable as the database: one that runs with `fsync = off`, or that fails
//! over to a copy that was not written synchronously, can lose it.
//!
//! A server whose disk has no room refuses new claims with `store_full`.
//!
//! # When the connection breaks
//!
//! A change whose answer is lost may have taken effect. It ends in an error that says so, and is
//! never repeated by itself; the next question opens another connection.
//!
//! # Reading it
//!
//! The view `outcomes` shows the entries to people, with keys in hex and times as such:
//!
//! ```sql
//! SELECT * FROM tower_outcome.outcomes WHERE state = 'unknown' ORDER BY updated_at;
//! ```
//!
//! Rows hold hashes, routes, keys and the capped result of a call. They never hold an argument.

#![warn(clippy::unwrap_used)]

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};
use tokio_postgres::Transaction;
use tower_outcome_core::ledger::{
    Answer, Changed, Counts, Entry, EntryKey, Event, Filter, Ledger, LedgerError, LedgerFuture,
    Listing, Page, StoreClock,
};

use crate::ask::{Answered, Ask};
use crate::fault::Fault;
use crate::round::Chain;
use crate::session::{Line, Sessions};
use crate::writer::Job;

pub use crate::settings::Settings;
pub use tokio_postgres;

mod ask;
mod fault;
mod hints;
mod lists;
mod purge;
mod round;
mod rows;
mod schema;
mod session;
mod settings;
mod writer;

/// A ledger in a PostgreSQL database.
///
/// All work is done by a task on the runtime that connected, which needs I/O and time. It ends after
/// what was queued when the ledger is dropped. See the [crate docs](crate).
pub struct PostgresLedger {
    jobs: mpsc::UnboundedSender<Job>,
    clock: StoreClock,
    sessions: Arc<Sessions>,
    /// For what takes longer, so that no claim waits behind it.
    aside: Mutex<Line>,
}

impl PostgresLedger {
    /// Connects to the database at `url`, with the defaults of [`Settings`].
    ///
    /// # Errors
    ///
    /// Those of [`Settings::new`] and [`Settings::connect`].
    pub async fn connect(url: &str) -> Result<Self, LedgerError> {
        Settings::new(url)?.connect().await
    }

    /// [`apply`](Ledger::apply) inside a transaction of yours on the ledger's database, so that rows
    /// of your own and the entry change together or not at all.
    ///
    /// The answer counts once the transaction is committed, and only then may anything be sent on
    /// its strength. Keep the transaction short: whoever asks for the same entry meanwhile waits for
    /// it, up to two seconds. Its commit waits for the disk, also where `synchronous_commit` is off.
    ///
    /// # Errors
    ///
    /// Those of [`apply`](Ledger::apply). Unless [`LedgerError::is_fenced`], the transaction can
    /// only be rolled back.
    pub async fn apply_in(
        &self,
        transaction: &Transaction<'_>,
        key: &EntryKey,
        event: Event,
    ) -> Result<Answer, LedgerError> {
        let (ask, mut answered) = ask::apply(event);
        let mut chain = Chain::new(key.clone(), None);
        chain.push(ask);
        let mut chains = vec![chain];
        while !chains.is_empty() {
            let now = self.clock.now();
            let columns = round::propose(&mut chains, now);
            let rows = transaction
                .query_typed(&self.sessions.exchange, &columns.typed())
                .await;
            let rows = rows.map_err(|error| Fault::of_statement(&error))?;
            chains = round::conclude(chains, &rows, now).left;
        }
        answered.try_recv().map_err(|_| writer_ended())?
    }

    /// Hands a question to the task. Once handed over it is asked, whether or not anyone waits.
    async fn ask<T>(
        &self,
        key: &EntryKey,
        (ask, answered): (Box<dyn Ask>, Answered<T>),
    ) -> Result<T, LedgerError> {
        let job = (key.clone(), ask);
        self.jobs.send(job).map_err(|_| writer_ended())?;
        answered.await.map_err(|_| writer_ended())?
    }
}

impl fmt::Debug for PostgresLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresLedger").finish_non_exhaustive()
    }
}

impl Ledger for PostgresLedger {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(self.ask(key, ask::apply(event)))
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        Box::pin(self.ask(key, ask::read()))
    }

    fn unresolved(&self, limit: usize) -> LedgerFuture<'_, Listing> {
        Box::pin(async move {
            lists::unresolved(&mut *self.aside.lock().await, limit, self.clock.now()).await
        })
    }

    fn due(&self, limit: usize) -> LedgerFuture<'_, Listing> {
        Box::pin(
            async move { lists::due(&mut *self.aside.lock().await, limit, self.clock.now()).await },
        )
    }

    fn page<'a>(&'a self, filter: &'a Filter) -> LedgerFuture<'a, Page> {
        Box::pin(async move {
            lists::page(&mut *self.aside.lock().await, filter, self.clock.now()).await
        })
    }

    fn counts(&self) -> LedgerFuture<'_, Counts> {
        Box::pin(lists::counts(&self.sessions, self.clock.now()))
    }

    fn purge(&self, limit: usize) -> LedgerFuture<'_, usize> {
        Box::pin(async move {
            purge::purge(&mut *self.aside.lock().await, limit, self.clock.now()).await
        })
    }

    fn changed<'a>(&'a self, key: &'a EntryKey) -> Changed<'a> {
        // Asked before whoever calls can ask for the entry, so that no change comes between.
        let (ask, before) = ask::read();
        let _ = self.jobs.send((key.clone(), ask));
        Box::pin(async move {
            let Ok(Ok(before)) = before.await else { return };
            let mut pause = SHORTEST_PAUSE;
            loop {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
                match self.read(key).await {
                    Ok(entry) if entry == before => {}
                    _ => return,
                }
            }
        })
    }
}

fn writer_ended() -> LedgerError {
    LedgerError::unavailable("the ledger's task has ended; what was asked may have taken effect")
}

const SHORTEST_PAUSE: Duration = Duration::from_millis(5);

const LONGEST_PAUSE: Duration = Duration::from_millis(500);
