//! What a gRPC status means for a write.

use http::HeaderMap;
use tower_outcome_core::Code;

use crate::profile::Meaning;
use crate::transport;

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

    /// The status among headers or trailers. One that is no number is as good as none.
    #[must_use]
    pub fn in_fields(fields: &'a HeaderMap) -> Option<Self> {
        let message = fields.get("grpc-message");
        Some(Self {
            code: transport::grpc_status(fields)?,
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

    /// The code for what proves nothing.
    pub(super) const fn doubt(self) -> Code {
        match self.code {
            // DEADLINE_EXCEEDED
            4 => Code::TimeoutAfterSend,
            // ABORTED
            10 => Code::ConflictAmbiguous,
            _ => Code::ServerError,
        }
    }
}
