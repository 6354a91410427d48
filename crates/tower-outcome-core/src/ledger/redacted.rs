//! What `Debug` shows of the ledger: states and codes, and of a stored result its length only.

use std::fmt::{Debug, Formatter, Result};

use super::entry::{Entry, Resolution, WriteRecord};
use super::event::{Answer, Ending, Event, Resolved};

impl Debug for Entry {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Entry")
            .field("key", &self.key)
            .field("tool", &self.tool)
            .field("state", &self.state)
            .field("epoch", &self.epoch)
            .field("generation", &self.generation)
            .field("maybe_sent", &self.maybe_sent)
            .field("owner", &self.owner)
            .field("lease_until", &self.lease_until)
            .field("fingerprint", &self.fingerprint)
            .field("code", &self.code)
            .field("landing", &self.landing)
            .field("result", &Length::of(self.result.as_deref()))
            .field("writes", &self.writes)
            .field("created_at", &self.created_at)
            .field("updated_at", &self.updated_at)
            .field("last_send_by", &self.last_send_by)
            .field("looks", &self.looks)
            .field("look_at", &self.look_at)
            .field("resolution", &self.resolution)
            .field("alias_of", &self.alias_of)
            .finish()
    }
}

impl Debug for Resolution {
    /// Shows no reason: people write down there what they have looked at.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Resolution")
            .field("by", &self.by)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

impl Debug for WriteRecord {
    /// Shows no token: whoever has one can speak for the write.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("WriteRecord")
            .field("label", &self.label)
            .field("route", &self.route)
            .field("profile", &self.profile)
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

impl Debug for Event {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Alias { of, shared } => f
                .debug_struct("Alias")
                .field("of", of)
                .field("shared", shared)
                .finish(),
            Self::Claim(claim) => f.debug_tuple("Claim").field(claim).finish(),
            Self::Find { result } => f
                .debug_struct("Find")
                .field("result", &Length::of(result.as_deref()))
                .finish(),
            Self::Home { instead_of } => f
                .debug_struct("Home")
                .field("instead_of", instead_of)
                .finish(),
            Self::Look { again_after } => f
                .debug_struct("Look")
                .field("again_after", again_after)
                .finish(),
            Self::Resolve {
                epoch, verdict, by, ..
            } => f
                .debug_struct("Resolve")
                .field("epoch", epoch)
                .field("verdict", verdict)
                .field("by", by)
                .finish_non_exhaustive(),
            Self::Resend { epoch, sends_for } => f
                .debug_struct("Resend")
                .field("epoch", epoch)
                .field("sends_for", sends_for)
                .finish(),
            Self::Release { epoch, code } => f
                .debug_struct("Release")
                .field("epoch", epoch)
                .field("code", code)
                .finish(),
            Self::Send { epoch, write, .. } => f
                .debug_struct("Send")
                .field("epoch", epoch)
                .field("write", write)
                .finish_non_exhaustive(),
            Self::Settle { epoch, ending } => f
                .debug_struct("Settle")
                .field("epoch", epoch)
                .field("ending", ending)
                .finish(),
        }
    }
}

impl Debug for Ending {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Done { code, result } => f
                .debug_struct("Done")
                .field("code", code)
                .field("result", &Length::of(result.as_deref()))
                .finish(),
            Self::Failed { code } => f.debug_struct("Failed").field("code", code).finish(),
            Self::Partial { result } => f
                .debug_struct("Partial")
                .field("result", &Length::of(result.as_deref()))
                .finish(),
            Self::Unknown { conclusion, result } => f
                .debug_struct("Unknown")
                .field("conclusion", conclusion)
                .field("result", &Length::of(result.as_deref()))
                .finish(),
        }
    }
}

impl Debug for Resolved {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Done { result } => f
                .debug_struct("Done")
                .field("result", &Length::of(result.as_deref()))
                .finish(),
            Self::Failed => f.write_str("Failed"),
        }
    }
}

impl Debug for Answer {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Applied => f.write_str("Applied"),
            Self::Differs { field } => f.debug_struct("Differs").field("field", field).finish(),
            Self::Granted(grant) => f.debug_tuple("Granted").field(grant).finish(),
            Self::InProgress => f.write_str("InProgress"),
            Self::Moved(to) => f.debug_tuple("Moved").field(to).finish(),
            Self::Settled {
                code,
                result,
                until,
            } => f
                .debug_struct("Settled")
                .field("code", code)
                .field("result", &Length::of(result.as_deref()))
                .field("until", until)
                .finish(),
            Self::StillConfirming => f.write_str("StillConfirming"),
        }
    }
}

/// A stored result, by its length.
struct Length(Option<usize>);

impl Length {
    fn of(result: Option<&[u8]>) -> Self {
        Self(result.map(<[u8]>::len))
    }
}

impl Debug for Length {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            Some(length) => write!(f, "{length} bytes"),
            None => f.write_str("None"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn a_stored_result_is_shown_by_its_length() {
        let result = Some(Box::from(*b"canary"));
        let shown = format!(
            "{:?} {:?}",
            Event::Find {
                result: result.clone()
            },
            Ending::Done {
                code: Code::Done,
                result
            },
        );
        assert!(shown.contains("6 bytes"), "{shown}");
        assert!(!shown.contains("99, 97, 110"), "{shown}");
    }
}
