//! The policy over the records of this crate: keeps of each request only what another attempt needs.
//!
//! Most writes are sent once, so what is kept for a second attempt is mostly kept in vain: method,
//! address and body share their bytes with the first one's, the headers lie side by side in one
//! piece, and the record stands for the rest.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use tower::retry::{Policy, RetryLayer};

use super::{Backoff, KeyedRetry, Reason, copy, record};
use crate::OutcomeBody;
use crate::call::Call;

impl KeyedRetry {
    /// The policy as a layer that keeps less of a write than [`RetryLayer::new`] over it would.
    ///
    /// ```
    /// use tower::ServiceBuilder;
    /// use tower_outcome::{KeyLayer, KeyedRetry, OutcomeLayer};
    ///
    /// let layers = ServiceBuilder::new()
    ///     .layer(OutcomeLayer::new())
    ///     .layer(KeyLayer::new())
    ///     .layer(KeyedRetry::new(3).into_layer());
    /// # drop(layers);
    /// ```
    #[must_use]
    pub const fn into_layer(self) -> RetryLayer<Sparing> {
        RetryLayer::new(Sparing { policy: self })
    }
}

/// What [`KeyedRetry::into_layer`] retries by.
#[derive(Clone, Debug)]
pub struct Sparing {
    policy: KeyedRetry,
}

impl<T, E> Policy<Request<OutcomeBody>, Response<T>, E> for Sparing {
    type Future = Backoff;

    fn retry(
        &mut self,
        request: &mut Request<OutcomeBody>,
        result: &mut Result<Response<T>, E>,
    ) -> Option<Backoff> {
        let Some(spare) = request.body().spare() else {
            return self.policy.retry(request, result);
        };
        if record::is_done(&spare.call) {
            self.policy.end(Reason::Answered, Some(&spare.call));
            return None;
        }
        let facts = record::facts(&spare.call, result);
        let decision = self.policy.decide(&facts);
        spare.call.decided(decision);
        decision.wait?;
        if let Some(spare) = request.body_mut().take_spare() {
            *request.headers_mut() = spare.headers.unpack()?;
            request.extensions_mut().insert(spare.call);
        }
        self.policy.wait_for(decision, &facts, request)
    }

    fn clone_request(&mut self, request: &Request<OutcomeBody>) -> Option<Request<OutcomeBody>> {
        self.policy.unless_vetoed(request, || spare(request))
    }
}

/// Not a request, but what one can be made of.
#[inline]
fn spare(request: &Request<OutcomeBody>) -> Option<Request<OutcomeBody>> {
    let carried = request.extensions();
    // What others put there travels with each attempt.
    let alone = (carried.len() == 1)
        .then(|| carried.get::<Call>())
        .flatten();
    match alone {
        Some(call) => spared(request, call),
        None => copy(request),
    }
}

#[inline(never)]
fn spared(request: &Request<OutcomeBody>, call: &Call) -> Option<Request<OutcomeBody>> {
    let spare = Spare {
        call: call.clone(),
        headers: Packed::new(request.headers())?,
    };
    let mut kept = Request::new(request.body().try_clone()?.with_spare(spare));
    kept.method_mut().clone_from(request.method());
    kept.uri_mut().clone_from(request.uri());
    *kept.version_mut() = request.version();
    Some(kept)
}

/// What a body carries until a request is made of it again.
pub(crate) struct Spare {
    call: Call,
    headers: Packed,
}

impl fmt::Debug for Spare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Spare").field(&self.call).finish()
    }
}

/// Headers side by side: the lengths of name and value, whether it is sensitive, name, value.
struct Packed(Box<[u8]>);

impl Packed {
    /// `None` where one is longer than any that is sent.
    fn new(headers: &HeaderMap) -> Option<Self> {
        let length = headers
            .iter()
            .map(|(name, value)| FRAME + name.as_str().len() + value.len());
        let mut packed = Vec::with_capacity(length.sum());
        for (name, value) in headers {
            packed.extend_from_slice(&frame(name, value)?);
            packed.extend_from_slice(name.as_str().as_bytes());
            packed.extend_from_slice(value.as_bytes());
        }
        Some(Self(packed.into_boxed_slice()))
    }

    /// The headers again. `None` where one was made without the checks of its type and fails them.
    fn unpack(&self) -> Option<HeaderMap> {
        let mut headers = HeaderMap::new();
        let mut rest = &*self.0;
        while let Some((name, behind)) = rest.split_first_chunk() {
            let (value, behind) = behind.split_first_chunk()?;
            let (sensitive, behind) = behind.split_first()?;
            let (name, behind) = behind.split_at_checked(length(*name)?)?;
            let (value, behind) = behind.split_at_checked(length(*value)?)?;
            let mut value = HeaderValue::from_bytes(value).ok()?;
            value.set_sensitive(*sensitive != 0);
            headers.append(HeaderName::from_bytes(name).ok()?, value);
            rest = behind;
        }
        Some(headers)
    }
}

/// What stands before a name.
fn frame(name: &HeaderName, value: &HeaderValue) -> Option<[u8; FRAME]> {
    let mut frame = [u8::from(value.is_sensitive()); FRAME];
    let (lengths, _) = frame.split_at_mut(FRAME - 1);
    let (of_name, of_value) = lengths.split_at_mut(size_of::<Length>());
    of_name.copy_from_slice(&Length::try_from(name.as_str().len()).ok()?.to_ne_bytes());
    of_value.copy_from_slice(&Length::try_from(value.len()).ok()?.to_ne_bytes());
    Some(frame)
}

fn length(bytes: [u8; size_of::<Length>()]) -> Option<usize> {
    Length::from_ne_bytes(bytes).try_into().ok()
}

/// The length of a name or a value.
type Length = u32;

/// The bytes before a name.
const FRAME: usize = 2 * size_of::<Length>() + 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_out_as_they_went_in() {
        let mut headers = HeaderMap::new();
        let packed = |headers: &HeaderMap| Packed::new(headers).expect("they are short");
        assert_eq!(packed(&headers).unpack(), Some(headers.clone()));
        for (name, value) in [
            ("x-b", ""),
            ("accept", "1"),
            ("x-b", "\u{e9} 2"),
            ("x-a", "3"),
        ] {
            let value = HeaderValue::from_bytes(value.as_bytes()).expect("it is a value");
            headers.append(HeaderName::from_static(name), value);
        }
        if let Some(value) = headers.get_mut("accept") {
            value.set_sensitive(true);
        }
        let unpacked = packed(&headers).unpack().expect("all were valid");
        assert_eq!(unpacked, headers);
        assert!(unpacked["accept"].is_sensitive() && !unpacked["x-a"].is_sensitive());
    }
}
