//! What went wrong between us and the file.

use std::sync::Arc;

use rusqlite::{Error, ErrorCode};
use tower_outcome_core::ledger::LedgerError;

/// Why something was not done. Shared by all that were in the transaction.
pub(crate) type Failure = Arc<Error>;

/// What a failure of SQLite is to whoever asked.
pub(crate) fn failed(failure: impl Into<Failure>) -> LedgerError {
    let failure = failure.into();
    match failure.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => LedgerError::full(),
        _ => LedgerError::unavailable(failure),
    }
}
