//! Finds out what became of calls that ended in doubt.
//!
//! A pass walks the unresolved entries of a ledger and looks each of their writes up at the
//! provider, by the token that the request carried. Only what is found is proof. What is not found
//! may still land, so that it stays in doubt and is looked up again; nothing ever `failed` because
//! it was not found.
//!
//! A write that is found finishes its call only if it was promised to be the only one: see
//! [`Tool::with_single_write`](crate::Tool::with_single_write). Other calls stay open for a person.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use tower_outcome::MemoryLedger;
//! use tower_outcome_core::BoxError;
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
//! assert_eq!((report.confirmed, report.open), (0, 0));
//! # Ok(()) }
//! ```

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::Value;
use tower_outcome_core::BoxError;
use tower_outcome_core::ledger::{Entry, Event, Ledger, LedgerError, WriteRecord};

/// Asks a provider what became of one write.
pub trait LookUp: Send + Sync + 'static {
    /// Looks for the write by `write.wire_key` or `write.reference`, and by nothing else: a refund
    /// of the same amount is not this refund. At least one of the two is there.
    ///
    /// # Errors
    ///
    /// Whatever kept the provider from being asked. The write stays in doubt.
    fn find<'a>(&'a self, entry: &'a Entry, write: &'a WriteRecord) -> LookUpFuture<'a>;
}

/// What [`LookUp::find`] returns.
pub type LookUpFuture<'a> = Pin<Box<dyn Future<Output = Result<Found, BoxError>> + Send + 'a>>;

/// What a look-up found.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// The write, by a token of ours: with what the tool would have returned.
    Done(Value),
    /// The provider could not tell.
    Inconclusive,
    /// Nothing, which proves nothing.
    NotFound,
}

/// How many entries a pass confirmed, and how many stay open.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Report {
    /// Proven done.
    pub confirmed: usize,
    /// Still in doubt.
    pub open: usize,
}

/// Walks the unresolved entries of a ledger.
///
/// See the [module docs](self).
pub struct Reconciler {
    ledger: Arc<dyn Ledger>,
    look_up: Arc<dyn LookUp>,
    concurrency: usize,
    limit: usize,
}

impl Reconciler {
    /// Looks up what is in doubt in `ledger`: up to 1000 entries a pass, 8 at once.
    #[must_use]
    pub fn new(ledger: impl Ledger, look_up: impl LookUp) -> Self {
        Self {
            ledger: Arc::new(ledger),
            look_up: Arc::new(look_up),
            concurrency: 8,
            limit: 1000,
        }
    }

    /// Looks up at most `n` entries at once.
    #[must_use]
    pub fn with_concurrency(mut self, n: usize) -> Self {
        self.concurrency = n.max(1);
        self
    }

    /// Looks at the oldest `n` entries in each pass. Entries that stay open keep their place, so
    /// let it be more than stay open for long.
    #[must_use]
    pub const fn with_limit(mut self, n: usize) -> Self {
        self.limit = n;
        self
    }

    /// Looks every unresolved entry up once.
    ///
    /// Dropping the future stops the pass; what was confirmed by then is.
    ///
    /// # Errors
    ///
    /// [`LedgerError`] where the ledger could not list its entries.
    pub async fn pass(&self) -> Result<Report, LedgerError> {
        let entries = self.ledger.unresolved(self.limit).await?;
        let confirmed = stream::iter(entries).map(|entry| self.confirm(entry));
        let report = confirmed.buffer_unordered(self.concurrency).fold(
            Report::default(),
            |mut report, confirmed| async move {
                if confirmed {
                    report.confirmed += 1;
                } else {
                    report.open += 1;
                }
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
                    tracing::debug!(report.confirmed, report.open, "looked up what was in doubt");
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

    /// Whether the entry could be settled.
    ///
    /// A call of which one write is found may have had another one to make: only the promise that
    /// there is no other makes the find proof of the whole.
    async fn confirm(&self, entry: Entry) -> bool {
        let [write] = entry.writes.as_slice() else {
            return false;
        };
        let Some(data) = self.find(&entry, write).await.filter(|_| write.only) else {
            return false;
        };
        let result = Some(data.to_string().into_bytes().into_boxed_slice());
        match self.ledger.apply(&entry.key, Event::Find { result }).await {
            Ok(_) => true,
            Err(error) => {
                tracing::warn!(%error, "the ledger did not take down what a look-up found");
                false
            }
        }
    }

    async fn find(&self, entry: &Entry, write: &WriteRecord) -> Option<Value> {
        let reference = write.reference.as_deref().unwrap_or_default();
        if write.wire_key.is_empty() && reference.is_empty() {
            return None;
        }
        match self.look_up.find(entry, write).await {
            Ok(Found::Done(data)) => Some(data),
            Ok(Found::Inconclusive | Found::NotFound) => None,
            Err(error) => {
                tracing::warn!(%error, write.route, "a write could not be looked up");
                None
            }
        }
    }
}

impl fmt::Debug for Reconciler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reconciler")
            .field("concurrency", &self.concurrency)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
