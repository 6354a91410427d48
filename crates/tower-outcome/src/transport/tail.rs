//! The end of an answer that is handed on before it is there.

use bytes::Bytes;
use http::response::Parts;
use http::{HeaderMap, StatusCode};
use tower_outcome_core::Code;

use crate::call::{Attempt, Call};
use crate::classify::{self, Answer, GrpcStatus};

/// Judges a gRPC answer once its trailers were read. Dropped before, the answer is lost.
pub(super) struct Tail {
    attempt: Attempt,
    status: StatusCode,
    headers: Box<HeaderMap>,
    has_messages: bool,
    code: Code,
}

impl Tail {
    /// Keeps the call open until the end of the answer's body.
    pub(super) fn new(attempt: &Attempt, head: &Parts) -> Self {
        attempt.call().begin_streaming();
        Self {
            attempt: attempt.clone(),
            status: head.status,
            headers: Box::new(head.headers.clone()),
            has_messages: false,
            code: Code::ResponseLost,
        }
    }

    pub(super) const fn call(&self) -> &Call {
        self.attempt.call()
    }

    /// Notes what came before the end.
    pub(super) fn brought(&mut self, data: Option<&Bytes>) {
        self.has_messages |= data.is_some_and(|data| !data.is_empty());
    }

    pub(super) fn end(mut self, trailers: Option<&HeaderMap>) {
        if let Some(grpc) = trailers.and_then(GrpcStatus::in_fields) {
            let grpc = grpc.behind_messages(self.has_messages);
            let answer = Answer::new(self.status, &self.headers).with_grpc(grpc);
            self.code = classify::write(self.call(), &answer).code;
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
        self.call().end_streaming();
    }
}
