//! The durable record of every claimed write.
//!
//! A write is claimed before it may leave and settled by what became of it, so that a repeat from
//! another task, another process or after a crash meets the first one's row instead of the
//! provider. All rules stand in one pure function, [`machine::step`]; a store only applies it
//! atomically to the row of one key.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use serde_json::json;
//! use tower_outcome_core::ledger::{Answer, Claim, EntryKey, Event, Ledger, MemoryLedger, Owner};
//! use tower_outcome_core::Intent;
//!
//! let ledger = MemoryLedger::default();
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

use std::future::Future;
use std::pin::Pin;

#[cfg(feature = "conformance")]
pub mod conformance;
pub mod entry;
mod error;
pub mod event;
pub mod machine;
mod memory;
mod redacted;

pub use entry::{Entry, EntryKey, Owner, State, Timestamp, WriteRecord};
pub use error::LedgerError;
pub use event::{Answer, Claim, Ending, Event, Grant};
pub use memory::MemoryLedger;

/// A store of entries.
///
/// Implementations apply [`machine::step`] to one row at a time, atomically, and make the result
/// durable before they answer. An operation that returned an error may still have taken effect:
/// callers re-read. Dropping a returned future has the same meaning.
pub trait Ledger: Send + Sync + 'static {
    /// Applies `event` to the entry of `key`.
    ///
    /// # Errors
    ///
    /// [`LedgerError`] where the store cannot be asked, has no room for another entry, or the
    /// entry is not (or no longer) in a state that allows the event.
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer>;

    /// The entry of `key` as it stands now, with a lease that has ended taken into account.
    ///
    /// # Errors
    ///
    /// [`LedgerError`] where the store cannot be asked.
    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>>;

    /// At most `limit` entries that are [`State::Unknown`], oldest first.
    ///
    /// # Errors
    ///
    /// [`LedgerError`] where the store cannot be asked.
    fn unresolved(&self, limit: usize) -> LedgerFuture<'_, Vec<Entry>>;

    /// Whether the store may forget what it has acknowledged, after a crash or a failover.
    ///
    /// Such a store keeps [`Entry::generation`] at 0: a number that came back after it was moved
    /// would give an earlier wire key to a later attempt.
    fn may_lose_writes(&self) -> bool {
        false
    }

    /// Whether only writes may be claimed whose provider honours keys, so that the provider stops a
    /// repeat which the store let through.
    fn needs_honoured_keys(&self) -> bool {
        self.may_lose_writes()
    }
}

/// What a [`Ledger`] returns.
pub type LedgerFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, LedgerError>> + Send + 'a>>;

impl<L: Ledger + ?Sized> Ledger for std::sync::Arc<L> {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        (**self).apply(key, event)
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        (**self).read(key)
    }

    fn unresolved(&self, limit: usize) -> LedgerFuture<'_, Vec<Entry>> {
        (**self).unresolved(limit)
    }

    fn may_lose_writes(&self) -> bool {
        (**self).may_lose_writes()
    }

    fn needs_honoured_keys(&self) -> bool {
        (**self).needs_honoured_keys()
    }
}
