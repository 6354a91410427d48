//! Whether a resend under the same key may bring news. That it cannot do harm is known here.

use super::{Facts, Finding, View};
use crate::profile::{Meaning, StoredFailures};
use crate::transport::{self, Pushback};

pub(super) fn brings_news(finding: &Finding, facts: &Facts<'_>, view: &View<'_>) -> bool {
    let never = transport::pushback(view.headers()) == Some(Pushback::Never);
    if never || facts.profile.hint(view.headers()) == Some(false) {
        return false;
    }
    if let Some(resend) = finding.resend {
        return resend;
    }
    let status = view.status();
    match finding.means {
        Meaning::Created
        | Meaning::Exists
        | Meaning::KeyInvalid
        | Meaning::KeyTooOld
        | Meaning::MaybeMismatch
        | Meaning::Mismatch
        | Meaning::Partial
        | Meaning::Pending
        | Meaning::Poisoned
        | Meaning::PreconditionFailed => false,
        // The result is kept under the key, unless the head says where else to find it.
        Meaning::Done => view.body_lost() && !view.headers().contains_key(http::header::LOCATION),
        // Settled, or the same request would be refused again; an earlier attempt may still be
        // heard of.
        Meaning::Declined | Meaning::Rejected => {
            let answered = facts.replayed || finding.settles;
            let driven = facts.profile.stored_failures() == Some(StoredFailures::Redrive);
            facts.is_tainted() && !answered && !driven
        }
        Meaning::Indeterminate if status.is_server_error() => after_a_server_error(facts, view),
        Meaning::InFlight
        | Meaning::Indeterminate
        | Meaning::NotProcessed
        | Meaning::ProcessedOrInFlight
        | Meaning::RateLimited
        | Meaning::Redirected => true,
    }
}

/// What a server error leaves under a key differs from provider to provider.
fn after_a_server_error(facts: &Facts<'_>, view: &View<'_>) -> bool {
    if facts.replayed {
        return false;
    }
    match facts.profile.stored_failures() {
        // What a gateway says in the execution's place is not what is stored.
        Some(StoredFailures::Replay) => {
            let gateway = matches!(view.status().as_u16(), 502..=504);
            gateway || facts.profile.hint(view.headers()) == Some(true)
        }
        // It would run again, whatever the first time did.
        Some(StoredFailures::ReExecute) => false,
        Some(StoredFailures::LatestState | StoredFailures::Poison | StoredFailures::Redrive)
        | None => true,
    }
}
