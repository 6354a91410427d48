//! Requests that are to change something only if it is as they expect.

use http::{HeaderMap, HeaderName};

/// Whether a 412 may be the answer to a declared condition.
pub(crate) fn is_conditional(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| CONDITIONS.contains(name))
}

/// Headers that make a 412 the answer to a declared condition (RFC 9110 section 13.1).
const CONDITIONS: [HeaderName; 4] = [
    http::header::IF_MATCH,
    http::header::IF_NONE_MATCH,
    http::header::IF_UNMODIFIED_SINCE,
    http::header::IF_MODIFIED_SINCE,
];
