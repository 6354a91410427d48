//! The one error of this crate: input that was refused before anything was sent.

use std::fmt;

use crate::{Code, Outcome};

/// Why a key, an intent or a setting was refused.
///
/// Names the field and the kind of value, never the value itself: arguments may be secret. The
/// text is for people and not part of the API.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Error {
    field: Box<str>,
    reason: Box<str>,
}

impl Error {
    /// Refuses `field`, for `reason`.
    #[must_use]
    pub fn invalid(field: impl Into<Box<str>>, reason: impl Into<Box<str>>) -> Self {
        Self {
            field: field.into(),
            reason: reason.into(),
        }
    }

    /// The field that was refused: a JSON pointer or the name of a setting.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The code of the call that this error ends.
    #[must_use]
    pub const fn code(&self) -> Code {
        Code::InvalidArguments
    }

    /// The word of the call that this error ends: always `failed`, nothing was sent.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        Outcome::Failed
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.reason)
        } else {
            write!(f, "{}: {}", self.field, self.reason)
        }
    }
}

impl std::error::Error for Error {}
