//! From what an answer says by itself to what it proves of the whole intent.

use tower_outcome_core::Code;

use super::facts::Window;
use super::{Facts, Finding, GrpcStatus, History, View};
use crate::profile::Meaning;

pub(super) fn of(finding: &Finding, facts: &Facts<'_>, view: &View<'_>) -> Code {
    match finding.means {
        Meaning::Created => earlier(facts),
        Meaning::Declined => refusal(Code::Declined, finding, facts, view),
        Meaning::Done => done(facts, view),
        Meaning::InFlight => in_flight(facts),
        Meaning::Indeterminate => indeterminate(finding, view),
        Meaning::KeyTooOld => refusal(Code::KeyExpired, finding, facts, view),
        Meaning::MaybeMismatch
            if facts.is_tainted() || facts.is_explicit() || facts.sent.claimed =>
        {
            refusal(Code::Rejected, finding, facts, view)
        }
        Meaning::MaybeMismatch => Code::KeyConflictUnresolved,
        Meaning::Mismatch => mismatch(facts),
        Meaning::NotProcessed => refusal(Code::RefusedByProtocol, finding, facts, view),
        Meaning::Partial => Code::Partial,
        Meaning::Pending => Code::AcceptedPending,
        Meaning::Poisoned => Code::StillConfirming,
        Meaning::PreconditionFailed => refusal(Code::PreconditionFailed, finding, facts, view),
        Meaning::ProcessedOrInFlight if facts.is_tainted() => Code::StillConfirming,
        Meaning::ProcessedOrInFlight => Code::ConflictAmbiguous,
        Meaning::RateLimited => refusal(Code::RateLimited, finding, facts, view),
        Meaning::Redirected => refusal(Code::RedirectRefused, finding, facts, view),
        Meaning::Exists | Meaning::KeyInvalid | Meaning::Rejected => {
            refusal(Code::Rejected, finding, facts, view)
        }
    }
}

/// A refusal speaks for the request it answers. For what may have left before it speaks only where
/// the provider reports the one execution under the key.
fn refusal(code: Code, finding: &Finding, facts: &Facts<'_>, view: &View<'_>) -> Code {
    let stored = facts.replayed && view.status().is_client_error();
    let after_work = view.grpc().is_some_and(GrpcStatus::is_behind_messages);
    if after_work {
        Code::ConflictAmbiguous
    } else if facts.is_covered() && (finding.settles || stored) {
        code
    } else if facts.is_tainted() {
        Code::RejectedAfterUnknown
    } else if facts.profile.has_replaying_proxy() {
        Code::ConflictAmbiguous
    } else {
        code
    }
}

fn done(facts: &Facts<'_>, view: &View<'_>) -> Code {
    if facts.is_tainted() && facts.keyed && facts.window == Window::Closed {
        // The key was forgotten in between, so this may be the second time.
        Code::ConflictAmbiguous
    } else if facts.replayed {
        earlier(facts)
    } else if view.body_lost() {
        Code::DoneBodyLost
    } else {
        Code::Done
    }
}

/// An earlier request did it: one of this call, or another.
fn earlier(facts: &Facts<'_>) -> Code {
    match facts.history {
        History::LeftInThisCall => Code::DoneReplayed,
        // Nothing was sent under the key before this attempt, so that the proxy sent it twice.
        _ if facts.is_new() && facts.profile.has_replaying_proxy() => Code::DoneReplayed,
        History::Clean | History::LeftInEarlierCall => Code::AlreadyDone,
    }
}

fn in_flight(facts: &Facts<'_>) -> Code {
    match facts.history {
        _ if !facts.keyed => Code::ConflictAmbiguous,
        History::Clean if !facts.sent.claimed => Code::AlreadyInProgress,
        _ => Code::StillConfirming,
    }
}

fn mismatch(facts: &Facts<'_>) -> Code {
    let proxied = facts.profile.has_replaying_proxy();
    if facts.is_explicit() && !facts.is_tainted() && !proxied {
        Code::KeyConflict
    } else {
        // A derived key that is known with other bytes was sent by somebody before.
        Code::KeyConflictUnresolved
    }
}

fn indeterminate(finding: &Finding, view: &View<'_>) -> Code {
    if let Some(grpc) = view.grpc() {
        return grpc.doubt();
    }
    let status = view.status();
    // A rule of the profile may say of a success that the provider failed.
    if status.is_server_error() || (status.is_success() && finding.rule.is_some()) {
        Code::ServerError
    } else if status.is_redirection() {
        Code::Redirected
    } else if status.is_success() {
        // What came is not the answer of the API.
        Code::ResponseLost
    } else {
        Code::ConflictAmbiguous
    }
}
