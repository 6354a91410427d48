//! What proves that an attempt changed nothing.

use std::any::Any;
use std::error::Error;

use http::StatusCode;
use tower_outcome_core::{BoxError, Outcome};

use crate::transport::is_connect;

/// Whether an answer says that the write did not happen, and will not.
pub(super) fn refuses(status: StatusCode) -> bool {
    match status.as_u16() {
        307 | 308 => true,
        // It was too slow, or something of the kind is there already: from an earlier attempt?
        408 | 409 => false,
        _ => status.is_client_error(),
    }
}

/// Whether an answer sends its reader to another place.
pub(super) fn redirects(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Whether `error` says that the request never left. Types that are not known here say nothing.
pub(super) fn is_unsent(error: &dyn Any) -> bool {
    if let Some(error) = error.downcast_ref::<BoxError>() {
        return never_left(&**error);
    }
    if let Some(error) = error.downcast_ref::<crate::Error>() {
        return never_left(error);
    }
    #[cfg(feature = "hyper")]
    if let Some(error) = error.downcast_ref::<hyper_util::client::legacy::Error>() {
        return never_left(error);
    }
    #[cfg(feature = "reqwest")]
    if let Some(error) = error.downcast_ref::<reqwest::Error>() {
        return never_left(error);
    }
    false
}

/// Whether the chain of `error` says that the request never left.
///
/// A client that follows redirects by itself says so of its last request. Nobody outside of it can
/// tell; an audit that took every refused connection for a doubt would be of no use.
pub(super) fn never_left(error: &(dyn Error + 'static)) -> bool {
    let mut chain = std::iter::successors(Some(error), |error| (*error).source());
    let failed = chain.any(|error| {
        let ours = error.downcast_ref::<crate::Error>();
        ours.is_some_and(|error| error.outcome() == Outcome::Failed)
    });
    failed || is_connect(error)
}
