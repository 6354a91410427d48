//! What the classifier needs to know of a [`Call`].

use super::{Answer, History, KeyOrigin, Reading, Sent, answer};
use crate::call::Call;

/// Judges the answer to the last attempt of `call`.
pub(crate) fn write(call: &Call, reply: &Answer<'_>) -> Reading {
    // Method, host and path: what the profile says of the route was looked up when the call began.
    let (_, place) = call.route().split_once(' ').unwrap_or_default();
    let path = place.find('/').map_or("/", |at| &place[at..]);
    // A key that the caller put on the request itself. An intent's counts as derived.
    let chosen = call.key().is_none();
    let origin = if chosen {
        KeyOrigin::Explicit
    } else {
        KeyOrigin::Derived
    };
    let sent = Sent {
        conditional: call.is_conditional(),
        key: call.is_keyed().then_some(origin),
        claimed: call.is_claimed(),
        ..Sent::new(call.method(), path)
    };
    let history = match (call.is_tainted(), call.has_left_before()) {
        (_, true) => History::LeftInThisCall,
        (true, false) => History::LeftInEarlierCall,
        (false, false) => History::Clean,
    };
    answer(call.profile(), &sent, reply, history)
}
