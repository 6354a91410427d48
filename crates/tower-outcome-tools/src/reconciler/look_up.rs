//! What a provider is asked, and what it says.

use std::fmt;
use std::pin::Pin;

use serde_json::Value;
use tower_outcome_core::BoxError;
use tower_outcome_core::ledger::{Entry, WriteRecord};

/// Asks a provider what became of one write.
pub trait LookUp: Send + Sync + 'static {
    /// Looks for the write by `write.wire_key` or `write.reference`. At least one of the two is there.
    /// What is like it and has another token or none is a candidate: a refund of the same amount is
    /// not this refund.
    ///
    /// # Errors
    ///
    /// Whatever kept the provider from being asked. The write stays in doubt.
    fn find<'a>(&'a self, entry: &'a Entry, write: &'a WriteRecord) -> LookUpFuture<'a>;

    /// Cancels the write by `write.wire_key`, where the provider can do that and the wish is better
    /// given up than left open. Asked at each look that neither found the write nor could send it
    /// again, and only once what was sent has landed; `entry.looks` counts the earlier looks.
    ///
    /// # Errors
    ///
    /// Whatever kept the provider from being asked. The write stays in doubt.
    fn cancel<'a>(&'a self, entry: &'a Entry, write: &'a WriteRecord) -> CancelFuture<'a> {
        let _ = (entry, write);
        Box::pin(async { Ok(Cancelled::Not) })
    }
}

/// What [`LookUp::find`] returns.
pub type LookUpFuture<'a> = Pin<Box<dyn Future<Output = Result<Found, BoxError>> + Send + 'a>>;

/// What [`LookUp::cancel`] returns.
pub type CancelFuture<'a> = Pin<Box<dyn Future<Output = Result<Cancelled, BoxError>> + Send + 'a>>;

/// What a look-up found.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Found {
    /// Things that may be what the write made, none of them by a token of ours. Proof of nothing.
    Candidates(Vec<Value>),
    /// The write, by a token of ours: with what the tool would have returned.
    Done(Value),
    /// The write, by a token of ours, and the provider's word that it changed nothing and never will:
    /// declined, failed, voided. Not taken for proof before the last moment of sending has passed.
    Failed,
    /// The provider could not tell.
    Inconclusive,
    /// Nothing, which proves nothing.
    NotFound,
}

/// What became of a [cancel](LookUp::cancel).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cancelled {
    /// Whatever was done under the key is undone, and nothing can be done under it any more.
    Acknowledged,
    /// It was not cancelled.
    Not,
}

impl fmt::Debug for Found {
    /// Shows nothing of what was found.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Candidates(found) => write!(f, "Candidates({} of them)", found.len()),
            Self::Done(_) => f.write_str("Done"),
            Self::Failed => f.write_str("Failed"),
            Self::Inconclusive => f.write_str("Inconclusive"),
            Self::NotFound => f.write_str("NotFound"),
        }
    }
}
