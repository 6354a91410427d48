//! The closed table of codes: why a call ended in its word.
//!
//! Each code has one word, one level, one advice on repeating and one message. A `failed` code of
//! the level [`Level::Intent`] speaks of the whole intent; where the ledger's entry was not read in
//! this call, [`Conclusion::for_this_call`] narrows it to what the call itself can vouch for.
//!
//! ```
//! use tower_outcome_core::{Code, Outcome, Retry};
//!
//! assert_eq!(Code::TimeoutAfterSend.outcome(), Outcome::Unknown);
//! assert_eq!(Code::TimeoutAfterSend.retry(), Retry::No);
//! assert_eq!(Code::TimeoutAfterSend.as_str(), "timeout_after_send");
//! ```

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, Outcome};

mod conclusion;

pub use conclusion::{Conclusion, Landing};

/// How much a code speaks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Level {
    /// True of this call only; an earlier identical one may have done anything.
    Call,
    /// True of the intent as a whole, earlier identical calls included.
    Intent,
}

/// Whether the same call may be made again.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// Not before something other than time has changed.
    Later,
    /// Not at all.
    No,
    /// Nothing stands against it.
    Yes,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal: $outcome:ident, $level:ident, $retry:ident, $message:expr;)+) => {
        /// Why a call ended in its word.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $name,)+
        }

        impl Code {
            /// Every code there is.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            const fn row(self) -> (&'static str, Outcome, Level, Retry, &'static str) {
                match self {
                    $(Self::$name => ($text, Outcome::$outcome, Level::$level, Retry::$retry, $message),)+
                }
            }
        }
    };
}

