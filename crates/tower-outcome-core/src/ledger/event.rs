//! What is asked of an entry, and what it answers.

use std::sync::Arc;
use std::time::Duration;

use super::entry::{Owner, Timestamp, WriteRecord};
use crate::fingerprint::Fingerprint;
use crate::{Code, Conclusion, IdempotencyKey, Intent, Outcome};

/// Something that happens to an entry.
#[derive(Clone, PartialEq)]
pub enum Event {
    /// The intent is found under another key of the same scope. Only what nobody uses becomes an
    /// alias; what is one stays what it is, and answers [`Answer::Moved`] where it leads elsewhere.
    /// What is in use, in doubt or has ended answers [`Answer::InProgress`]: it is the intent's own
    /// entry. See [`alias`](super::alias).
    Alias {
        /// The other key.
        of: IdempotencyKey,
        /// Whether it is known to lead elsewhere, for another intent: then the key no longer tells
        /// which of the two is meant, and nobody is led on.
        shared: bool,
    },
    /// Somebody wants to do it.
    Claim(Claim),
    /// A look-up found the effect by a token of ours. Proof, whoever brings it.
    Find {
        /// What was found, as the answer to later identical calls.
        result: Option<Box<[u8]>>,
    },
    /// The intent is found under this key itself: its aliases lead in a circle, so that nobody has a
    /// claim on any of them. Only what is an alias of `instead_of` still is set free; what is not
    /// answers [`Answer::InProgress`]. See [`alias`](super::alias).
    Home {
        /// Where the alias was seen to lead.
        instead_of: IdempotencyKey,
    },
    /// Somebody is about to look it up. Of all who ask, one is answered [`Answer::Applied`] and
    /// looks; the others are answered [`Answer::InProgress`]. Only what is in doubt is looked up.
    Look {
        /// From now on, for how long nobody else is to look: both lease and backoff.
        again_after: Duration,
    },
    /// Its owner knows that nothing left.
    Release {
        /// The claim's epoch.
        epoch: u64,
        /// Why nothing left, for people.
        code: Code,
    },
    /// Somebody is about to send what is in doubt once more, under the key that it had. Answered with
    /// the epoch of whoever does: all others are fenced off, so that nobody who was refused earlier can
    /// say that it failed. Proof that it happened is still taken from anyone.
    Resend {
        /// The epoch of the entry in doubt.
        epoch: u64,
        /// From now on, for how long something may be sent.
        sends_for: Duration,
    },
    /// A person has found out what became of it. Only what is in doubt is resolved.
    Resolve {
        /// The epoch of the entry that the person saw.
        epoch: u64,
        /// What the person found out.
        verdict: Resolved,
        /// Who it is, in at most [`MAX_NAME`](super::entry::MAX_NAME) bytes.
        by: Box<str>,
        /// How the person knows, in at most [`MAX_NAME`](super::entry::MAX_NAME) bytes.
        reason: Box<str>,
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
    /// The epoch that the event has to show: whoever names another is fenced off.
    ///
    /// [`Ending::Done`] shows one and is taken at any.
    #[must_use]
    pub const fn epoch(&self) -> Option<u64> {
        match self {
            Self::Release { epoch, .. }
            | Self::Resend { epoch, .. }
            | Self::Resolve { epoch, .. }
            | Self::Send { epoch, .. }
            | Self::Settle { epoch, .. } => Some(*epoch),
            Self::Alias { .. }
            | Self::Claim(_)
            | Self::Find { .. }
            | Self::Home { .. }
            | Self::Look { .. } => None,
        }
    }

    /// The event as it stands in errors and logs.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Alias { .. } => "alias",
            Self::Claim(_) => "claim",
            Self::Find { .. } => "find",
            Self::Home { .. } => "home",
            Self::Look { .. } => "look",
            Self::Release { .. } => "release",
            Self::Resend { .. } => "resend",
            Self::Resolve { .. } => "resolve",
            Self::Send { .. } => "send",
            Self::Settle { .. } => "settle",
        }
    }
}

/// Somebody wants to do what an intent names.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The tool or operation, for people.
    pub tool: Arc<str>,
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
            tool: Arc::clone(intent.shared_tool()),
            owner,
            lease,
            fingerprint: intent.entry_fingerprint(),
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

/// What a person found out of an entry in doubt.
#[derive(Clone, PartialEq)]
pub enum Resolved {
    /// The change happened.
    Done {
        /// The answer to later identical calls.
        result: Option<Box<[u8]>>,
    },
    /// Nothing changed, and nothing can any more. Refused while its owner may still send.
    Failed,
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
    /// This is an alias: the entry has this key, in the same scope.
    Moved(IdempotencyKey),
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
