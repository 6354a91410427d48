//! What a call ended in, with everything that the code alone does not tell.

use serde::{Deserialize, Serialize};

use super::{Code, Level, Retry, THIS_CALL, THIS_CALL_REFUSED};
use crate::Outcome;

/// Whether something `unknown` may still happen.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Landing {
    /// It may still land. A closed connection, a crash or a 5xx never settle anything.
    #[default]
    InFlight,
    /// It cannot land any more, so that a look-up now is conclusive.
    Settled,
}

/// The end of a call: a code, how much it speaks for, and whether an `unknown` may still land.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Conclusion {
    code: Code,
    landing: Landing,
    level: Level,
}

impl Conclusion {
    /// Ends a call in `code`, at the level that the table gives it.
    #[must_use]
    pub const fn new(code: Code) -> Self {
        Self {
            code,
            landing: Landing::InFlight,
            level: code.level(),
        }
    }

    /// Narrows a `failed` to what this call can vouch for: the ledger's entry was not read. What was
    /// only read stays as it is.
    #[must_use]
    pub const fn for_this_call(mut self) -> Self {
        let reads = matches!(self.code, Code::ReadFailed);
        if matches!(self.code.outcome(), Outcome::Failed) && !reads {
            self.level = Level::Call;
        }
        self
    }

    /// Says that an `unknown` cannot land any more.
    #[must_use]
    pub const fn settled(mut self) -> Self {
        self.landing = Landing::Settled;
        self
    }

    /// Why the call ended in its word.
    #[must_use]
    pub const fn code(self) -> Code {
        self.code
    }

    /// The word.
    #[must_use]
    pub const fn outcome(self) -> Outcome {
        self.code.outcome()
    }

    /// How much the word speaks for.
    #[must_use]
    pub const fn level(self) -> Level {
        self.level
    }

    /// Whether it may still land; `None` where the word is not `unknown`.
    #[must_use]
    pub fn landing(self) -> Option<Landing> {
        (self.outcome() == Outcome::Unknown).then_some(self.landing)
    }

    /// Whether the same call may be made again. Never `yes` for what speaks of one call only.
    #[must_use]
    pub fn retry(self) -> Retry {
        match (self.level, self.code.retry()) {
            (Level::Call, Retry::Yes) => Retry::Later,
            (_, retry) => retry,
        }
    }

    /// What a model or a person is told.
    ///
    /// Refused input keeps its own message at either level: it names what to correct.
    #[must_use]
    pub fn message(self) -> &'static str {
        match (self.level, self.code) {
            (Level::Intent, code)
            | (Level::Call, code @ (Code::InvalidArguments | Code::KeyConflict)) => code.message(),
            (
                Level::Call,
                Code::Declined
                | Code::KeyExpired
                | Code::PreconditionFailed
                | Code::RateLimited
                | Code::RedirectRefused
                | Code::RefusedByProtocol
                | Code::Rejected,
            ) => THIS_CALL_REFUSED,
            (Level::Call, _) => THIS_CALL,
        }
    }
}

impl From<Code> for Conclusion {
    fn from(code: Code) -> Self {
        Self::new(code)
    }
}
