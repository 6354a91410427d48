//! Why a person's wish was not carried out.

use std::fmt;

use tower_outcome_core::ledger::{LedgerError, State, Timestamp};

/// Why a person's wish was not carried out.
///
/// The text is for people and not part of the API.
#[derive(Debug)]
pub struct OperatorError {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Ambiguous,
    Changed,
    Ledger(LedgerError),
    MayStillSend(Timestamp),
    NotFound,
    NotInDoubt(State),
    TooShort,
    Unprintable,
    Unsigned,
}

impl OperatorError {
    /// Whether there is no such entry, or more than one.
    #[must_use]
    pub const fn is_not_found(&self) -> bool {
        matches!(self.kind, Kind::Ambiguous | Kind::NotFound)
    }

    /// Whether the entry does not allow it: it is not in doubt, has changed, or may still be sent.
    #[must_use]
    pub const fn is_refused(&self) -> bool {
        matches!(
            self.kind,
            Kind::Changed | Kind::MayStillSend(_) | Kind::NotInDoubt(_)
        )
    }

    /// The moment before which nobody can say that nothing happened, where that is the reason.
    #[must_use]
    pub const fn not_before(&self) -> Option<Timestamp> {
        match self.kind {
            Kind::MayStillSend(until) => Some(until),
            _ => None,
        }
    }

    pub(super) const fn ambiguous() -> Self {
        Self::new(Kind::Ambiguous)
    }

    pub(super) const fn changed() -> Self {
        Self::new(Kind::Changed)
    }

    pub(super) const fn may_still_send(until: Timestamp) -> Self {
        Self::new(Kind::MayStillSend(until))
    }

    pub(super) const fn not_found() -> Self {
        Self::new(Kind::NotFound)
    }

    pub(super) const fn not_in_doubt(state: State) -> Self {
        Self::new(Kind::NotInDoubt(state))
    }

    pub(super) const fn too_short() -> Self {
        Self::new(Kind::TooShort)
    }

    pub(super) const fn unprintable() -> Self {
        Self::new(Kind::Unprintable)
    }

    pub(super) const fn unsigned() -> Self {
        Self::new(Kind::Unsigned)
    }

    const fn new(kind: Kind) -> Self {
        Self { kind }
    }
}

impl From<LedgerError> for OperatorError {
    fn from(error: LedgerError) -> Self {
        Self::new(Kind::Ledger(error))
    }
}

impl fmt::Display for OperatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Ambiguous => f.write_str("more than one entry has a key that begins so"),
            Kind::Changed => f.write_str("the entry has changed since it was shown; look again"),
            Kind::Ledger(_) => f.write_str("the ledger did not do it"),
            Kind::MayStillSend(until) => write!(
                f,
                "something may still be sent for the entry; nobody can say that it did not happen \
                 before {until}"
            ),
            Kind::NotFound => f.write_str("there is no such entry"),
            Kind::NotInDoubt(State::Alias) => f.write_str(
                "the key is an alias that leads to no one entry, so that there is nothing to resolve",
            ),
            Kind::NotInDoubt(state) => write!(
                f,
                "the entry is {} and not in doubt, so that there is nothing to resolve",
                state.as_str()
            ),
            Kind::TooShort => f.write_str("the beginning of a key is at least 8 hex digits long"),
            Kind::Unprintable => f.write_str("the name or the reason has a NUL in it"),
            Kind::Unsigned => f.write_str("say who resolves it, and how they know"),
        }
    }
}

impl std::error::Error for OperatorError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            Kind::Ledger(error) => Some(error),
            _ => None,
        }
    }
}
