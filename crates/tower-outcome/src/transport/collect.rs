//! Reads the answer to a write, up to a cap.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::Body;
use tokio::time::Sleep;

use super::grpc;

/// Future of a body's bytes. Dropping it drops the body.
pub(super) struct Collect<B> {
    body: Option<B>,
    read: Read,
    cap: usize,
    /// Set where the answer may be a stream: until when it may turn out to be a single message.
    unary_until: Option<Pin<Box<Sleep>>>,
}

/// What there was to read.
pub(super) enum Collected<B> {
    /// The body broke off.
    Lost,
    /// More than was waited for.
    Rest { start: Bytes, rest: B },
    /// All of it.
    Whole {
        bytes: Bytes,
        trailers: Option<HeaderMap>,
    },
}

impl<B> Collect<B> {
    pub(super) fn new(body: B, cap: usize) -> Self {
        Self {
            body: Some(body),
            read: Read::default(),
            cap,
            unary_until: None,
        }
    }

    /// Reads no stream: what is not one message and its trailers within a while is handed on.
    pub(super) fn unary(mut self) -> Self {
        self.unary_until = Some(Box::pin(tokio::time::sleep(grpc::UNARY_GRACE)));
        self
    }

    pub(super) const fn is_unary(&self) -> bool {
        self.unary_until.is_some()
    }

    /// Reads streams as well: nobody is there any more to hand them on to.
    pub(super) fn read_on(&mut self) {
        self.unary_until = None;
    }

    fn is_too_much(&self) -> bool {
        let read = self.read.as_slice();
        let stream = self.unary_until.is_some() && grpc::is_more_than_one(read);
        read.len() > self.cap || stream
    }
}

impl<B: Body<Data = Bytes> + Unpin> Future for Collect<B> {
    type Output = Collected<B>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Collected<B>> {
        let this = &mut *self;
        let mut trailers = None;
        while !this.is_too_much()
            && let Some(body) = &mut this.body
        {
            let frame = match Pin::new(body).poll_frame(cx) {
                Poll::Ready(frame) => frame,
                Poll::Pending => match &mut this.unary_until {
                    Some(patience) => {
                        ready!(patience.as_mut().poll(cx));
                        break;
                    }
                    None => return Poll::Pending,
                },
            };
            match frame.transpose() {
                Ok(None) => {
                    let bytes = this.read.take();
                    return Poll::Ready(Collected::Whole { bytes, trailers });
                }
                Err(_) => return Poll::Ready(Collected::Lost),
                Ok(Some(frame)) => match frame.into_data() {
                    Ok(data) => this.read.push(data),
                    // Nothing follows them, and whoever waits for the end waits in vain.
                    Err(frame) => {
                        trailers = frame.into_trailers().ok();
                        this.body = None;
                    }
                },
            }
        }
        let start = this.read.take();
        Poll::Ready(match this.body.take() {
            Some(rest) => Collected::Rest { start, rest },
            None => Collected::Whole {
                bytes: start,
                trailers,
            },
        })
    }
}

/// Frames one behind the other. Most answers come in one, which is taken over as it is.
enum Read {
    Many(Box<BytesMut>),
    One(Bytes),
}

impl Default for Read {
    fn default() -> Self {
        Self::One(Bytes::new())
    }
}

impl Read {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Many(all) => all,
            Self::One(first) => first,
        }
    }

    fn push(&mut self, data: Bytes) {
        match self {
            Self::Many(all) => all.extend_from_slice(&data),
            Self::One(first) if first.is_empty() => *first = data,
            Self::One(first) => {
                let mut all = BytesMut::with_capacity(first.len() + data.len());
                all.extend_from_slice(first);
                all.extend_from_slice(&data);
                *self = Self::Many(Box::new(all));
            }
        }
    }

    fn take(&mut self) -> Bytes {
        match std::mem::take(self) {
            Self::Many(all) => all.freeze(),
            Self::One(first) => first,
        }
    }
}
