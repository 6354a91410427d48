//! The one error of this crate.

#![cfg(feature = "client")]

use std::fmt;

use tower_outcome_core::ledger::LedgerError;
use tower_outcome_core::{BoxError, Code, Conclusion, Outcome};

/// Why a call ended without an answer to hand on.
///
/// An error that passes through other tower layers stays itself: layers of this crate find it again
/// by downcasting. The text and the sources are for people and not part of the API; neither holds a
/// body, an argument, a key or the query of a URL.
pub struct Error(Box<Inner>);

struct Inner {
    conclusion: Conclusion,
    detail: Option<Box<str>>,
    source: Option<BoxError>,
}

impl Error {
    pub(crate) fn new(conclusion: impl Into<Conclusion>) -> Self {
        Self(Box::new(Inner {
            conclusion: conclusion.into(),
            detail: None,
            source: None,
        }))
    }

    pub(crate) fn with_detail(mut self, detail: impl Into<Box<str>>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    pub(crate) fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    pub(crate) fn concluded(mut self, conclusion: Conclusion) -> Self {
        self.0.conclusion = conclusion;
        self
    }

    /// Finds an error of ours again that came through another layer.
    ///
    /// An error of somebody else's says nothing about what left, so the record of the call decides:
    /// `if_unsent` is the code where nothing had.
    fn from_box(error: BoxError, if_unsent: Code) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => *error,
            Err(error) => Self::new(if_unsent).with_source(error),
        }
    }

    /// An error from below a layer, of a call that may be a write.
    pub(crate) fn of_write(error: impl Into<BoxError>) -> Self {
        Self::from_box(error.into(), Code::NotSent)
    }

    /// An error from below a layer, of a call that is a read.
    pub(crate) fn of_read(error: impl Into<BoxError>) -> Self {
        Self::from_box(error.into(), Code::ReadFailed)
    }

    /// An error from below a layer that knows which of both the call is.
    pub(crate) fn of(writes: bool, error: impl Into<BoxError>) -> Self {
        if writes {
            Self::of_write(error)
        } else {
            Self::of_read(error)
        }
    }

    /// The word of the call that this error ends.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.0.conclusion.outcome()
    }

    /// Why the call ended in its word.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.conclusion.code()
    }

    /// The word, its code, and how much they speak for.
    #[must_use]
    pub fn conclusion(&self) -> Conclusion {
        self.0.conclusion
    }

    /// What was refused, where somebody can mend it.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }
}

impl From<tower_outcome_core::Error> for Error {
    fn from(error: tower_outcome_core::Error) -> Self {
        Self::new(error.code()).with_detail(error.to_string())
    }
}

impl From<LedgerError> for Error {
    fn from(error: LedgerError) -> Self {
        Self::new(Conclusion::new(error.code()).for_this_call()).with_source(error)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("conclusion", &self.0.conclusion)
            .field("detail", &self.0.detail)
            .field("source", &self.0.source)
            .finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.outcome(), self.code())?;
        match &self.0.detail {
            Some(detail) => write!(f, ": {detail}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.0.source.as_deref()?;
        Some(source)
    }
}
