//! One attempt from the moment the client has it to its end.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http::response::Parts;
use http_body::Body;
use pin_project_lite::pin_project;
use tower_outcome_core::{BoxError, Code};

use super::behind::End;
use super::collect::{Collect, Collected};
use super::relay::Relay;
use super::tail::Tail;
use super::until::Until;
use super::{Asked, Followed, Limits, evidence, grpc};
use crate::call::{Attempt, Call, Ending};
use crate::classify::{self, Answer, GrpcStatus};
use crate::{Error, ReplyBody, retry};

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
        Write { #[pin] stage: Stage<F, B>, write: Write },
    }
}

pin_project! {
    #[project = Projected]
    enum Stage<F, B> {
        // The client has the request.
        Sending { #[pin] future: F },
        // The request was given up or came back with an error: has the client let go of the body?
        Withdrawing { error: Option<BoxError>, patient: bool },
        // The head is here. Boxed, as most answers are whole with their head.
        Reading { reading: Option<Box<Reading<B>>> },
    }
}

/// An answer whose body is still to come.
struct Reading<B> {
    head: Parts,
    body: Collect<B>,
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

    pub(super) fn write(future: F, attempt: Attempt, limits: Limits, asked: Asked) -> Self {
        Self {
            kind: Kind::Write {
                stage: Stage::Sending { future },
                write: Write {
                    attempt,
                    limits,
                    asked,
                    until: Until::Nothing,
                },
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
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    type Output = Result<Response<ReplyBody<B>>, Error>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().kind.project() {
            KindProjected::Read { future } => match future.poll(cx) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Ok(answer)) => {
                    Poll::Ready(Ok(answer.map(|rest| ReplyBody::wire(None, rest))))
                }
                Poll::Ready(Err(error)) => {
                    Poll::Ready(Err(Error::new(Code::ReadFailed).with_source(error)))
                }
            },
            KindProjected::Refused { error } => {
                let error = error.take().unwrap_or_else(|| Error::new(Code::NotSent));
                Poll::Ready(Err(error))
            }
            KindProjected::Write { stage, write } => write.poll(stage, cx),
        }
    }
}

/// What an attempt at a write knows beside its future.
struct Write {
    attempt: Attempt,
    limits: Limits,
    asked: Asked,
    until: Until,
}

impl Write {
    const fn call(&self) -> &Call {
        self.attempt.call()
    }

    #[inline(never)]
    fn poll<F, B>(
        &mut self,
        mut stage: Pin<&mut Stage<F, B>>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Response<ReplyBody<B>>, Error>>
    where
        F: Future<Output = Result<Response<B>, BoxError>>,
        B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
    {
        loop {
            let next = match stage.as_mut().project() {
                Projected::Sending { future } => match future.poll(cx) {
                    Poll::Ready(Ok(answer)) => {
                        let (parts, body) = answer.into_parts();
                        if self.is_handed_on(&parts) {
                            self.headed(&parts);
                            return Poll::Ready(Ok(self.handed_on(parts, None, body)));
                        }
                        // This drops the client's future, which is what lets go of the body.
                        stage.set(Stage::Reading { reading: None });
                        let body = self.collect(&parts, body);
                        let mut reading = Reading { head: parts, body };
                        let Poll::Ready(body) = self.poll_read(&mut reading, cx) else {
                            let reading = Some(Box::new(reading));
                            stage.set(Stage::Reading { reading });
                            return Poll::Pending;
                        };
                        return Poll::Ready(Ok(self.answered(reading.head, body)));
                    }
                    Poll::Ready(Err(error)) => Stage::Withdrawing {
                        error: Some(error),
                        patient: false,
                    },
                    Poll::Pending => {
                        ready!(self.poll_given_up(cx));
                        Stage::Withdrawing {
                            error: None,
                            patient: true,
                        }
                    }
                },
                Projected::Withdrawing { error, patient } => {
                    ready!(self.poll_gone(patient, cx));
                    return Poll::Ready(Err(self.unanswered(error.take())));
                }
                Projected::Reading { reading } => {
                    let Some(waiting) = reading else {
                        return Poll::Pending;
                    };
                    let body = ready!(self.poll_read(waiting, cx));
                    return match reading.take() {
                        Some(read) => Poll::Ready(Ok(self.answered(read.head, body))),
                        None => Poll::Pending,
                    };
                }
            };
            self.until = Until::Nothing;
            // As above.
            stage.set(next);
        }
    }

    /// Ready once the body is read, or given up.
    fn poll_read<B>(
        &mut self,
        Reading { head, body }: &mut Reading<B>,
        cx: &mut Context<'_>,
    ) -> Poll<Collected<B>>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        if body.is_unary() && self.call().ended().is_some() {
            body.read_on();
        }
        if let Poll::Ready(collected) = Pin::new(body).poll(cx) {
            return Poll::Ready(collected);
        }
        self.headed(head);
        ready!(self.poll_given_up(cx));
        Poll::Ready(Collected::Lost)
    }

    /// Ready once the attempt is to be taken back: the call ended while it was untouched, or its
    /// hard limit has come.
    fn poll_given_up(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.until.is_late() {
            let call = self.attempt.call();
            ready!(self.until.poll_sealed(call, cx));
            if !self.attempt.is_touched() {
                return Poll::Ready(());
            }
            call.give_interim_unless_claimed(call.lost_code());
            self.until = Until::late(self.limits.tail);
        }
        self.until.poll_late(cx)
    }

    /// Ready once the client has let go of the body, or is known to have taken it, or after a while.
    ///
    /// A client that was asked to drop the request may keep it in a queue: the caller is told, and
    /// the proof still awaited.
    fn poll_gone(&mut self, patient: &mut bool, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.attempt.poll_gone(cx).is_ready() || self.attempt.is_touched() {
                return Poll::Ready(());
            }
            if !self.until.is_late() {
                self.until = Until::late(GONE_GRACE);
            }
            ready!(self.until.poll_late(cx));
            if !std::mem::take(patient) {
                return Poll::Ready(());
            }
            let call = self.attempt.call();
            call.give_interim_unless_claimed(call.lost_code());
            self.until = Until::late(self.limits.tail);
        }
    }

    /// Notes what the head proves, while its body is still to come.
    fn headed(&self, parts: &Parts) {
        self.attempt.headed(|| self.judge(parts, End::LOST).code);
    }

    fn judge(&self, parts: &Parts, end: End<'_>) -> Ending {
        if parts.extensions.get::<Followed>().is_some() {
            return Code::Redirected.into();
        }
        // The head of a gRPC answer is no proof, whoever sent it: the status comes last. What else
        // carries one has it from somewhere behind the API that was asked.
        let is_grpc = self.asked.grpc || grpc::is_grpc(&parts.headers);
        let status =
            || GrpcStatus::of_answer(&parts.headers, end.trailers, end.may_have_spoken(parts));
        let answer = Answer {
            status: parts.status,
            headers: &parts.headers,
            body: end.body,
            body_lost: end.lost,
            grpc: is_grpc.then(status).flatten(),
        };
        let reading = classify::write(self.call(), &answer);
        let open = is_grpc && answer.grpc.is_none() && parts.status.is_success();
        Ending {
            code: if open {
                Code::ResponseLost
            } else {
                reading.code
            },
            brings_news: reading.retryable_with_same_key,
            pushback: retry::pushback(end.trailers.unwrap_or(&parts.headers)),
        }
    }

    /// Whether the answer is a gRPC stream for all that is known: only the caller can read it.
    fn is_handed_on(&self, parts: &Parts) -> bool {
        self.may_stream(parts) && (self.asked.streams || !self.call().has_key())
    }

    fn may_stream(&self, parts: &Parts) -> bool {
        // Once the call has ended nobody is there to read it: what it says is taken down here.
        self.call().keeps_response()
            && grpc::is_grpc(&parts.headers)
            && grpc::status(&parts.headers).is_none()
            && self.call().ended().is_none()
    }

    fn collect<B>(&self, parts: &Parts, body: B) -> Collect<B> {
        let collect = Collect::new(body, self.limits.reply);
        if self.may_stream(parts) {
            collect.unary()
        } else {
            collect
        }
    }

    fn handed_on<B>(&self, parts: Parts, start: Option<Bytes>, rest: B) -> Response<ReplyBody<B>>
    where
        B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
    {
        let tail = Tail::new(&self.attempt, &parts);
        let relay = Relay::new(tail, self.limits, start, rest);
        Response::from_parts(parts, ReplyBody::relayed(relay))
    }

    fn unanswered(&self, error: Option<BoxError>) -> Error {
        let refused = error
            .as_ref()
            .is_some_and(|error| self.is_refused(&**error));
        let unsent = self.attempt.is_proven_unsent();
        let code = match &error {
            None if unsent => self.call().unsent_code(),
            None => self.call().lost_code(),
            Some(error) if unsent && evidence::is_connect(&**error) => Code::ConnectFailed,
            Some(_) if unsent => Code::NotSent,
            Some(_) if refused => Code::RefusedByProtocol,
            Some(_) => Code::ResponseLost,
        };
        let ending = Ending {
            brings_news: classify::lost(self.call(), code).retryable_with_same_key,
            ..Ending::from(code)
        };
        self.attempt.finish(ending, unsent || refused);
        self.report(code);
        let answer = Error::new(code);
        match error {
            Some(error) => answer.with_source(error),
            None => answer,
        }
    }

    fn report(&self, code: Code) {
        let call = self.call();
        tracing::debug!(route = call.route(), number = call.attempts(), %code, "attempt ended");
    }

    fn is_refused(&self, error: &(dyn std::error::Error + 'static)) -> bool {
        let trusted = self.call().profile().trusts_refusals();
        // A body that was relayed from another connection brings that one's error along.
        self.asked.once
            && !self.attempt.is_broken()
            && (evidence::is_canceled(error)
                || trusted && evidence::is_refused(error, self.attempt.is_polled()))
    }

    fn answered<B>(&self, parts: Parts, body: Collected<B>) -> Response<ReplyBody<B>>
    where
        B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
    {
        let (body, bytes, trailers) = match body {
            Collected::Lost => (ReplyBody::lost(), None, None),
            Collected::Rest { start, rest } if self.may_stream(&parts) => {
                self.headed(&parts);
                return self.handed_on(parts, Some(start), rest);
            }
            Collected::Rest { start, rest } => (ReplyBody::wire(Some(start), rest), None, None),
            Collected::Whole { bytes, trailers } => {
                (ReplyBody::whole(bytes.clone()), Some(bytes), trailers)
            }
        };
        let end = End {
            body: bytes.as_deref(),
            lost: body.is_lost(),
            trailers: trailers.as_ref(),
        };
        let ending = self.judge(&parts, end);
        self.attempt.answered(ending);
        self.report(ending.code);
        Response::from_parts(parts, body.with_trailers(trailers))
    }
}

/// For how long a client is given to let go of a request that was taken back.
const GONE_GRACE: Duration = Duration::from_millis(50);
