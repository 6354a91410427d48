//! What an answer says where the profile has no rule for it.

use http::Method;

use super::{Finding, View};
use crate::profile::{Meaning, Profile};

pub(super) fn find(profile: &Profile, view: &View<'_>, keyed: bool) -> Finding {
    if let Some(status) = view.grpc() {
        return Finding::generic(status.meaning());
    }
    let status = view.status().as_u16();
    let means = match status {
        200..300 => return success(profile, view),
        // Names where the answer is to be found: the request was worked on (RFC 9110, 15.4.4).
        303 => {
            return Finding {
                resend: Some(false),
                ..Finding::generic(Meaning::Indeterminate)
            };
        }
        307 | 308 => Meaning::Redirected,
        400 | 409 | 422 if keyed && view.is_unread() => Meaning::Indeterminate,
        400 | 409 | 422 if keyed && view.says("idempotency-key") => about_the_key(status, view),
        // Whatever lies between may send a DELETE twice (RFC 9110, 9.2.2): gone by the first one, or
        // never there.
        404 | 410 if view.method() == Method::DELETE => {
            return Finding {
                resend: Some(false),
                ..Finding::generic(Meaning::Indeterminate)
            };
        }
        412 if view.is_conditional() => Meaning::PreconditionFailed,
        // Refused before the body was sent (RFC 9110 section 15.5.18).
        417 if view.expects_continue() => Meaning::Rejected,
        // Meant for another connection, or come too early in this one: the same request may be sent
        // once more (RFC 9110, 15.5.20; RFC 8470, 5.2).
        421 | 425 => {
            return Finding {
                resend: Some(true),
                ..Finding::generic(Meaning::Rejected)
            };
        }
        429 => Meaning::RateLimited,
        400 | 401 | 403 | 404 | 405 | 411 | 413 | 414 | 415 | 422 | 431 => Meaning::Rejected,
        _ => Meaning::Indeterminate,
    };
    Finding::generic(means)
}

/// The statuses of the Idempotency-Key draft (section 2.7), where the body names the header: they
/// are those of plain business answers as well.
fn about_the_key(status: u16, view: &View<'_>) -> Meaning {
    match status {
        409 => Meaning::InFlight,
        400 if view.says("missing") || view.says("required") => Meaning::KeyInvalid,
        400 => Meaning::MaybeMismatch,
        _ => Meaning::Mismatch,
    }
}

fn success(profile: &Profile, view: &View<'_>) -> Finding {
    let unread = Finding::generic(Meaning::Indeterminate);
    match view.status().as_u16() {
        202 => return Finding::generic(Meaning::Pending),
        207 => return Finding::generic(Meaning::Partial),
        _ => {}
    }
    // A sign-in page, a proxy's notice, a gRPC answer without its trailers: not the API's answer.
    if view.is_page() || view.is_grpc() {
        return unread;
    }
    if !profile.body_decides(view.status().as_u16()) {
        return Finding::generic(Meaning::Done);
    }
    if view.json().is_none() && !view.is_without_content() {
        return unread;
    }
    if profile.success().iter().all(|test| test.holds_in(view)) {
        Finding::generic(Meaning::Done)
    } else {
        // A success, but of something else than what was asked for.
        Finding {
            resend: Some(false),
            ..unread
        }
    }
}
