//! What the policy knows from the record of the call, which sees the whole answer and what left.

use std::time::Duration;

use http::{Request, Response, StatusCode};
use tokio::time::Instant;
use tower_outcome_core::{Code, Outcome};

use super::Decision;
use super::facts::{Cover, Facts, Shown};
use crate::OutcomeBody;
use crate::call::{Call, Ending};
use crate::classify::History;
use crate::profile::Retention;
use crate::retry::ReplayBody;

pub(super) use crate::call::Call as Record;

/// The record of a request, if a layer above keeps one.
pub(super) fn of<B>(request: &Request<B>) -> Option<&Call> {
    request.extensions().get()
}

/// Whether the last attempt brought proof, before the call ended.
pub(super) fn is_done(call: &Call) -> bool {
    call.ended().is_none() && call.last().is_some_and(|code| code.outcome().is_done())
}

/// What is known after an attempt.
pub(super) fn facts<T, E>(call: &Call, result: &Result<Response<T>, E>) -> Facts {
    let status = result.as_ref().ok().map(Response::status);
    let shown = match call.last_ending() {
        _ if call.ended().is_some() => Shown::Ended,
        Some(ending) => shown(call, ending, status),
        None => Shown::NotRecorded,
    };
    let cover = if call.is_keyed() {
        Cover::Key
    } else {
        Cover::None
    };
    let facts = Facts::new(call.profile(), result, shown, cover);
    let now = Instant::now();
    Facts {
        tainted: call.history() != History::Clean
            || !matches!(shown, Shown::Unauthorized | Shown::Unsent),
        pushback: call
            .last_ending()
            .and_then(|it| it.pushback)
            .or(facts.pushback),
        key_age: call.key_age().unwrap_or(Duration::ZERO),
        time_left: call
            .deadline()
            .map(|deadline| deadline.saturating_duration_since(now)),
        gate: Some(call.gate()),
        ..facts
    }
}

/// Whether the request has a record, and if so whether a key makes it safe to repeat.
pub(super) fn is_keyed<B>(request: &Request<B>) -> Option<bool> {
    of(request).map(Call::is_keyed)
}

/// Whether a layer above says that the request reads, where its method does not.
pub(super) fn is_read<B>(request: &Request<B>) -> bool {
    crate::call::is_marked(request)
}

/// Takes the decision down.
pub(super) fn note(call: &Call, decision: Decision) {
    call.decided(decision);
}

impl ReplayBody for OutcomeBody {
    fn replay(&self) -> Option<Self> {
        self.try_clone()
    }
}

fn shown(call: &Call, ending: Ending, status: Option<StatusCode>) -> Shown {
    let code = ending.code;
    let refused = matches!(code, Code::Rejected | Code::RejectedAfterUnknown);
    if refused && status == Some(StatusCode::UNAUTHORIZED) {
        return Shown::Unauthorized;
    }
    match code {
        Code::ConnectFailed | Code::NotSent | Code::RefusedByProtocol => Shown::Unsent,
        // A proof in hand is not given for a body.
        _ if code.outcome().is_done() => Shown::Answered,
        // The same address would be named again.
        Code::Redirected | Code::RedirectRefused => Shown::NoNews,
        _ if ending.brings_news || !call.is_keyed() || is_out_of_window(call) => Shown::Open,
        Code::ServerError if call.profile().forgets_failures() => Shown::RunsAgain,
        _ if code.outcome() == Outcome::Failed => Shown::Answered,
        _ => Shown::NoNews,
    }
}

fn is_out_of_window(call: &Call) -> bool {
    match call.profile().retention() {
        Some(Retention::For(window)) => call.key_age().is_some_and(|age| age >= window),
        Some(Retention::Forever) | None => false,
    }
}
