//! What a gRPC answer says outside its messages.
//!
//! The status stands in the trailers, or in the head of an answer without messages (gRPC over
//! HTTP/2, "Responses").

use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName};

/// Whether the fields are those of a gRPC message, in whatever encoding.
pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.as_bytes().get(..GRPC.len()));
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case(GRPC))
}

/// With what follows it, gRPC-Web among it, whose status stands in the body: it proves nothing here.
const GRPC: &[u8] = b"application/grpc";

/// The `grpc-status`, if it is there. One that is no number is as good as none, and so are two that
/// differ.
pub(crate) fn status(fields: &HeaderMap) -> Option<u32> {
    let mut all = fields.get_all(&STATUS).iter();
    let first = all.next()?;
    let agrees = all.all(|other| other == first);
    first.to_str().ok().filter(|_| agrees)?.parse().ok()
}

/// Whether `read` goes on behind its first message: five bytes of prefix tell its length.
pub(super) fn is_more_than_one(read: &[u8]) -> bool {
    let Some(([_, length @ ..], rest)) = read.split_first_chunk::<5>() else {
        return false;
    };
    rest.len() as u64 > u64::from(u32::from_be_bytes(*length))
}

/// For how long after its head the answer to a keyed call is taken for a single message. What takes
/// longer is a stream, and is handed on.
pub(super) const UNARY_GRACE: Duration = Duration::from_secs(1);

static STATUS: HeaderName = HeaderName::from_static("grpc-status");
