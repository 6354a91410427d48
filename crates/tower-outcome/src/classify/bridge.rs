//! What the classifier needs to know of a [`Call`].

use tower_outcome_core::{Code, Intent};

use super::{Answer, KeyOrigin, Reading, Sent, answer_on_route, unanswered_on_route};
use crate::call::Call;

/// Judges the answer to the last attempt of `call`.
pub(crate) fn write(call: &Call, reply: &Answer<'_>) -> Reading {
    answer_on_route(call.profile(), &sent(call), reply, call.history())
}

/// Judges the last attempt of `call`, which ended in `code` without an answer.
pub(crate) fn lost(call: &Call, code: Code) -> Reading {
    unanswered_on_route(call.profile(), &sent(call), code, call.history())
}

fn sent(call: &Call) -> Sent<'_> {
    // Method, host and path: what the profile says of the route was looked up when the call began.
    // A key that the caller put on the request itself, or named in its intent.
    let chosen = call.key().is_none() || call.intent().is_some_and(Intent::is_explicit);
    let origin = if chosen {
        KeyOrigin::Explicit
    } else {
        KeyOrigin::Derived
    };
    Sent {
        conditional: call.is_conditional(),
        key: call.is_keyed().then_some(origin),
        key_age: call.counted_key_age(),
        claimed: call.is_claimed(),
        ..Sent::new(call.method(), call.path())
    }
}
