//! The five words that a call can end in.
//!
//! ```
//! use tower_outcome_core::Outcome;
//!
//! assert_eq!(Outcome::AlreadyDone.as_str(), "already_done");
//! assert!(!Outcome::Unknown.is_done());
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};

/// What became of a call.
///
/// The word belongs to the whole intent, not to one attempt: once an earlier attempt may have
/// left, no later refusal turns the word into `failed`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// An earlier identical call did it; its stored result is the answer.
    AlreadyDone,
    /// A promise: nothing changed, and nothing of this call will.
    Failed,
    /// The change happened, and there is proof.
    Ok,
    /// An identical call is in flight, so this one sent nothing.
    Skipped,
    /// It left and there is no proof either way. Not to be repeated.
    Unknown,
}

impl Outcome {
    /// The word as it stands in JSON, logs and documentation.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AlreadyDone => "already_done",
            Self::Failed => "failed",
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Unknown => "unknown",
        }
    }

    /// Whether the change is known to have happened, in this call or an earlier one.
    #[must_use]
    pub const fn is_done(self) -> bool {
        matches!(self, Self::AlreadyDone | Self::Ok)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
