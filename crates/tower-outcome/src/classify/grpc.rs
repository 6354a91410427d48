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
    pub(super) fn meaning(self) -> Meaning {
        match self.code {
            0 => Meaning::Done,
            8 | 11 if self.refuses_an_answer() => Meaning::Indeterminate,
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

    /// Whether a server's library found the answer to be longer than it may send. The work was done
    /// by then.
    fn refuses_an_answer(self) -> bool {
        let message = self.said();
        TOO_LONG_TO_SEND.iter().any(|text| message.contains(text))
    }

    /// The message without its percent-encoding, in lower case.
    pub(super) fn said(self) -> String {
        let mut said = Vec::with_capacity(self.message.len());
        let mut rest = self.message.as_bytes();
        while let [first, behind @ ..] = rest {
            let decoded = behind
                .split_at_checked(2)
                .filter(|_| *first == b'%')
                .and_then(|(digits, behind)| Some((byte(digits)?, behind)));
            let (next, behind) = decoded.unwrap_or((*first, behind));
            said.push(next);
            rest = behind;
        }
        String::from_utf8_lossy(&said).to_lowercase()
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

/// The byte that two hexadecimal digits stand for.
fn byte(digits: &[u8]) -> Option<u8> {
    let digits = str::from_utf8(digits).ok()?;
    u8::from_str_radix(digits, 16).ok()
}

/// As grpc-go, the C core and tonic say it. Of what was too long to receive they say "received" and
/// "decoded".
const TOO_LONG_TO_SEND: [&str; 4] = [
    "send message larger than max",
    "sent message larger than max",
    "encoded message length too large",
    "cannot return body with more than",
];

static MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
