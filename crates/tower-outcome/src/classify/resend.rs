//! Whether a resend under the same key may bring news. That it cannot do harm is known here.

use super::{Facts, Finding, View};
use crate::profile::{Meaning, StoredFailures};
use crate::retry::{self, Pushback};

pub(super) fn brings_news(finding: &Finding, facts: &Facts<'_>, view: &View<'_>) -> bool {
    // Most answers, of which nothing has to be looked at.
    if matches!(finding.means, Meaning::Done) && finding.resend.is_none() && !view.body_lost() {
        return false;
    }
    let never = retry::pushback(view.headers()) == Some(Pushback::Never);
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
        Meaning::Indeterminate if status.is_server_error() => {
            !facts.replayed && facts.profile.tells_more_after(status, view.headers())
        }
        Meaning::InFlight
        | Meaning::Indeterminate
        | Meaning::NotProcessed
        | Meaning::ProcessedOrInFlight
        | Meaning::RateLimited
        | Meaning::Redirected => true,
    }
}
