//! A ledger in one SQLite file: the embedded default, for all processes of one machine.
//!
//! The file survives crashes of the process and of the machine: every change is on disk before it
//! is answered. Any number of processes may use it at the same time, as long as it lies on a local
//! disk; SQLite's log does not work across a network file system.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use serde_json::json;
//! use tower_outcome_core::Intent;
//! use tower_outcome_core::ledger::{Answer, Claim, EntryKey, Event, Ledger, Owner};
//! use tower_outcome_sqlite::SqliteLedger;
//!
//! # let directory = std::env::temp_dir().join(format!("tower-outcome-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory)?;
//! # let path = directory.join("ledger.sqlite");
//! let ledger = SqliteLedger::open(&path)?;
//! let intent = Intent::new("acme", "refund", &json!({ "order": 7 }))?;
//! let key = EntryKey::of(&intent);
//! let claim = Claim::new(&intent, Owner::random(), Duration::from_secs(30));
//!
//! let first = ledger.apply(&key, Event::Claim(claim.clone())).await?;
//! assert!(matches!(first, Answer::Granted(_)));
//! drop(ledger);
//!
//! let reopened = SqliteLedger::open(&path)?;
//! let second = reopened.apply(&key, Event::Claim(claim)).await?;
//! assert_eq!(second, Answer::InProgress);
//! # drop(reopened);
//! # std::fs::remove_dir_all(&directory)?;
//! # Ok(()) }
//! ```
//!
//! A disk without room refuses new claims with `store_full`; what is in the file stays as it is.
//!
//! # Reading it
//!
//! The view `outcomes` shows the entries to people, with keys in hex and times in ISO 8601:
//!
//! ```sql
//! SELECT * FROM outcomes WHERE state = 'unknown' ORDER BY updated_at;
//! ```
//!
//! Rows hold hashes, routes, keys and the capped result of a call. They never hold an argument.

#![warn(clippy::unwrap_used)]

use std::fmt;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;

use rusqlite::Connection;
use tower_outcome_core::ledger::{
    Answer, Changed, Changes, Counts, Entry, EntryKey, Event, Filter, Ledger, LedgerError,
    LedgerFuture, Listing, Page, Timestamp,
};

use crate::aside::Aside;
use crate::writer::Job;

mod aside;
mod fault;
mod file;
mod lists;
mod rows;
mod writer;

/// A ledger in one SQLite file.
///
/// All work is done by two threads of its own, which end after the work that was queued when the
/// ledger is dropped. See the [crate docs](crate).
pub struct SqliteLedger {
    jobs: mpsc::Sender<Job>,
    /// For what takes longer.
    aside: mpsc::Sender<Job>,
    changes: Arc<Changes>,
}

impl SqliteLedger {
    /// Opens the file at `path`, or makes a new one. Blocks while it does.
    ///
    /// # Errors
    ///
    /// [`LedgerError`] with a text that tells what to do where the file cannot be opened or
    /// written, is no SQLite database, belongs to another program, or was written by a newer
    /// version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LedgerError> {
        Self::open_with_clock(path, Timestamp::now)
    }

    /// [`open`](Self::open), reading the time from `clock`: for tests of leases.
    ///
    /// All processes that share a file need clocks that agree to within a small part of a lease.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn open_with_clock(
        path: impl AsRef<Path>,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Result<Self, LedgerError> {
        let clock = Arc::new(clock);
        let changes = Arc::<Changes>::default();
        let connection = file::open(path.as_ref())?;
        let reader = file::open(path.as_ref())?;
        let (jobs, queue) = mpsc::channel();
        let given = Arc::clone(&clock);
        start(move || writer::run(connection, &*given, &queue))?;
        let (aside, queue) = mpsc::channel();
        let watching = Aside::new(reader, Arc::clone(&changes));
        start(move || watching.run(&*clock, &queue))?;
        Ok(Self {
            jobs,
            aside,
            changes,
        })
    }

    /// Hands `work` to a thread. Once handed over it is done, whether or not anyone waits.
    async fn ask<T: Send + 'static>(
        thread: &mpsc::Sender<Job>,
        writes: bool,
        work: impl FnOnce(&Connection, Timestamp) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let (job, answer) = Job::new(writes, work);
        thread.send(job).map_err(|_| thread_ended())?;
        answer.await.map_err(|_| thread_ended())?
    }
}

impl fmt::Debug for SqliteLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteLedger").finish_non_exhaustive()
    }
}

impl Ledger for SqliteLedger {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        let applied = async move {
            let asked = key.clone();
            let work = move |store: &Connection, now| rows::apply(store, &asked, event, now);
            let answer = Self::ask(&self.jobs, true, work).await?;
            self.changes.tell(key);
            Ok(answer)
        };
        Box::pin(applied)
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        let key = key.clone();
        Box::pin(Self::ask(&self.jobs, false, move |store, now| {
            rows::read(store, &key, now)
        }))
    }

    fn unresolved(&self, limit: usize) -> LedgerFuture<'_, Listing> {
        Box::pin(Self::ask(&self.aside, false, move |store, now| {
            lists::unresolved(store, limit, now)
        }))
    }

    fn due(&self, limit: usize) -> LedgerFuture<'_, Listing> {
        Box::pin(Self::ask(&self.aside, false, move |store, now| {
            lists::due(store, limit, now)
        }))
    }

    fn page<'a>(&'a self, filter: &'a Filter) -> LedgerFuture<'a, Page> {
        let filter = filter.clone();
        Box::pin(Self::ask(&self.aside, false, move |store, now| {
            lists::page(store, &filter, now)
        }))
    }

    fn counts(&self) -> LedgerFuture<'_, Counts> {
        Box::pin(Self::ask(&self.aside, false, lists::counts))
    }

    fn purge(&self, limit: usize) -> LedgerFuture<'_, usize> {
        Box::pin(Self::ask(&self.jobs, true, move |store, now| {
            lists::purge(store, limit, now)
        }))
    }

    fn changed<'a>(&'a self, key: &'a EntryKey) -> Changed<'a> {
        let changed = self.changes.wait_for(key);
        // Sets the thread watching. If it has ended, so has the ledger.
        let (job, _) = Job::new(false, |_, _| Ok(()));
        let _ = self.aside.send(job);
        Box::pin(changed)
    }
}

fn start(work: impl FnOnce() + Send + 'static) -> Result<(), LedgerError> {
    let thread = thread::Builder::new().name("tower-outcome-sqlite".into());
    let started = thread.spawn(work);
    started.map(drop).map_err(|error| {
        LedgerError::unusable("the ledger's thread cannot be started", Some(error.into()))
    })
}

fn thread_ended() -> LedgerError {
    LedgerError::unavailable("the ledger's thread has ended")
}
