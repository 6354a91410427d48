//! What an answer proves, by status alone.
//!
//! A refusal proves something only while nothing else of the same intent may have left.

use http::{Method, StatusCode};
use tower_outcome_core::Code;

use crate::call::Call;

/// What came back of one attempt at a write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// The provider says that this is the stored answer of an earlier request.
    pub(crate) replayed: bool,
    /// The head came, the body did not.
    pub(crate) body_lost: bool,
    /// The `grpc-status`, where there is one.
    pub(crate) grpc: Option<u32>,
}

/// Judges the answer to the last attempt of `call`.
pub(crate) fn write(call: &Call, answer: Answer) -> Code {
    let status = answer.status;
    if let Some(grpc) = answer.grpc {
        return match grpc {
            0 => success(call, answer),
            _ => self::grpc(call, grpc),
        };
    }
    if status.is_success() {
        return success(call, answer);
    }
    if status.is_server_error() {
        return Code::ServerError;
    }
    if status.is_redirection() && !matches!(status.as_u16(), 307 | 308) {
        return Code::Redirected;
    }
    match refusal(call, status) {
        Some(code) => refused(call, code),
        None => Code::ConflictAmbiguous,
    }
}

/// Judges a gRPC status (gRPC status codes and their use).
fn grpc(call: &Call, status: u32) -> Code {
    let code = match status {
        3 | 5 | 7 | 11 | 12 | 16 => Code::Rejected,
        8 => Code::RateLimited,
        9 => Code::PreconditionFailed,
        6 | 10 => return Code::ConflictAmbiguous,
        4 => return Code::TimeoutAfterSend,
        _ => return Code::ServerError,
    };
    refused(call, code)
}

/// A first attempt's refusal is an answer to everything that was ever sent; a later one's says
/// nothing about the earlier.
fn refused(call: &Call, code: Code) -> Code {
    if call.is_tainted() {
        Code::RejectedAfterUnknown
    } else if call.profile().has_replaying_proxy() {
        Code::ConflictAmbiguous
    } else {
        code
    }
}

/// Judges the answer to a read.
pub(crate) fn read(status: StatusCode) -> Code {
    match status.as_u16() {
        429 => Code::RateLimited,
        400..500 => Code::Rejected,
        500.. => Code::ReadFailed,
        _ => Code::Done,
    }
}

fn success(call: &Call, answer: Answer) -> Code {
    match answer.status.as_u16() {
        202 => Code::AcceptedPending,
        207 => Code::Partial,
        _ if answer.replayed && !call.has_left_before() => Code::AlreadyDone,
        _ if answer.replayed => Code::DoneReplayed,
        _ if answer.body_lost => Code::DoneBodyLost,
        _ => Code::Done,
    }
}

/// What a lone refusal proves; `None` where it proves nothing.
fn refusal(call: &Call, status: StatusCode) -> Option<Code> {
    match status.as_u16() {
        307 | 308 => Some(Code::RedirectRefused),
        404 | 410 if call.method() == Method::DELETE => None,
        412 if call.is_conditional() => Some(Code::PreconditionFailed),
        429 => Some(Code::RateLimited),
        400 | 401 | 403 | 404 | 405 | 411 | 413 | 414 | 415 | 421 | 422 | 425 | 431 => {
            Some(Code::Rejected)
        }
        _ => None,
    }
}
