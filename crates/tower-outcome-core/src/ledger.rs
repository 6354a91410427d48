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

pub mod alias;
mod aliased;
mod changes;
pub mod cipher;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod doubted;
mod encrypted;
pub mod entry;
mod error;
pub mod event;
mod forward;
mod life;
pub mod machine;
mod memory;
mod page;
mod redacted;
mod request;
mod row;

pub use crate::fingerprint::Comparison;
pub use changes::{Changes, Waiting};
#[cfg(feature = "encryption")]
pub use cipher::AesGcmSiv;
pub use cipher::{Cipher, CipherError};
pub use clock::StoreClock;
pub use encrypted::EncryptedLedger;
pub use entry::{Entry, EntryKey, Owner, Resolution, State, Timestamp, WriteRecord};
pub use error::LedgerError;
pub use event::{Answer, Claim, Ending, Event, Grant, Resolved};
pub use memory::MemoryLedger;
pub use page::{Counts, Cursor, Filter, Listing, Page};
pub use request::StoredRequest;

/// A store of entries.
///
/// Implementations apply [`machine::step`] to one row at a time, atomically, and make the result
/// durable before they answer. A row that cannot be read, because it is damaged or a newer version
/// wrote it, is an error of [`apply`](Self::apply) and [`read`](Self::read) for its own key, and
/// stays as it is. What is asked of many entries goes on with the others, and names it: one such row
/// must neither keep everybody from theirs nor be hidden. An operation that returned an error may
/// still have taken effect: callers re-read. Dropping a returned future has the same meaning.
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

    /// At most `limit` entries that are [`State::Unknown`], oldest first. An open one that cannot be
    /// read is [named](Listing::unreadable), and does not count towards `limit`.
    ///
    /// # Errors
    ///
    /// [`LedgerError`] where the store cannot be asked.
    fn unresolved(&self, limit: usize) -> LedgerFuture<'_, Listing>;

    /// At most `limit` entries that are [`State::Unknown`] and due to be looked up, the one that
    /// waits longest first. Whoever wants to look applies [`Event::Look`] first. One that
    /// cannot be read is [named](Listing::unreadable), and does not count towards `limit`: however
    /// many stand before it, the next one that can be read is listed.
    ///
    /// # Errors
    ///
    /// [`LedgerError`] where the store cannot be asked.
    fn due(&self, limit: usize) -> LedgerFuture<'_, Listing>;

    /// Some of the entries that `filter` admits, for people. In the order of their first claim,
    /// unless the store says otherwise; whatever is there from the first page to the last is listed,
    /// if only by its key where it cannot be [read](Page::unreadable).
    ///
    /// # Errors
    ///
    /// [`LedgerError`] where the store cannot be asked, or the filter's cursor is not of this store.
    fn page<'a>(&'a self, filter: &'a Filter) -> LedgerFuture<'a, Page>;

    /// How many entries there are. Looks at all of them, also at those that it
    /// [cannot read](Counts::unreadable).
    ///
    /// # Errors
    ///
    /// [`LedgerError`] where the store cannot be asked.
    fn counts(&self) -> LedgerFuture<'_, Counts>;

    /// Takes away what has [outlived](machine::outlived) its use, of at most `limit` entries, and
    /// returns of how many. Does not stop claims; to be repeated while it returns `limit`.
    ///
    /// # Errors
    ///
    /// [`LedgerError`] where the store cannot be asked.
    fn purge(&self, limit: usize) -> LedgerFuture<'_, usize>;

    /// Resolves once the entry of `key` may differ from what a read shows that was asked after this
    /// call.
    ///
    /// Call it, read the entry of this ledger, and only then await it: so no change is missed. It may
    /// resolve without a change. The mere end of a lease is no change, nor is a purge; and it never resolves
    /// where nothing changes.
    fn changed<'a>(&'a self, key: &'a EntryKey) -> Changed<'a>;

    /// The same ledger, if it answers at once: whoever asks it then needs no future.
    ///
    /// A ledger that stands before another one is none, unless it says so.
    fn immediate(&self) -> Option<&dyn Immediate> {
        None
    }

    /// What tells this ledger from all others in this process while it is there: where it stands in
    /// memory, also behind an [`Arc`](std::sync::Arc). Two that differ may still be on one store.
    fn identity(&self) -> usize {
        std::ptr::from_ref(self).cast::<()>().addr()
    }

    /// Whether what is stored is sealed, so that whoever reads the store learns no result. Only
    /// such a ledger is given [`WriteRecord::request`].
    fn encrypts(&self) -> bool {
        false
    }

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

/// A [`Ledger`] that never waits.
pub trait Immediate {
    /// Does what [`Ledger::apply`] does.
    ///
    /// # Errors
    ///
    /// As [`Ledger::apply`].
    fn apply_now(&self, key: &EntryKey, event: Event) -> Result<Answer, LedgerError>;
}

/// What a [`Ledger`] returns.
pub type LedgerFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, LedgerError>> + Send + 'a>>;

/// What [`Ledger::changed`] returns. Dropping it ends the waiting.
pub type Changed<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

impl<L: Ledger + ?Sized> Ledger for std::sync::Arc<L> {
    fn immediate(&self) -> Option<&dyn Immediate> {
        (**self).immediate()
    }

    fn identity(&self) -> usize {
        (**self).identity()
    }

    crate::forward_ledger!(self => **self; apply read unresolved due page counts purge changed
        encrypts may_lose_writes needs_honoured_keys);
}
