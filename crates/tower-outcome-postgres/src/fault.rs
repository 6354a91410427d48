//! What went wrong between us and the database, in words that hold no secret.
//!
//! The errors of the client can carry a whole row or a part of a URL in their details. Nothing of
//! them is kept but the server's code and sentence, or the kind of the failure.

use std::error::Error as _;
use std::fmt;
use std::sync::Arc;

use tokio_postgres::Error;
use tokio_postgres::error::{Severity, SqlState};
use tower_outcome_core::ledger::LedgerError;

/// Why a statement has no answer. Shared by all that were in it.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    full: bool,
    maybe_applied: bool,
    refused: bool,
    text: Arc<str>,
}

impl Fault {
    /// Of a statement that was handed to the connection.
    pub(crate) fn of_statement(error: &Error) -> Self {
        let refused = error
            .as_db_error()
            .is_some_and(|error| error.parsed_severity() == Some(Severity::Error));
        Self {
            full: error.code() == Some(&SqlState::DISK_FULL),
            // One statement is one transaction: an error is its rollback. What ends the session
            // instead may come after the commit.
            maybe_applied: !refused,
            refused,
            text: describe(error).into(),
        }
    }

    /// The answer does not come.
    pub(crate) fn no_answer() -> Self {
        Self {
            full: false,
            maybe_applied: true,
            refused: false,
            text: "the database does not answer".into(),
        }
    }

    /// Nothing was asked.
    pub(crate) fn unasked(reason: &str) -> Self {
        Self {
            full: false,
            maybe_applied: false,
            refused: false,
            text: reason.into(),
        }
    }

    /// Whether the database has looked at the statement and changed nothing.
    pub(crate) const fn was_refused(&self) -> bool {
        self.refused
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if self.maybe_applied {
            f.write_str("; the change may have taken effect")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for LedgerError {
    fn from(fault: Fault) -> Self {
        // What may have taken effect has not met a lack of room.
        if fault.full && !fault.maybe_applied {
            Self::full()
        } else {
            Self::unavailable(fault)
        }
    }
}

/// Why there is no session.
#[derive(Debug)]
pub(crate) struct Refusal {
    reason: String,
    fault: Option<Fault>,
}

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let fault = None;
        Self { reason, fault }
    }

    /// Why the ledger cannot start.
    pub(crate) fn into_ledger_error(self) -> LedgerError {
        LedgerError::unusable(self.reason, self.fault.map(Into::into))
    }

    /// Why a ledger that did start has no session any more.
    pub(crate) fn into_fault(self) -> Fault {
        match self.fault {
            Some(fault) => Fault::unasked(&format!("{}: {fault}", self.reason)),
            None => Fault::unasked(&self.reason),
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let reason = match error.code() {
            Some(code) => reason_of(code),
            None => "the ledger's database server cannot be reached",
        };
        Self {
            reason: reason.to_owned(),
            fault: Some(Fault::unasked(&describe(&error))),
        }
    }
}

fn reason_of(code: &SqlState) -> &'static str {
    match *code {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            "the database server does not accept the user or password of the ledger's URL"
        }
        SqlState::INVALID_CATALOG_NAME => "the database of the ledger's URL does not exist",
        SqlState::INSUFFICIENT_PRIVILEGE => {
            "the user of the ledger's URL lacks a right: to make the ledger's schema it needs \
             CREATE on the database, to use it USAGE on the schema and SELECT, INSERT, UPDATE and \
             DELETE on its tables"
        }
        SqlState::READ_ONLY_SQL_TRANSACTION => "the ledger's database may only be read",
        SqlState::TOO_MANY_CONNECTIONS => "the database server has no connection left",
        SqlState::CANNOT_CONNECT_NOW => "the database server is starting or stopping",
        SqlState::UNDEFINED_COLUMN | SqlState::UNDEFINED_TABLE | SqlState::DATATYPE_MISMATCH => {
            "the tables of the ledger's schema are not as tower-outcome-postgres made them"
        }
        _ => "the ledger's database refuses to be used",
    }
}

/// The failure without its details.
fn describe(error: &Error) -> String {
    if let Some(refused) = error.as_db_error() {
        return format!("{} (SQLSTATE {})", refused.message(), refused.code().code());
    }
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
