//! What the policy knows where no layer above keeps a record: the request and the answer's head.

use http::{Request, Response, StatusCode};

use super::facts::{Cover, Facts, Shown};
use crate::Profile;
use crate::profile::Target;

pub(super) fn facts<B, T, E>(
    profile: &Profile,
    request: &Request<B>,
    result: &Result<Response<T>, E>,
) -> Facts {
    let profile = profile.narrowed(&Target::of(request));
    let cover = Cover::of(&profile, request);
    let shown = match result {
        Ok(answer) => shown(&profile, answer, cover),
        Err(_) => Shown::Open,
    };
    Facts {
        // A refusal for credentials is proof that the request was not looked at.
        tainted: shown != Shown::Unauthorized || profile.has_replaying_proxy(),
        ..Facts::new(&profile, result, shown, cover)
    }
}

fn shown<T>(profile: &Profile, answer: &Response<T>, cover: Cover) -> Shown {
    let status = answer.status();
    let asked = !status.is_success() && profile.hint(answer.headers()) == Some(true);
    if status == StatusCode::UNAUTHORIZED {
        Shown::Unauthorized
    } else if status.is_server_error() && cover != Cover::Read {
        if profile.forgets_failures() {
            Shown::RunsAgain
        } else if profile.tells_more_after(status, answer.headers()) {
            Shown::Open
        } else {
            Shown::NoNews
        }
    } else if asked || status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        Shown::Open
    } else {
        Shown::Answered
    }
}
