//! What a person does with a ledger: list, show, resolve, purge, count.
//!
//! An entry that no look-up can settle stays in doubt until somebody who has found out says so. Who it
//! was and why is kept with the entry. The command `outcomes` (feature `cli`) does the same from a
//! shell.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use tower_outcome::MemoryLedger;
//! use tower_outcome_core::ledger::{Filter, State};
//! use tower_outcome_tools::Operator;
//!
//! let operator = Operator::new(MemoryLedger::default());
//! let doubtful = Filter { state: Some(State::Unknown), ..Filter::new(50) };
//! for entry in operator.list(&doubtful).await?.entries {
//!     // ... once somebody has looked into the provider's dashboard:
//!     operator.resolve_failed(&entry, "ada", "no such refund in the dashboard").await?;
//! }
//! # Ok(()) }
//! ```

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use tower_outcome_core::ledger::{
    Counts, Entry, EntryKey, Event, Filter, Ledger, LedgerError, Page, Resolved, State, alias,
};

mod error;
mod search;

pub use error::OperatorError;
pub use search::SHORTEST_KEY;

/// Acts on a ledger for a person. See the [module docs](self).
#[derive(Clone)]
pub struct Operator {
    ledger: Arc<dyn Ledger>,
}

impl Operator {
    /// Acts on `ledger`.
    #[must_use]
    pub fn new(ledger: impl Ledger) -> Self {
        Self {
            ledger: Arc::new(ledger),
        }
    }

    /// Some of the entries that `filter` admits, and where the next page begins.
    ///
    /// # Errors
    ///
    /// [`OperatorError`] where the ledger could not be asked, or the filter's cursor is of another
    /// one.
    pub async fn list(&self, filter: &Filter) -> Result<Page, OperatorError> {
        Ok(self.ledger.page(filter).await?)
    }

    /// The entry of a key, or the one that it leads to where it is an alias. An alias whose entry is
    /// still to come, or that several entries share, is shown itself.
    ///
    /// # Errors
    ///
    /// [`OperatorError`] where there is none, or the ledger could not be asked.
    pub async fn show(&self, key: &EntryKey) -> Result<Entry, OperatorError> {
        let entry = match alias::read(&*self.ledger, key).await? {
            None => self.ledger.read(key).await?,
            led_to => led_to,
        };
        entry.ok_or_else(OperatorError::not_found)
    }

    /// Takes down that an entry in doubt happened, with what later identical calls are answered.
    ///
    /// # Errors
    ///
    /// [`OperatorError`] where the entry has changed since it was shown or is not in doubt, where
    /// `by` or `reason` is empty, has a NUL in it or is longer than
    /// [`MAX_NAME`](tower_outcome_core::ledger::entry::MAX_NAME) bytes, and where the ledger could
    /// not be asked.
    pub async fn resolve_done(
        &self,
        entry: &Entry,
        result: Option<&Value>,
        by: &str,
        reason: &str,
    ) -> Result<(), OperatorError> {
        let result = result.map(|result| result.to_string().into_bytes().into_boxed_slice());
        let verdict = Resolved::Done { result };
        self.resolve(entry, verdict, by, reason).await
    }

    /// Takes down that an entry in doubt did not happen and cannot any more: an identical call may
    /// send again, under a new key.
    ///
    /// # Errors
    ///
    /// Those of [`resolve_done`](Self::resolve_done), and while something may still be sent for the
    /// entry: not before the moment that the error names.
    pub async fn resolve_failed(
        &self,
        entry: &Entry,
        by: &str,
        reason: &str,
    ) -> Result<(), OperatorError> {
        self.resolve(entry, Resolved::Failed, by, reason).await
    }

    async fn resolve(
        &self,
        entry: &Entry,
        verdict: Resolved,
        by: &str,
        reason: &str,
    ) -> Result<(), OperatorError> {
        if by.trim().is_empty() || reason.trim().is_empty() {
            return Err(OperatorError::unsigned());
        }
        // PostgreSQL cannot show it to whoever reads the table.
        if [by, reason].into_iter().any(|text| text.contains('\0')) {
            return Err(OperatorError::unprintable());
        }
        let fails = matches!(verdict, Resolved::Failed);
        let event = Event::Resolve {
            epoch: entry.epoch,
            verdict,
            by: by.into(),
            reason: reason.into(),
        };
        match self.ledger.apply(&entry.key, event).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_fenced() => Err(self.why_not(entry, fails, error).await),
            Err(error) => Err(error.into()),
        }
    }

    /// Why the ledger did not take a person's word for an entry.
    async fn why_not(&self, seen: &Entry, fails: bool, error: LedgerError) -> OperatorError {
        let Ok(Some(now)) = self.ledger.read(&seen.key).await else {
            return error.into();
        };
        let may_send_until = now.last_send_by.unwrap_or(now.lease_until);
        match now.state {
            State::Unknown if now.epoch != seen.epoch => OperatorError::changed(),
            State::Unknown if fails => OperatorError::may_still_send(may_send_until),
            state => OperatorError::not_in_doubt(state),
        }
    }

    /// Takes away results and entries that have outlived their use, until there are none left.
    /// Returns how many. Never an entry in use or in doubt.
    ///
    /// # Errors
    ///
    /// [`OperatorError`] where the ledger could not be asked. What was taken away by then stays so.
    pub async fn purge(&self) -> Result<usize, OperatorError> {
        let mut purged = 0;
        loop {
            let batch = self.ledger.purge(PURGE_BATCH).await?;
            purged += batch;
            if batch < PURGE_BATCH {
                return Ok(purged);
            }
        }
    }

    /// How many entries there are in which state, and since when the oldest is in doubt.
    ///
    /// # Errors
    ///
    /// [`OperatorError`] where the ledger could not be asked.
    pub async fn stats(&self) -> Result<Counts, OperatorError> {
        Ok(self.ledger.counts().await?)
    }
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operator").finish_non_exhaustive()
    }
}

/// Small enough for claims not to wait for it.
const PURGE_BATCH: usize = 500;
