//! Why the command did not do what it was asked, and what it exits with.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use tower_outcome_core::ledger::LedgerError;
use tower_outcome_tools::operator::OperatorError;

pub(crate) enum Failure {
    Ledger(LedgerError),
    Operator(OperatorError),
    /// The command line cannot be understood.
    Usage(String),
}

impl Failure {
    pub(crate) fn usage(reason: impl Into<String>) -> Self {
        Self::Usage(reason.into())
    }

    /// The numbers that the help text documents.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Usage(_) => 2,
            Self::Operator(error) if error.is_not_found() => 3,
            Self::Operator(error) if error.is_refused() => 4,
            Self::Ledger(_) | Self::Operator(_) => 1,
        })
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

impl From<OperatorError> for Failure {
    fn from(error: OperatorError) -> Self {
        Self::Operator(error)
    }
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Self::usage(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ledger(error) => chain(error, f),
            Self::Operator(error) => chain(error, f),
            Self::Usage(reason) => write!(f, "{reason}\ntry: outcomes --help"),
        }
    }
}

/// An error and what it stems from.
fn chain(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{error}")?;
    let mut source = error.source();
    while let Some(error) = source {
        write!(f, "\n  because: {error}")?;
        source = error.source();
    }
    Ok(())
}
