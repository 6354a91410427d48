//! What the policy decided after an attempt, and why.

use std::fmt;
use std::time::Duration;

/// What the policy decided after an attempt.
///
/// The decision about the last attempt of a write can be had from
/// [`Call::last_decision`](crate::Call::last_decision), and where the policy works alone from the
/// answer's extensions, unless the answer was simply taken. Each is an event of `tracing` too, on
/// the level `DEBUG`, if the feature of that name is on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Decision {
    /// Which attempt it is about, counted from 1.
    pub attempt: u32,
    /// Why.
    pub reason: Reason,
    /// How long to wait before the next attempt; `None` where none is made.
    pub wait: Option<Duration>,
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)+) => {
        /// Why an attempt is, or is not, followed by another.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$doc])* $name,)+
        }

        impl Reason {
            /// Every reason there is.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The reason as logs show it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

reasons! {
    /// The answer stands: it is proof, or another attempt would be answered the same.
    Answered = "answered",
    /// All attempts that a call may have are made.
    AttemptsSpent = "attempts_spent",
    /// The budget that calls share has nothing left for this one.
    BudgetSpent = "budget_spent",
    /// The call has ended: nothing of it may leave.
    CallEnded = "call_ended",
    /// The wait would outlast the call's deadline.
    DeadlineNear = "deadline_near",
    /// The provider may have forgotten the key by the time that another attempt lands.
    KeyMayBeForgotten = "key_may_be_forgotten",
    /// Another attempt: the key makes it the same write.
    KeyProtects = "key_protects",
    /// Nothing can happen twice, and nothing new would be heard either.
    NoNews = "no_news",
    /// No attempt is on record: something between the layers answered in its place.
    NotRecorded = "not_recorded",
    /// The provider asks for no further attempt.
    ProviderForbids = "provider_forbids",
    /// Another attempt: it only reads.
    Reads = "reads",
    /// Another attempt, with new credentials.
    Refreshed = "refreshed",
    /// Refused for its credentials, and new ones are not to be had or were refused as well.
    RefusedAgain = "refused_again",
    /// The provider keeps no failures under a key: the write would run again.
    RunsAgain = "runs_again",
    /// All the time for attempts would be spent before the next.
    TimeSpent = "time_spent",
    /// A write without a key that the provider honours is sent once.
    Unkeyed = "unkeyed",
    /// The body is not at hand any more.
    Unreplayable = "unreplayable",
    /// Another attempt: this one never left, or was refused before it was looked at.
    Unsent = "unsent",
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
