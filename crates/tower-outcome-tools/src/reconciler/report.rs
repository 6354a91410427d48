//! What came of a pass.

use std::fmt;

use serde_json::Value;
use tower_outcome_core::ledger::EntryKey;

/// What came of a pass, by the entries' keys.
///
/// An entry stands in one of `cancelled`, `confirmed`, `failed`, `given_up` and `open`, unless another
/// replica has it or it is `unreadable`. Besides it may stand in `resent` and in `candidates`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Undone at the provider: proven not to have happened.
    pub cancelled: Vec<EntryKey>,
    /// What may be what an open entry's write made, for people.
    pub candidates: Vec<Candidates>,
    /// Proven done.
    pub confirmed: Vec<EntryKey>,
    /// Proven not to have happened.
    pub failed: Vec<EntryKey>,
    /// In doubt, and looked at too often: a person has to decide.
    pub given_up: Vec<EntryKey>,
    /// Still in doubt.
    pub open: Vec<EntryKey>,
    /// Sent again, whatever came of it.
    pub resent: Vec<EntryKey>,
    /// There, and not to be read: damaged, or written by a newer version. Nobody asks about these.
    pub unreadable: Vec<EntryKey>,
}

/// Things that may be what an entry's write made, none of them found by a token of ours.
#[derive(Clone, PartialEq)]
pub struct Candidates {
    /// The entry.
    pub key: EntryKey,
    /// What was found.
    pub found: Vec<Value>,
}

impl Report {
    pub(super) fn open(key: EntryKey) -> Self {
        Self {
            open: vec![key],
            ..Self::default()
        }
    }

    pub(super) fn given_up(key: EntryKey) -> Self {
        Self {
            given_up: vec![key],
            ..Self::default()
        }
    }

    pub(super) fn unreadable(keys: Vec<EntryKey>) -> Self {
        Self {
            unreadable: keys,
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.cancelled.extend(other.cancelled);
        self.candidates.extend(other.candidates);
        self.confirmed.extend(other.confirmed);
        self.failed.extend(other.failed);
        self.given_up.extend(other.given_up);
        self.open.extend(other.open);
        self.resent.extend(other.resent);
        self.unreadable.extend(other.unreadable);
    }

    pub(super) fn log(&self) {
        tracing::debug!(
            cancelled = self.cancelled.len(),
            confirmed = self.confirmed.len(),
            failed = self.failed.len(),
            given_up = self.given_up.len(),
            open = self.open.len(),
            resent = self.resent.len(),
            unreadable = self.unreadable.len(),
            "asked about what is in doubt"
        );
        for key in &self.given_up {
            tracing::warn!(?key, "an entry stays in doubt until a person decides");
        }
        for key in &self.unreadable {
            tracing::warn!(
                ?key,
                "an entry cannot be read: it is damaged, or of a newer version"
            );
        }
    }
}

impl fmt::Debug for Candidates {
    /// Shows nothing of what was found.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidates")
            .field("key", &self.key)
            .field("found", &self.found.len())
            .finish()
    }
}
