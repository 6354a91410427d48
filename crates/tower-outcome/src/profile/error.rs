//! What is wrong with a profile's file.

use std::fmt;

/// What is wrong with a profile's file: which field, and why.
///
/// The text is for people and not part of the API.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProfileError {
    field: String,
    reason: String,
}

impl ProfileError {
    pub(crate) fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            reason: reason.into(),
        }
    }

    /// The field, as `rule[2].status` is the status of the second rule; empty where the text is no
    /// TOML at all.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.reason)
        } else {
            write!(f, "{}: {}", self.field, self.reason)
        }
    }
}

impl std::error::Error for ProfileError {}
