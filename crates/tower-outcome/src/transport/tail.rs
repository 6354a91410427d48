//! The end of an answer that is read by the caller.

use std::fmt;
use std::sync::Arc;

use http::response::Parts;
use http::{HeaderMap, StatusCode};
use tower_outcome_core::Code;

use crate::call::{Attempt, Call};
use crate::classify::{self, Answer, GrpcStatus};

/// Judges a gRPC answer once its trailers were read. Dropped before, the answer is lost.
pub(crate) struct Tail {
    call: Call,
    attempt: Arc<Attempt>,
    status: StatusCode,
    headers: Box<HeaderMap>,
    code: Code,
}

impl Tail {
    /// Keeps `call` open until the end of the answer's body.
    pub(super) fn new(call: &Call, attempt: &Arc<Attempt>, head: &Parts) -> Self {
        call.begin_streaming();
        Self {
            call: call.clone(),
            attempt: Arc::clone(attempt),
            status: head.status,
            headers: Box::new(head.headers.clone()),
            code: Code::ResponseLost,
        }
    }

    pub(crate) fn end(mut self, trailers: Option<&HeaderMap>) {
        if let Some(grpc) = trailers.and_then(GrpcStatus::in_fields) {
            let answer = Answer::new(self.status, &self.headers).with_grpc(grpc);
            self.code = classify::write(&self.call, &answer).code;
        }
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        if self.code == Code::ResponseLost {
            self.attempt.finish(self.code.into(), false);
        } else {
            self.attempt.answered(self.code.into());
        }
        self.call.end_streaming();
    }
}

impl fmt::Debug for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tail").field(&self.call).finish()
    }
}
