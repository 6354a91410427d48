//! What an error proves. Everything that is not listed here proves nothing.

use std::error::Error;

/// Whether the client says that it never sent the request: hyper's canceled errors, for which the
/// message came back before it was serialised. This end's word, whatever stands in between.
pub(super) fn is_canceled(error: &(dyn Error + 'static)) -> bool {
    chain(error).any(is_cancellation)
}

/// Whether the peer says that it did not process the request, in words that the protocol defines
/// as a promise.
///
/// - HTTP/2 `REFUSED_STREAM` (RFC 9113 section 8.7).
/// - a `GOAWAY` below the request's stream (RFC 9113 section 6.8), only if the body was `polled`:
///   before that hyper reports the connection's error for requests that still leave.
pub(super) fn is_refused(error: &(dyn Error + 'static), polled: bool) -> bool {
    chain(error).any(|error| is_refusal(error, polled))
}

/// Whether a connection could not be made. Names the cause, and is no proof by itself: a client
/// that follows redirects says so of the second request.
pub(crate) fn is_connect(error: &(dyn Error + 'static)) -> bool {
    chain(error).any(is_connect_error)
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

#[cfg(feature = "hyper")]
fn is_cancellation(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<hyper::Error>();
    error.is_some_and(hyper::Error::is_canceled)
}

#[cfg(not(feature = "hyper"))]
fn is_cancellation(_: &(dyn Error + 'static)) -> bool {
    false
}

#[cfg(feature = "hyper")]
fn is_refusal(error: &(dyn Error + 'static), polled: bool) -> bool {
    let Some(error) = error.downcast_ref::<h2::Error>() else {
        return false;
    };
    let refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
    error.is_remote() && (refused || (error.is_go_away() && polled))
}

#[cfg(not(feature = "hyper"))]
fn is_refusal(_: &(dyn Error + 'static), _: bool) -> bool {
    false
}

fn is_connect_error(error: &(dyn Error + 'static)) -> bool {
    #[cfg(feature = "hyper")]
    if let Some(error) = error.downcast_ref::<hyper_util::client::legacy::Error>() {
        return error.is_connect();
    }
    #[cfg(feature = "reqwest")]
    if let Some(error) = error.downcast_ref::<reqwest::Error>() {
        return error.is_connect();
    }
    #[cfg(feature = "tonic")]
    if error.is::<tonic::ConnectError>() {
        return true;
    }
    let _ = error;
    false
}
