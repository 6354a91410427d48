//! Which words a host shows as errors.

use tower_outcome_core::{Envelope, Outcome};

/// Which words carry MCP's `isError`.
///
/// `failed` and `unknown` do unless said otherwise: a result without the flag gets a green tick in
/// hosts. Nothing depends on it for safety, since the ledger stops the second send whatever the
/// model makes of the flag.
///
/// ```
/// use tower_outcome_core::{Code, Envelope};
/// use tower_outcome_mcp::ErrorFlag;
///
/// let lost = Envelope::new(Code::ResponseLost);
/// assert!(ErrorFlag::new().is_set_for(&lost));
/// assert!(!ErrorFlag::new().with_unknown(false).is_set_for(&lost));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ErrorFlag {
    failed: bool,
    skipped: bool,
    unknown: bool,
}

impl ErrorFlag {
    /// For `failed` and `unknown`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            failed: true,
            skipped: false,
            unknown: true,
        }
    }

    /// Whether a `failed` is told as an error.
    #[must_use]
    pub const fn with_failed(mut self, is_error: bool) -> Self {
        self.failed = is_error;
        self
    }

    /// Whether a `skipped` is told as an error.
    #[must_use]
    pub const fn with_skipped(mut self, is_error: bool) -> Self {
        self.skipped = is_error;
        self
    }

    /// Whether an `unknown` is told as an error.
    #[must_use]
    pub const fn with_unknown(mut self, is_error: bool) -> Self {
        self.unknown = is_error;
        self
    }

    /// Whether this envelope is told as an error. One that tells of a change that is done never is.
    #[must_use]
    pub const fn is_set_for(self, envelope: &Envelope) -> bool {
        match envelope.outcome() {
            Outcome::AlreadyDone | Outcome::Ok => false,
            Outcome::Failed => self.failed,
            Outcome::Skipped => self.skipped,
            Outcome::Unknown => self.unknown,
        }
    }
}

impl Default for ErrorFlag {
    fn default() -> Self {
        Self::new()
    }
}
