//! What the policy knows after an attempt, wherever it has it from.

use std::time::Duration;

use http::{HeaderName, Request, Response};
use tower_outcome_core::Gate;

use super::asked::{self, Pushback};
use crate::Profile;
use crate::profile::{Retention, Scope};

/// What the policy knows after an attempt.
pub(super) struct Facts {
    pub(super) shown: Shown,
    pub(super) cover: Cover,
    /// Something sent under the key may have been looked at.
    pub(super) tainted: bool,
    /// The provider asks for no further attempt, or for one at a pace of its own.
    pub(super) pushback: Option<Pushback>,
    pub(super) retry_after: Option<Duration>,
    pub(super) min_delay: Duration,
    pub(super) retention: Option<Retention>,
    /// The time since something was first sent under the key.
    pub(super) key_age: Duration,
    /// The time until the call's deadline, where there is one.
    pub(super) time_left: Option<Duration>,
    pub(super) gate: Option<Gate>,
    /// The header that new credentials must not change.
    pub(super) key_header: Option<HeaderName>,
    /// Under other credentials the key is a new one.
    pub(super) key_is_of_credential: bool,
}

impl Facts {
    /// What `profile` and the head of an answer say.
    pub(super) fn new<T, E>(
        profile: &Profile,
        result: &Result<Response<T>, E>,
        shown: Shown,
        cover: Cover,
    ) -> Self {
        let headers = result.as_ref().ok().map(Response::headers);
        let forbids = headers.is_some_and(|it| profile.hint(it) == Some(false));
        Self {
            shown,
            cover,
            tainted: true,
            pushback: if forbids {
                Some(Pushback::Never)
            } else {
                headers.and_then(asked::pushback)
            },
            retry_after: headers.and_then(asked::retry_after),
            min_delay: profile.min_delay(),
            retention: profile.retention(),
            key_age: Duration::ZERO,
            time_left: None,
            gate: None,
            key_header: profile.key_header().cloned(),
            key_is_of_credential: profile.scope().contains(&Scope::Credential),
        }
    }
}

/// What makes another attempt harmless.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Cover {
    /// A key that the provider honours here.
    Key,
    /// Nothing.
    None,
    /// It changes nothing.
    Read,
}

impl Cover {
    /// What makes a request harmless of which no layer above keeps a record.
    pub(super) fn of<B>(profile: &Profile, request: &Request<B>) -> Self {
        if super::record::is_read(request) || profile.reads(request.method()) {
            Self::Read
        } else if profile.honours_keys() && profile.key_in(request.headers()).is_some() {
            Self::Key
        } else {
            Self::None
        }
    }
}

/// What an attempt showed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Shown {
    /// What another one would show as well, or proof.
    Answered,
    /// The call has ended.
    Ended,
    /// Nothing new is to be had.
    NoNews,
    /// No attempt was made that anybody knows of.
    NotRecorded,
    /// Nothing final: another attempt may tell.
    Open,
    /// A failure that the provider does not keep under the key.
    RunsAgain,
    /// That other credentials are wanted.
    Unauthorized,
    /// That it never left, or was refused before it was looked at.
    Unsent,
}
