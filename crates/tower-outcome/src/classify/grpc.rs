//! What a gRPC status means for a write.

use http::HeaderMap;

use crate::profile::Meaning;

/// The status that a gRPC call ended in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct GrpcStatus<'a> {
    code: u32,
    message: &'a str,
}

impl<'a> GrpcStatus<'a> {
    /// A status by its number, from 0 for `OK` to 16 for `UNAUTHENTICATED`.
    #[must_use]
    pub const fn new(code: u32, message: &'a str) -> Self {
        Self { code, message }
    }

    /// The status in a block of headers or trailers; a number that is none is `UNKNOWN`.
    #[must_use]
    pub fn in_headers(headers: &'a HeaderMap) -> Option<Self> {
        let code = headers.get("grpc-status")?.to_str().ok();
        let message = headers.get("grpc-message");
        Some(Self {
            code: code.and_then(|code| code.parse().ok()).unwrap_or(UNKNOWN),
            message: message.and_then(|it| it.to_str().ok()).unwrap_or_default(),
        })
    }

    /// The number.
    #[must_use]
    pub const fn code(&self) -> u32 {
        self.code
    }

    /// The message, percent-encoded as it came.
    #[must_use]
    pub const fn message(&self) -> &'a str {
        self.message
    }

    /// What the status says by itself (grpc.io/docs/guides/status-codes). What servers and
    /// libraries make when a request got somewhere and then no further is no proof.
    pub(super) const fn meaning(self) -> Meaning {
        match self.code {
            0 => Meaning::Done,
            // INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, OUT_OF_RANGE, UNIMPLEMENTED,
            // UNAUTHENTICATED
            3 | 5 | 7 | 11 | 12 | 16 => Meaning::Rejected,
            // ALREADY_EXISTS
            6 => Meaning::Exists,
            // RESOURCE_EXHAUSTED
            8 => Meaning::RateLimited,
            // FAILED_PRECONDITION
            9 => Meaning::PreconditionFailed,
            // CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, ABORTED, INTERNAL, UNAVAILABLE, DATA_LOSS
            _ => Meaning::Indeterminate,
        }
    }

    /// Whether the server failed, as opposed to a conflict between requests.
    pub(super) const fn is_server_fault(self) -> bool {
        self.code != ABORTED
    }
}

/// Whether the server forbids another attempt: a pushback that is negative or no number (gRFC A6).
pub(super) fn forbids_resend(headers: &HeaderMap) -> bool {
    headers.get("grpc-retry-pushback-ms").is_some_and(|value| {
        let millis = value.to_str().ok().and_then(|it| it.parse::<i64>().ok());
        millis.is_none_or(|millis| millis < 0)
    })
}

const UNKNOWN: u32 = 2;
const ABORTED: u32 = 10;
