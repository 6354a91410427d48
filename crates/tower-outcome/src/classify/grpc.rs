//! What a gRPC status means for a write.

use http::{HeaderMap, HeaderName};
use tower_outcome_core::Code;

use crate::profile::Meaning;
use crate::transport;

/// The status that a gRPC call ended in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct GrpcStatus<'a> {
    code: u32,
    message: &'a str,
    behind_messages: bool,
}

impl<'a> GrpcStatus<'a> {
    /// A status by its number, from 0 for `OK` to 16 for `UNAUTHENTICATED`.
    #[must_use]
    pub const fn new(code: u32, message: &'a str) -> Self {
        Self {
            code,
            message,
            behind_messages: false,
        }
    }

    /// The status among headers or trailers. One that is no number is as good as none.
    #[must_use]
    pub fn in_fields(fields: &'a HeaderMap) -> Option<Self> {
        let status = transport::grpc_status(fields)?;
        let message = fields.get(&MESSAGE).and_then(|it| it.to_str().ok());
        Some(Self::new(status, message.unwrap_or_default()))
    }

    /// The status of a whole answer, in its head or behind its messages. A head and an end that
    /// contradict each other are as good as none.
    pub(crate) fn of_answer(
        head: &'a HeaderMap,
        trailers: Option<&'a HeaderMap>,
        spoke: bool,
    ) -> Option<Self> {
        let last = trailers.and_then(Self::in_fields);
        match (Self::in_fields(head), last) {
            (Some(first), Some(last)) if first.code != last.code => None,
            (first, last) => Some(last.or(first)?.behind_messages(spoke)),
        }
    }

    /// Whether messages came before it. Then a refusal is no proof that nothing happened: the
    /// provider was at work already.
    #[must_use]
    pub const fn behind_messages(mut self, came: bool) -> Self {
        self.behind_messages = came;
        self
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

    pub(super) const fn is_behind_messages(self) -> bool {
        self.behind_messages
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

static MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
