//! What people ask of a ledger: which entries there are, and how many.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::LedgerError;
use super::entry::{Entry, EntryKey, State, Timestamp};
use super::life::Life;
use crate::key::{hex, unhex};
use crate::{Error, IdempotencyKey};

/// Which entries to list. See [`Ledger::page`](super::Ledger::page).
///
/// ```
/// use std::time::Duration;
/// use tower_outcome_core::ledger::{Filter, State};
///
/// let stuck = Filter {
///     state: Some(State::Unknown),
///     older_than: Some(Duration::from_secs(3600)),
///     ..Filter::new(50)
/// };
/// assert_eq!(stuck.tool, None, "of any tool");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Filter {
    /// Only those in this state, with leases that have ended taken into account.
    pub state: Option<State>,
    /// Only those of this tool.
    pub tool: Option<Box<str>>,
    /// Only those of this scope.
    pub scope: Option<Box<str>>,
    /// Only those that have not changed for longer than this.
    pub older_than: Option<Duration>,
    /// Only those behind this place, where the page before has ended.
    pub after: Option<Cursor>,
    /// How many entries a page is to hold. A store that reads them in batches may give a few more.
    pub limit: usize,
}

impl Filter {
    /// All entries, at most `limit` in a page.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            state: None,
            tool: None,
            scope: None,
            older_than: None,
            after: None,
            limit,
        }
    }

    /// Whether `entry`, as it stands at `now`, is to be listed. Does not look at [`Self::after`].
    #[must_use]
    pub fn admits(&self, entry: &Entry, now: Timestamp) -> bool {
        self.state.is_none_or(|state| state == entry.state)
            && self.tool.as_ref().is_none_or(|tool| **tool == *entry.tool)
            && (self.scope.as_ref()).is_none_or(|scope| **scope == *entry.key.scope)
            && (self.older_than).is_none_or(|age| entry.updated_at.after(age) < now)
    }
}

/// A part of a ledger's entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The entries. There may be fewer than were asked for, or none, although more follow.
    pub entries: Vec<Entry>,
    /// Where the next page begins; `None` if this was the last.
    pub next: Option<Cursor>,
    /// Those that are there besides and cannot be read: damaged, or written by a newer version. A
    /// store that cannot tell whether the filter admits one lists it.
    pub unreadable: Vec<EntryKey>,
}

impl Page {
    /// Takes in a row as it stands at `now` if `filter` admits it; one that cannot be read is its key.
    pub fn add(&mut self, row: Result<Entry, EntryKey>, filter: &Filter, now: Timestamp) {
        match row {
            Ok(entry) if filter.admits(&entry, now) => self.entries.push(entry),
            Err(key) if (filter.scope.as_ref()).is_none_or(|scope| **scope == *key.scope) => {
                self.unreadable.push(key);
            }
            Ok(_) | Err(_) => {}
        }
    }
}

/// Entries that a ledger was asked for, and those that it cannot read.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use tower_outcome_core::ledger::{Ledger, MemoryLedger};
///
/// let due = MemoryLedger::default().due(10).await?;
/// assert!(due.entries.is_empty() && due.unreadable.is_empty());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// The entries, in the order that was asked for.
    pub entries: Vec<Entry>,
    /// Those that the store came across and that cannot be read: damaged, or written by a newer
    /// version. Each may be one of those that were asked for.
    pub unreadable: Vec<EntryKey>,
}

impl Listing {
    /// The first `limit` entries of `rows`, as they stand now, that `admits` admits. A row that
    /// cannot be read is its key, and takes no entry's place.
    ///
    /// # Errors
    ///
    /// The first error of `rows`, where the store could not be asked for more of them.
    pub fn first<E>(
        limit: usize,
        rows: impl IntoIterator<Item = Result<Result<Entry, EntryKey>, E>>,
        admits: impl Fn(&Entry) -> bool,
    ) -> Result<Self, E> {
        let mut listing = Self::default();
        let mut rows = rows.into_iter();
        while listing.entries.len() < limit
            && let Some(row) = rows.next()
        {
            match row? {
                Ok(entry) if admits(&entry) => listing.entries.push(entry),
                Ok(_) => {}
                Err(key) => listing.unreadable.push(key),
            }
        }
        Ok(listing)
    }
}

impl From<Vec<Entry>> for Listing {
    /// All of which can be read.
    fn from(entries: Vec<Entry>) -> Self {
        Self {
            entries,
            unreadable: Vec::new(),
        }
    }
}

/// A place among the entries of one ledger.
///
/// What it says is the store's business. It can be written down and read back with `Display` and
/// `FromStr`, and holds a scope.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cursor(Box<str>);

impl Cursor {
    /// A place that a store names in its own way.
    #[must_use]
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The place behind the entry of `key`, where entries are in the order of their first claim.
    #[must_use]
    pub fn behind(created_at: Timestamp, key: &EntryKey) -> Self {
        let digits = hex(key.key.as_bytes());
        Self::new(format!("{}.{digits}.{}", created_at.0, key.scope))
    }

    /// What [`behind`](Self::behind) was made of.
    ///
    /// # Errors
    ///
    /// [`LedgerError`] where the cursor is of another store or was made up.
    pub fn place(&self) -> Result<(Timestamp, EntryKey), LedgerError> {
        let parse = || {
            let (created_at, rest) = self.0.split_once('.')?;
            let (digits, scope) = rest.split_once('.')?;
            let key = EntryKey {
                scope: scope.into(),
                key: IdempotencyKey::from_bytes(unhex(digits)?),
            };
            Some((Timestamp(created_at.parse().ok()?), key))
        };
        parse().ok_or_else(Self::refused)
    }

    /// What the store named.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        &self.0
    }

    /// The error of a store that cannot read the cursor.
    #[must_use]
    pub fn refused() -> LedgerError {
        LedgerError::unusable("the place to go on from is not one of this ledger", None)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Cursor {
    type Err = Error;

    /// Takes any text; the store that is asked refuses what is not its own.
    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(Self::new(text))
    }
}

/// How many entries a ledger has.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    by_state: [u64; State::ALL.len()],
    /// Since when the oldest entry in doubt has not changed.
    pub unknown_since: Option<Timestamp>,
    /// How many there are besides: their state cannot be read, or not since when they are in it.
    pub unreadable: u64,
}

impl Counts {
    /// How many are in `state`, with leases that have ended taken into account.
    #[must_use]
    pub const fn of(&self, state: State) -> u64 {
        self.by_state[state as usize]
    }

    /// How many there are, with those that cannot be read.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_state.iter().sum::<u64>() + self.unreadable
    }

    /// Counts `number` more in `state`, of which the oldest has not changed since `oldest`.
    pub fn add(&mut self, state: State, number: u64, oldest: Timestamp) {
        self.by_state[state as usize] += number;
        if state == State::Unknown && number > 0 {
            let since = self.unknown_since.map_or(oldest, |since| since.min(oldest));
            self.unknown_since = Some(since);
        }
    }

    /// Counts an entry as it stands at `now`.
    pub fn add_entry(&mut self, entry: &Entry, now: Timestamp) {
        self.add(Life::of(entry).state_at(now), 1, entry.updated_at);
    }
}
