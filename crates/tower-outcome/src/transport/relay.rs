//! An answer that is handed on before its end: a task reads it, and the caller listens.
//!
//! So the end is read whatever the caller does. When the call's time is over, or the caller lets go,
//! the rest is read for the word's sake alone, up to the hard limit and the cap.

use std::fmt;
use std::future::{pending, poll_fn};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{timeout, timeout_at};
use tower_outcome_core::{BoxError, Code};

use super::Limits;
use super::tail::Tail;
use crate::Error;
use crate::call::{Call, End};
use crate::deadline::GRACE;

/// The caller's side. Dropped before its end, it ends the call.
pub(crate) struct Relay {
    frames: Receiver<Piece>,
    call: Call,
    ended: bool,
}

/// A frame, or the end behind the last one.
type Piece = Option<Result<Frame<Bytes>, BoxError>>;

impl Relay {
    /// Has `rest` read, behind what was read already, and judged by `tail`.
    pub(super) fn new<B>(tail: Tail, limits: Limits, start: Option<Bytes>, rest: B) -> Self
    where
        B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
    {
        let (listener, frames) = channel(1);
        let call = tail.call().clone();
        tokio::spawn(relay(tail, limits, start, rest, listener));
        Self {
            frames,
            call,
            ended: false,
        }
    }

    pub(crate) const fn is_ended(&self) -> bool {
        self.ended
    }

    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Piece> {
        if self.ended {
            return Poll::Ready(None);
        }
        let piece = ready!(self.frames.poll_recv(cx)).unwrap_or_else(|| {
            // Whoever read it has given up, and said why.
            let told = self.call.conclusion();
            Some(Err(
                Error::new(told.unwrap_or(Code::ResponseLost.into())).into()
            ))
        });
        self.ended = !matches!(&piece, Some(Ok(frame)) if frame.is_data());
        Poll::Ready(piece)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        if !self.ended {
            self.call.break_off(End::Cancelled);
        }
    }
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Relay").field(&self.call).finish()
    }
}

async fn relay<B>(
    mut tail: Tail,
    limits: Limits,
    start: Option<Bytes>,
    mut rest: B,
    listener: Sender<Piece>,
) where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    let call = tail.call().clone();
    // The answer first: proof in hand beats a clock that ran out in the same wake-up.
    let last = tokio::select! {
        biased;
        last = forward(&mut tail, start, &mut rest, &listener) => last,
        () = broken_off(&call) => {
            let _ = timeout(GRACE, poll_fn(|cx| call.poll_interim(cx))).await;
            call.tell(call.interim().unwrap_or_else(|| call.lost_code().into()));
            drop(listener);
            let trailers = timeout(limits.tail, skip(&mut tail, rest, limits.reply)).await;
            tail.end(trailers.ok().flatten().as_ref());
            return;
        }
    };
    let trailers = last
        .as_ref()
        .and_then(|it| it.as_ref().ok()?.trailers_ref());
    tail.end(trailers);
    if is_settled(&call, limits.tail).await {
        let _ = listener.send(last).await;
    } else {
        call.tell(Code::StillConfirming.into());
    }
}

/// Hands on what comes, as fast as the caller reads. Ready with the end.
async fn forward<B>(
    tail: &mut Tail,
    mut start: Option<Bytes>,
    rest: &mut B,
    listener: &Sender<Piece>,
) -> Piece
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    loop {
        let Ok(room) = listener.reserve().await else {
            // The caller has let go, and has ended the call.
            return pending().await;
        };
        let piece = match start.take() {
            Some(start) => Some(Ok(Frame::data(start))),
            None => rest.frame().await.map(|it| it.map_err(Into::into)),
        };
        match &piece {
            Some(Ok(frame)) if frame.is_data() => tail.brought(frame.data_ref()),
            _ => return piece,
        }
        room.send(piece);
    }
}

/// Ready once the call is over while its answer is read.
async fn broken_off(call: &Call) {
    let sealed = call.gate().sealed();
    let end = match call.deadline() {
        None => {
            sealed.await;
            None
        }
        Some(deadline) => timeout_at(deadline, sealed)
            .await
            .err()
            .map(|_| End::Deadline),
    };
    call.break_off(end.or(call.ended()).unwrap_or(End::Cancelled));
}

/// Reads for the sake of the trailers, at most `cap` bytes.
async fn skip<B: Body<Data = Bytes> + Unpin>(
    tail: &mut Tail,
    mut rest: B,
    cap: usize,
) -> Option<HeaderMap> {
    let mut read = 0;
    while read <= cap {
        match rest.frame().await?.ok()?.into_data() {
            Ok(data) => {
                tail.brought(Some(&data));
                read += data.len();
            }
            Err(frame) => return frame.into_trailers().ok(),
        }
    }
    None
}

/// Whether what became of the call is known in time, also to its ledger. A call without a deadline
/// gives it as long as its `limit`.
async fn is_settled(call: &Call, limit: Duration) -> bool {
    let settled = call.settled();
    match call.deadline() {
        None => timeout(limit, settled).await.is_ok(),
        Some(deadline) => timeout_at(deadline + GRACE, settled).await.is_ok(),
    }
}
