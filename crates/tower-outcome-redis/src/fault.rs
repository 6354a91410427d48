//! What went wrong between us and the server, in words that hold no secret.
//!
//! An error of the server can quote the arguments of a command. Nothing of it is kept but its code.

use std::fmt;
use std::sync::Arc;

use redis::{ErrorKind, RedisError, ServerErrorKind};
use tower_outcome_core::ledger::LedgerError;

/// Why a command has no answer.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    full: bool,
    maybe_applied: bool,
    session_lives: bool,
    text: Arc<str>,
}

impl Fault {
    /// Of a command that was handed to a connection.
    pub(crate) fn of_command(error: &RedisError) -> Self {
        let code = error.code().unwrap_or_default();
        let refused = REFUSED.contains(&code);
        Self {
            full: code == "OOM",
            maybe_applied: !refused,
            session_lives: !code.is_empty() && !TAKEN_OVER.contains(&code),
            text: describe(error).into(),
        }
    }

    /// The server's answer is none of those that it can give.
    pub(crate) fn not_understood() -> Self {
        Self {
            maybe_applied: true,
            ..Self::unasked("the server's answer is not understood")
        }
    }

    /// Nothing was asked.
    pub(crate) fn unasked(reason: &str) -> Self {
        Self {
            full: false,
            maybe_applied: false,
            session_lives: true,
            text: reason.into(),
        }
    }

    /// Whether the connection can be used again.
    pub(crate) const fn session_lives(&self) -> bool {
        self.session_lives
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
        if fault.full {
            Self::full()
        } else {
            Self::unavailable(fault)
        }
    }
}

/// Why there is no connection that a ledger can use.
#[derive(Debug)]
pub(crate) struct Refusal {
    reason: String,
    fault: Option<Fault>,
}

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            fault: None,
        }
    }

    /// Why the ledger cannot start.
    pub(crate) fn into_ledger_error(self) -> LedgerError {
        LedgerError::unusable(self.reason, self.fault.map(Into::into))
    }

    /// Why a ledger that did start has no connection any more.
    pub(crate) fn into_fault(self) -> Fault {
        match self.fault {
            Some(fault) => Fault::unasked(&format!("{}: {fault}", self.reason)),
            None => Fault::unasked(&self.reason),
        }
    }
}

impl From<&RedisError> for Refusal {
    /// Of a connection that is being opened.
    fn from(error: &RedisError) -> Self {
        let reason = match (error.kind(), error.code()) {
            (ErrorKind::AuthenticationFailed, _) | (_, Some("NOAUTH" | "WRONGPASS")) => {
                "the server does not accept the user or password of the ledger's URL"
            }
            (ErrorKind::Io, _) => "the ledger's server cannot be reached",
            (ErrorKind::RESP3NotSupported, _) => TOO_OLD,
            (ErrorKind::Server(ServerErrorKind::NoPerm), _) => {
                "the user of the ledger's URL lacks a right: it needs the ledger's keys, and the \
                 commands that the documentation of tower-outcome-redis lists"
            }
            _ => "the ledger's server refuses to be used",
        };
        Self {
            reason: reason.to_owned(),
            fault: Some(Fault::unasked(&describe(error))),
        }
    }
}

fn describe(error: &RedisError) -> String {
    if let Some(code) = error.code() {
        return format!("the server answers {code}");
    }
    let text = match error.kind() {
        ErrorKind::Io if error.is_timeout() => "the server does not answer in time",
        ErrorKind::Io if error.is_connection_refusal() => "the server is not there",
        ErrorKind::Io => "the connection broke",
        ErrorKind::AuthenticationFailed => "the server answers WRONGPASS",
        _ => "the server's answer is not understood",
    };
    text.to_owned()
}

pub(crate) const TOO_OLD: &str =
    "the ledger's server is too old; it needs Redis 7.0 or later, or Valkey";

/// What a server says before it has done anything.
const REFUSED: &[&str] = &[
    "BUSY",
    "CLUSTERDOWN",
    "LOADING",
    "MASTERDOWN",
    "MISCONF",
    "MOVED",
    "NOAUTH",
    "NOREPLICAS",
    "NOSCRIPT",
    "OOM",
    "READONLY",
];

/// What a server says that is no longer the one to ask.
const TAKEN_OVER: &[&str] = &[
    "CLUSTERDOWN",
    "LOADING",
    "MASTERDOWN",
    "MOVED",
    "NOAUTH",
    "READONLY",
];
