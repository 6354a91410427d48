//! One attempt from the moment the client has it to its end.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http::response::Parts;
use http_body::Body;
use pin_project_lite::pin_project;
use tokio::time::Sleep;
use tower_outcome_core::gate::WaitSealed;
use tower_outcome_core::{BoxError, Code};

use super::collect::{Collect, Collected};
use super::{Limits, evidence};
use crate::call::{Attempt, Call};
use crate::classify::{self, Answer, GrpcStatus};
use crate::{Error, ReplyBody};

pin_project! {
    /// Response future of [`Wire`](super::Wire).
    ///
    /// Dropping it drops the request, which is no proof that it did not leave.
    pub struct ResponseFuture<F, B> {
        #[pin]
        kind: Kind<F, B>,
    }
}

pin_project! {
    #[project = KindProjected]
    enum Kind<F, B> {
        Read { #[pin] future: F },
        Refused { error: Option<Error> },
        Write { #[pin] stage: Stage<F, B>, write: Write, #[pin] timer: Option<Sleep> },
    }
}

pin_project! {
    #[project = Projected]
    enum Stage<F, B> {
        // The client has the request.
        Sending { #[pin] future: F },
        // The request was given up or came back with an error: has the client let go of the body?
        Withdrawing { error: Option<BoxError> },
        // The head is here.
        Reading { parts: Option<Parts>, #[pin] body: Collect<B> },
    }
}

impl<F, B> ResponseFuture<F, B> {
    pub(super) const fn refused(error: Error) -> Self {
        Self {
            kind: Kind::Refused { error: Some(error) },
        }
    }

    pub(super) const fn read(future: F) -> Self {
        Self {
            kind: Kind::Read { future },
        }
    }

    pub(super) fn write(future: F, call: Call, attempt: Arc<Attempt>, limits: Limits) -> Self {
        let write = Write {
            sealed: Some(call.gate().sealed()),
            call,
            attempt,
            limits,
        };
        Self {
            kind: Kind::Write {
                stage: Stage::Sending { future },
                write,
                timer: None,
            },
        }
    }
}

impl<F, B> fmt::Debug for ResponseFuture<F, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

impl<F, B> Future for ResponseFuture<F, B>
where
    F: Future<Output = Result<Response<B>, BoxError>>,
    B: Body<Data = Bytes> + Unpin,
{
    type Output = Result<Response<ReplyBody<B>>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (mut stage, write, mut timer) = match self.project().kind.project() {
            KindProjected::Read { future } => {
                return Poll::Ready(match ready!(future.poll(cx)) {
                    Ok(answer) => Ok(answer.map(|rest| ReplyBody::Wire { start: None, rest })),
                    Err(error) => Err(Error::new(Code::ReadFailed).with_source(error)),
                });
            }
            KindProjected::Refused { error } => {
                let error = error.take().unwrap_or_else(|| Error::new(Code::NotSent));
                return Poll::Ready(Err(error));
            }
            KindProjected::Write {
                stage,
                write,
                timer,
            } => (stage, write, timer),
        };
        loop {
            let next = match stage.as_mut().project() {
                Projected::Sending { future } => match future.poll(cx) {
                    Poll::Ready(Ok(answer)) => {
                        let (parts, body) = answer.into_parts();
                        write.attempt.headed(write.judge(&parts, None, true));
                        Stage::Reading {
                            parts: Some(parts),
                            body: Collect::new(body, write.limits.reply),
                        }
                    }
                    Poll::Ready(Err(error)) => Stage::Withdrawing { error: Some(error) },
                    Poll::Pending => {
                        ready!(write.poll_given_up(timer.as_mut(), cx));
                        Stage::Withdrawing { error: None }
                    }
                },
                Projected::Withdrawing { error } => {
                    ready!(write.poll_gone(timer.as_mut(), cx));
                    return Poll::Ready(Err(write.unanswered(error.take())));
                }
                Projected::Reading { parts, body } => {
                    let body = match body.poll(cx) {
                        Poll::Ready(collected) => collected,
                        Poll::Pending => {
                            ready!(write.poll_given_up(timer.as_mut(), cx));
                            Collected::Lost
                        }
                    };
                    let Some(parts) = parts.take() else {
                        return Poll::Pending;
                    };
                    return Poll::Ready(Ok(write.answered(parts, body)));
                }
            };
            if matches!(next, Stage::Withdrawing { .. }) {
                timer.set(None);
            }
            // This drops the client's future, which is what lets go of the body.
            stage.set(next);
        }
    }
}

/// What an attempt at a write knows beside its future.
struct Write {
    call: Call,
    attempt: Arc<Attempt>,
    limits: Limits,
    /// Until the call has ended.
    sealed: Option<WaitSealed>,
}

impl Write {
    /// Ready once the attempt is to be taken back: the call ended while it was untouched, or its
    /// hard limit has come.
    fn poll_given_up(
        &mut self,
        mut timer: Pin<&mut Option<Sleep>>,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        if let Some(sealed) = &mut self.sealed {
            ready!(Pin::new(sealed).poll(cx));
            self.sealed = None;
            if !self.attempt.is_touched() {
                return Poll::Ready(());
            }
            self.call.give_interim_unless_claimed(self.call.lost_code());
            timer.set(Some(tokio::time::sleep(self.limits.tail)));
        }
        match timer.as_pin_mut() {
            Some(timer) => timer.poll(cx),
            None => Poll::Pending,
        }
    }

    /// Ready once the client has let go of the body, or is known to have taken it, or after a while.
    fn poll_gone(&self, mut timer: Pin<&mut Option<Sleep>>, cx: &mut Context<'_>) -> Poll<()> {
        if self.attempt.poll_gone(cx).is_ready() || self.attempt.is_touched() {
            return Poll::Ready(());
        }
        if timer.is_none() {
            timer.set(Some(tokio::time::sleep(GONE_GRACE)));
        }
        match timer.as_pin_mut() {
            Some(timer) => timer.poll(cx),
            None => Poll::Pending,
        }
    }

    fn judge(&self, parts: &Parts, body: Option<&[u8]>, body_lost: bool) -> Code {
        let answer = Answer {
            status: parts.status,
            headers: &parts.headers,
            body,
            body_lost,
            grpc: GrpcStatus::in_headers(&parts.headers),
        };
        classify::write(&self.call, &answer).code
    }

    fn unanswered(&self, error: Option<BoxError>) -> Error {
        let refused = error
            .as_ref()
            .is_some_and(|error| evidence::is_refused(&**error, self.attempt.is_polled()));
        let unsent = self.attempt.is_proven_unsent();
        let code = match &error {
            None if unsent => self.call.unsent_code(),
            None => self.call.lost_code(),
            Some(error) if unsent && evidence::is_connect(&**error) => Code::ConnectFailed,
            Some(_) if unsent => Code::NotSent,
            Some(_) if refused => Code::RefusedByProtocol,
            Some(_) => Code::ResponseLost,
        };
        self.attempt.finish(code, unsent || refused);
        self.report(code);
        let answer = Error::new(code);
        match error {
            Some(error) => answer.with_source(error),
            None => answer,
        }
    }

    fn report(&self, code: Code) {
        let route = self.call.route();
        let number = self.call.attempts();
        tracing::debug!(route, number, %code, "attempt ended");
    }

    fn answered<B>(&self, parts: Parts, body: Collected<B>) -> Response<ReplyBody<B>> {
        let body_lost = matches!(body, Collected::Lost);
        let whole = match &body {
            Collected::Whole(bytes) => Some(&**bytes),
            Collected::Lost | Collected::Rest { .. } => None,
        };
        let code = self.judge(&parts, whole, body_lost);
        self.attempt.answered(code);
        self.report(code);
        let body = match body {
            Collected::Lost => ReplyBody::Lost,
            Collected::Rest { start, rest } => ReplyBody::Wire {
                start: Some(start),
                rest,
            },
            Collected::Whole(bytes) => ReplyBody::whole(bytes),
        };
        Response::from_parts(parts, body)
    }
}

/// For how long a client is given to let go of a request that was taken back.
const GONE_GRACE: Duration = Duration::from_millis(50);