codes! {
    /// 202 or a pending state: the provider has it and has not decided.
    AcceptedPending = "accepted_pending": Unknown, Intent, No,
        "The request was accepted and is still being worked on. Do not repeat it; tell the user it is being confirmed.";
    /// An earlier identical call did it.
    AlreadyDone = "already_done": AlreadyDone, Intent, No,
        "This was already done earlier and nothing was sent now; the stored result is in data. Report the stored result as the answer.";
    /// An identical call is in flight.
    AlreadyInProgress = "already_in_progress": Skipped, Intent, Later,
        "The same action is running right now, so this call sent nothing. Do not repeat it; wait for the first call's result.";
    /// The caller went away before anything left.
    CancelledBeforeSend = "cancelled_before_send": Failed, Call, Later, THIS_CALL;
    /// An answer that may mean "already done", "in flight" or "refused".
    ConflictAmbiguous = "conflict_ambiguous": Unknown, Intent, No,
        "The service answered with a conflict that does not tell whether this happened. Do not repeat it; tell the user it is being confirmed.";
    /// No connection, so no request.
    ConnectFailed = "connect_failed": Failed, Intent, Yes,
        "Nothing was changed: the service could not be reached. The same call may be made again.";
    /// The provider looked at it and said no.
    Declined = "declined": Failed, Intent, No,
        "Nothing was changed: the service declined this. Tell the user; the same call would be declined as well.";
    /// Answered, and the answer proves the change.
    Done = "done": Ok, Intent, No,
        "This is done; the result is in data. Report it.";
    /// The head of the answer proves the change, its body was lost.
    DoneBodyLost = "done_body_lost": Ok, Intent, No,
        "This is done, but the details of the answer were lost. Say that it is done.";
    /// A resend under the same key got the stored answer of this call's own earlier attempt.
    DoneReplayed = "done_replayed": Ok, Intent, No,
        "This is done; the service confirmed the first attempt and did nothing twice. Report the result in data.";
    /// The tool ended with an error, and nothing of it had been sent.
    HandlerError = "handler_error": Failed, Intent, Yes,
        "Nothing was changed: the tool stopped before it sent anything. Once the cause is mended the call may be made again.";
    /// The tool crashed after something may have left.
    HandlerPanicked = "handler_panicked": Unknown, Intent, No,
        "The tool crashed and it is not known whether this happened. Do not repeat it; tell the user it is being confirmed.";
    /// The input was refused before anything was sent.
    InvalidArguments = "invalid_arguments": Failed, Intent, No,
        "Nothing was sent: the arguments are not valid. Tell the user what is wrong with them, or use corrected arguments.";
    /// The key stands for another request.
    KeyConflict = "key_conflict": Failed, Intent, No,
        "Nothing was changed by this request: its key stands for another one with other values. Tell the user that the two differ.";
    /// The provider knows a derived key with other bytes.
    KeyConflictUnresolved = "key_conflict_unresolved": Unknown, Intent, No,
        "The service knows this action with other details, so an earlier one may have happened. Do not repeat it; tell the user it is being confirmed.";
    /// The provider no longer accepts the key.
    KeyExpired = "key_expired": Failed, Intent, No,
        "Nothing was changed: the service no longer accepts this action's key. Tell the user; a person has to decide.";
    /// Proof that the transport never took it.
    NotSent = "not_sent": Failed, Intent, Yes,
        "Nothing was changed: the request never left. The same call may be made again.";
    /// Too much is going on here.
    Overloaded = "overloaded": Failed, Call, Later, THIS_CALL;
    /// Some of it happened, some did not.
    Partial = "partial": Unknown, Intent, No,
        "Only a part of this happened; what is known is in data. Do not repeat it; tell the user what is done and what is open.";
    /// A condition that the request carried did not hold.
    PreconditionFailed = "precondition_failed": Failed, Intent, No,
        "Nothing was changed: the thing has changed in the meantime. Look at its present state before deciding anything.";
    /// The provider wants fewer requests.
    RateLimited = "rate_limited": Failed, Intent, Later,
        "Nothing was changed: the service wants fewer requests. Tell the user that it has to wait.";
    /// A read got no usable answer.
    ReadFailed = "read_failed": Failed, Intent, Yes,
        "The information could not be read; reading changes nothing. The same call may be made again.";
    /// 307 or 308 on a write, not followed.
    RedirectRefused = "redirect_refused": Failed, Intent, No,
        "Nothing was changed: the service has moved and the request was not sent on. Tell the user; a person has to correct the address.";
    /// A redirect that may follow a processed request.
    Redirected = "redirected": Unknown, Intent, No,
        "The service answered with a redirect that does not tell whether this happened. Do not repeat it; tell the user it is being confirmed.";
    /// The protocol guarantees that it was not processed.
    RefusedByProtocol = "refused_by_protocol": Failed, Intent, Yes,
        "Nothing was changed: the service turned the request away unread. The same call may be made again.";
    /// The provider found the request wrong.
    Rejected = "rejected": Failed, Intent, No,
        "Nothing was changed: the service rejected the request. Tell the user why, if data says so; the same call would be rejected as well.";
    /// A refusal that cannot speak for an earlier attempt.
    RejectedAfterUnknown = "rejected_after_unknown": Unknown, Intent, No,
        "An earlier attempt may have happened, and the refusal of a later one proves nothing. Do not repeat it; tell the user it is being confirmed.";
    /// It left, and no answer came back.
    ResponseLost = "response_lost": Unknown, Intent, No,
        "The request was sent and its answer was lost, so it is not known whether this happened. Do not repeat it; tell the user it is being confirmed.";
    /// Done earlier; the result is no longer stored.
    ResultOmitted = "result_omitted": AlreadyDone, Intent, No,
        "This was already done earlier and nothing was sent now; the result itself is no longer stored. Say that it is done.";
    /// An answer of the 5xx kind.
    ServerError = "server_error": Unknown, Intent, No,
        "The service failed while working on the request, so it is not known whether this happened. Do not repeat it; tell the user it is being confirmed.";
    /// This process is ending.
    ShuttingDown = "shutting_down": Failed, Call, Later, THIS_CALL;
    /// An earlier identical call is unresolved.
    StillConfirming = "still_confirming": Unknown, Intent, No,
        "It is not known whether an earlier identical request happened, so nothing was sent now. Do not call this again for it; tell the user it is being confirmed.";
    /// The ledger has no room for another claim.
    StoreFull = "store_full": Failed, Call, Later, THIS_CALL;
    /// The ledger could not be asked.
    StoreUnavailable = "store_unavailable": Failed, Call, Later, THIS_CALL;
    /// The deadline passed after the request may have left.
    TimeoutAfterSend = "timeout_after_send": Unknown, Intent, No,
        "The request was sent and no answer came in time, so it is not known whether this happened. Do not repeat it; tell the user it is being confirmed.";
    /// The deadline passed and nothing had left.
    TimeoutBeforeSend = "timeout_before_send": Failed, Intent, Yes,
        "Nothing was changed: time ran out before the request was sent. The same call may be made again.";
}

impl Code {
    /// The code as it stands in JSON, logs and documentation.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.row().0
    }

    /// The one word that this code ends a call in.
    #[must_use]
    pub const fn outcome(self) -> Outcome {
        self.row().1
    }

    /// How much the code speaks for.
    #[must_use]
    pub const fn level(self) -> Level {
        self.row().2
    }

    /// Whether the same call may be made again.
    #[must_use]
    pub const fn retry(self) -> Retry {
        self.row().3
    }

    /// What a model or a person is told: a sentence of fact, a sentence of instruction.
    #[must_use]
    pub const fn message(self) -> &'static str {
        self.row().4
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Code {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str() == text)
            .ok_or_else(|| Error::invalid("code", "no such code"))
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// What a code of the level [`Level::Call`] says.
pub(crate) const THIS_CALL: &str =
    "This call sent nothing. Whether an earlier identical call did is not known here.";

/// The same of a call that was sent, and turned down.
pub(crate) const THIS_CALL_REFUSED: &str = "The service turned this call down and it changed nothing. Whether an earlier identical call did is not known here.";
