//! What is asked of an entry, and what it answers.

use std::time::Duration;

use super::entry::{Owner, Timestamp, WriteRecord};
use crate::fingerprint::Fingerprint;
use crate::{Code, Conclusion, Intent, Outcome};

/// Something that happens to an entry.
#[derive(Clone, PartialEq)]
pub enum Event {
    /// Somebody wants to do it.
    Claim(Claim),
    /// A look-up found the effect by a token of ours. Proof, whoever brings it.
    Find {
        /// What was found, as the answer to later identical calls.
        result: Option<Box<[u8]>>,
    },
    /// Its owner knows that nothing left.
    Release {
        /// The claim's epoch.
        epoch: u64,
        /// Why nothing left, for people.
        code: Code,
    },
    /// Its owner is about to send this write.
    Send {
        /// The claim's epoch.
        epoch: u64,
        /// The write.
        write: WriteRecord,
        /// From now on, for how long the owner counts as alive.
        lease: Duration,
        /// For how long the owner may go on sending.
        sends_for: Duration,
    },
    /// Its owner knows how it ended, or that it does not know.
    Settle {
        /// The claim's epoch.
        epoch: u64,
        /// How it ended.
        ending: Ending,
    },
}

impl Event {
    /// The event as it stands in errors and logs.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Claim(_) => "claim",
            Self::Find { .. } => "find",
            Self::Release { .. } => "release",
            Self::Send { .. } => "send",
            Self::Settle { .. } => "settle",
        }
    }
}

/// Somebody wants to do what an intent names.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The tool or operation, for people.
    pub tool: Box<str>,
    /// Who asks.
    pub owner: Owner,
    /// For how long the owner counts as alive.
    pub lease: Duration,
    /// What must be equal in an identical call.
    pub fingerprint: Fingerprint,
    /// Whether [`Event::Send`] will be applied before anything leaves. If not, a crash of the owner
    /// always ends in `unknown`; the ledger is asked once less.
    pub announces_sends: bool,
}

impl Claim {
    /// A claim of `intent` that will announce its sends.
    #[must_use]
    pub fn new(intent: &Intent, owner: Owner, lease: Duration) -> Self {
        Self {
            tool: intent.tool().into(),
            owner,
            lease,
            fingerprint: intent.fingerprint().clone(),
            announces_sends: true,
        }
    }
}

/// How a claimed call ended.
#[derive(Clone, PartialEq)]
pub enum Ending {
    /// The change happened.
    Done {
        /// The proof.
        code: Code,
        /// The answer to later identical calls.
        result: Option<Box<[u8]>>,
    },
    /// The provider had it and proved that nothing changed.
    Failed {
        /// The proof.
        code: Code,
    },
    /// A part happened.
    Partial {
        /// What is known of the parts.
        result: Option<Box<[u8]>>,
    },
    /// It may have happened.
    Unknown {
        /// Why there is no proof, and whether it may still land.
        conclusion: Conclusion,
        /// What a look-up may need.
        result: Option<Box<[u8]>>,
    },
}

impl Ending {
    /// Whether the code's word is not the one that the ending speaks of.
    pub(super) fn contradicts_itself(&self) -> bool {
        match self {
            Self::Done { code, .. } => !code.outcome().is_done(),
            Self::Failed { code } => code.outcome() != Outcome::Failed,
            Self::Partial { .. } => false,
            Self::Unknown { conclusion, .. } => conclusion.outcome() != Outcome::Unknown,
        }
    }
}

/// What an entry answers to an event.
#[derive(Clone, PartialEq)]
pub enum Answer {
    /// The event took effect.
    Applied,
    /// The call is not the one that this key stands for.
    Differs {
        /// The first field that is not equal.
        field: Box<str>,
    },
    /// The claim is yours.
    Granted(Grant),
    /// Another owner has it and is alive.
    InProgress,
    /// It has ended, and this is the stored answer.
    Settled {
        /// `already_done`, `result_omitted` or `partial`.
        code: Code,
        /// The stored result.
        result: Option<Box<[u8]>>,
        /// Until when identical calls are recognised.
        until: Timestamp,
    },
    /// It may have happened.
    StillConfirming,
}

/// The right to do what a key names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Grant {
    /// To be shown with every later event.
    pub epoch: u64,
    /// Part of the wire key.
    pub generation: u32,
    /// Whether an earlier attempt under this generation may have left.
    pub maybe_sent: bool,
}
