//! Why a ledger did not do what it was asked.

use std::fmt;

use super::machine::{Illegal, Refused};
use crate::{BoxError, Code, Error};

/// Why a ledger did not do what it was asked.
///
/// The text and the sources are for people and not part of the API.
#[derive(Debug)]
pub struct LedgerError {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Full,
    Illegal(Illegal),
    TooLong(Error),
    Unavailable(BoxError),
    Unusable(Box<str>, Option<BoxError>),
}

impl LedgerError {
    /// The store has no room for another entry.
    #[must_use]
    pub const fn full() -> Self {
        Self { kind: Kind::Full }
    }

    /// The store could not be asked, or did not answer.
    #[must_use]
    pub fn unavailable(source: impl Into<BoxError>) -> Self {
        Self {
            kind: Kind::Unavailable(source.into()),
        }
    }

    /// What was opened cannot serve as a ledger, for `reason`.
    #[must_use]
    pub fn unusable(reason: impl Into<Box<str>>, source: Option<BoxError>) -> Self {
        Self {
            kind: Kind::Unusable(reason.into(), source),
        }
    }

    /// Whether the entry's state or epoch did not allow the event: somebody else has it now.
    #[must_use]
    pub const fn is_fenced(&self) -> bool {
        matches!(self.kind, Kind::Illegal(_))
    }

    /// The code of a call that this error kept from sending.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self.kind {
            Kind::Full => Code::StoreFull,
            Kind::Illegal(_) => Code::StillConfirming,
            Kind::TooLong(_) => Code::InvalidArguments,
            Kind::Unavailable(_) | Kind::Unusable(..) => Code::StoreUnavailable,
        }
    }
}

impl From<Illegal> for LedgerError {
    fn from(illegal: Illegal) -> Self {
        Self {
            kind: Kind::Illegal(illegal),
        }
    }
}

impl From<Refused> for LedgerError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Illegal(illegal) => illegal.into(),
            Refused::TooLong(error) => Self {
                kind: Kind::TooLong(error),
            },
        }
    }
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Full => f.write_str("the ledger has no room for another entry"),
            Kind::Illegal(Illegal { state, event }) => write!(
                f,
                "the entry is {} or has another owner, which does not allow to {event} it",
                state.as_str()
            ),
            Kind::TooLong(error) => error.fmt(f),
            Kind::Unavailable(_) => f.write_str("the ledger could not be asked"),
            Kind::Unusable(reason, _) => f.write_str(reason),
        }
    }
}

impl std::error::Error for LedgerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            Kind::Unavailable(source) | Kind::Unusable(_, Some(source)) => Some(&**source),
            Kind::Full | Kind::Illegal(_) | Kind::TooLong(_) | Kind::Unusable(_, None) => None,
        }
    }
}
