//! Finds out what became of calls that ended in doubt.
//!
//! A pass takes the entries of a ledger that are due and asks about each, in this order:
//!
//! 1. **Look-up.** The provider is asked for the write by a token that the request carried. Only
//!    what is found by it is proof; what is like it is a candidate, for people. What is not found may
//!    still land, so that nothing ever `failed` because it was not found.
//! 2. **Resend**, once nobody may still be sending: the request that the ledger keeps, under the same
//!    key, to the same host, as the same account, and only while the provider is sure to know the key
//!    and keeps what became of it. See [`Resender`].
//! 3. **Cancel**, for providers that can cancel by key. See [`LookUp::cancel`].
//! 4. A person: see [`Operator`](crate::Operator).
//!
//! A call's own late answer may come at any time and settles its entry; whoever comes second changes
//! nothing. An error of a provider changes no entry either. A write that is found finishes its call
//! only if it was promised to be the only one: see
//! [`Tool::with_single_write`](crate::Tool::with_single_write). Other calls stay open for a person.
//!
//! Several replicas may run on one ledger: each entry is given to one of them at a time, and looked
//! at again after a pause that doubles, from 30 seconds up to 6 hours. After 24 looks an entry is
//! only reported.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use tower_outcome::MemoryLedger;
//! use tower_outcome_core::ledger::{Entry, WriteRecord};
//! use tower_outcome_tools::reconciler::LookUpFuture;
//! use tower_outcome_tools::{Found, LookUp, Reconciler};
//!
//! struct Refunds;
//!
//! impl LookUp for Refunds {
//!     fn find<'a>(&'a self, _: &'a Entry, write: &'a WriteRecord) -> LookUpFuture<'a> {
//!         Box::pin(async move {
//!             let _ = &write.wire_key; // GET /refunds?key=...
//!             Ok(Found::NotFound)
//!         })
//!     }
//! }
//!
//! let ledger = Arc::new(MemoryLedger::default());
//! let report = Reconciler::new(ledger, Refunds).pass().await?;
//! assert!(report.confirmed.is_empty() && report.open.is_empty());
//! # Ok(()) }
//! ```

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use tower_outcome_core::ledger::{Answer, Entry, Event, Ledger, LedgerError, Timestamp};

mod backoff;
mod inquiry;
mod look_up;
mod report;
mod resender;

use backoff::Backoff;
use inquiry::Inquiry;
pub use look_up::{CancelFuture, Cancelled, Found, LookUp, LookUpFuture};
pub use report::{Candidates, Report};
pub use resender::{RESEND_LIMIT, Resender};

/// Walks the entries of a ledger that are in doubt.
///
/// See the [module docs](self).
pub struct Reconciler {
    ledger: Arc<dyn Ledger>,
    look_up: Arc<dyn LookUp>,
    resenders: Vec<Resender>,
    backoff: Backoff,
    concurrency: usize,
    give_up_after: u32,
    limit: usize,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Reconciler {
    /// Asks `look_up` about what is in doubt in `ledger`: up to 1000 entries a pass, 8 at once.
    #[must_use]
    pub fn new(ledger: impl Ledger, look_up: impl LookUp) -> Self {
        Self {
            ledger: Arc::new(ledger),
            look_up: Arc::new(look_up),
            resenders: Vec::new(),
            backoff: Backoff::default(),
            concurrency: 8,
            give_up_after: 24,
            limit: 1000,
            clock: Box::new(Timestamp::now),
        }
    }

    /// Sends requests of one provider again. One for each provider; the first whose profile has the
    /// name that an entry has is asked.
    #[must_use]
    pub fn with_resender(mut self, resender: Resender) -> Self {
        self.resenders.push(resender);
        self
    }

    /// Asks about at most `n` entries at once.
    #[must_use]
    pub fn with_concurrency(mut self, n: usize) -> Self {
        self.concurrency = n.max(1);
        self
    }

    /// Takes at most `n` entries in each pass, those first that wait the longest.
    #[must_use]
    pub const fn with_limit(mut self, n: usize) -> Self {
        self.limit = n;
        self
    }

    /// Pauses for `first` after the first look at an entry, twice as long after each further one, and
    /// never longer than `longest`; less a jitter of up to a half. At least a minute where something
    /// is sent again.
    #[must_use]
    pub fn with_backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.backoff = Backoff::new(first, longest);
        self
    }

    /// Only reports an entry after this many looks.
    #[must_use]
    pub const fn with_give_up_after(mut self, looks: u32) -> Self {
        self.give_up_after = looks;
        self
    }

    /// Reads the time from `clock`, for tests. It has to agree with the ledger's.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Asks once about every entry that is due.
    ///
    /// Dropping the future stops the pass; what was taken down by then is. What it was sending again
    /// goes on for a while, and is judged by a later pass.
    ///
    /// # Errors
    ///
    /// [`LedgerError`] where the ledger could not list its entries.
    pub async fn pass(&self) -> Result<Report, LedgerError> {
        let due = self.ledger.due(self.limit).await?;
        let asked = stream::iter(due.entries).map(|entry| self.ask(entry));
        let report = asked.buffer_unordered(self.concurrency).fold(
            Report::unreadable(due.unreadable),
            |mut report, of_one| async move {
                report.add(of_one);
                report
            },
        );
        Ok(report.await)
    }

    /// Makes a pass every `interval`, until it is dropped. Waits up to sixteen times as long while
    /// the ledger cannot be asked.
    pub async fn run(&self, interval: Duration) {
        let mut pause = interval;
        loop {
            pause = match self.pass().await {
                Ok(report) => {
                    report.log();
                    interval
                }
                Err(error) => {
                    tracing::warn!(%error, "the ledger did not list what is in doubt");
                    (pause * 2).min(interval * 16)
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    async fn ask(&self, entry: Entry) -> Report {
        let gives_up = entry.looks >= self.give_up_after;
        let inquiry = Inquiry::new(self, &entry);
        let again_after = if gives_up {
            self.backoff.longest()
        } else {
            self.backoff
                .after(entry.looks)
                .max(inquiry.shortest_pause())
        };
        match self
            .ledger
            .apply(&entry.key, Event::Look { again_after })
            .await
        {
            Ok(Answer::Applied) if gives_up => Report::given_up(entry.key),
            Ok(Answer::Applied) => inquiry.run().await,
            // Another replica has it, or it has been settled in the meantime.
            Ok(_) => Report::default(),
            Err(error) if error.is_fenced() => Report::default(),
            Err(error) => {
                tracing::warn!(%error, "the ledger did not let an entry be looked at");
                Report::open(entry.key)
            }
        }
    }
}

impl fmt::Debug for Reconciler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reconciler")
            .field("resenders", &self.resenders)
            .field("backoff", &self.backoff)
            .field("concurrency", &self.concurrency)
            .field("give_up_after", &self.give_up_after)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
