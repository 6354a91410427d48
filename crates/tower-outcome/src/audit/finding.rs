//! What can be found.

use std::fmt;

use http::{Method, StatusCode};

/// Something that may have made a write happen twice, or be called failed when it was not.
///
/// Holds no query, no body and no key.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// What was found.
    pub kind: Kind,
    /// Whether it is known, and not only likely, that this is what happened.
    pub certain: bool,
    /// The write's method.
    pub method: Method,
    /// The write's host; empty where the request named none.
    pub host: Box<str>,
    /// The write's port, where the request named one.
    pub port: Option<u16>,
    /// The write's path, without its query.
    pub path: Box<str>,
    /// Which attempt it is about, from 1.
    pub attempt: u32,
    /// How the attempt before it ended, of a write that was sent again or redirected; `None` where
    /// that was still under way.
    pub after: Option<Ended>,
}

/// What was found.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// The future of a write that may have left was dropped. Whoever dropped it, a timeout for
    /// instance, is likely to report a failure.
    Abandoned,
    /// A write was sent again with another key than before, so that the key protects nothing.
    KeyChanged,
    /// A write was redirected: what its caller gets speaks for another request.
    Redirected,
    /// A write was sent again without a key after it may have happened.
    Resent,
    /// A write that may have left ended in an error.
    Unanswered,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Ended {
    /// Its future was dropped.
    Abandoned,
    /// With this status.
    Answered(StatusCode),
    /// With an error.
    Failed,
}

impl Kind {
    /// The name, as it stands in logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Abandoned => "abandoned",
            Self::KeyChanged => "key_changed",
            Self::Redirected => "redirected",
            Self::Resent => "resent",
            Self::Unanswered => "unanswered",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let likely = if self.certain { "" } else { "likely " };
        write!(f, "{likely}{}: {} {}", self.kind, self.method, self.host)?;
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        write!(f, "{}, attempt {}", self.path, self.attempt)?;
        match self.after {
            Some(ended) => write!(f, " after {ended}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Abandoned => f.write_str("a drop"),
            Self::Answered(status) => f.write_str(status.as_str()),
            Self::Failed => f.write_str("an error"),
        }
    }
}
