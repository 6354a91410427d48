//! Reads the answer to a write, up to a cap.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http_body::Body;

/// Future of a body's bytes. Dropping it drops the body.
pub(super) struct Collect<B> {
    body: Option<B>,
    read: BytesMut,
    cap: usize,
}

/// What there was to read.
pub(super) enum Collected<B> {
    /// The body broke off.
    Lost,
    /// More than the cap allows.
    Rest { start: Bytes, rest: B },
    /// All of it.
    Whole(Bytes),
}

impl<B> Collect<B> {
    pub(super) fn new(body: B, cap: usize) -> Self {
        Self {
            body: Some(body),
            read: BytesMut::new(),
            cap,
        }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Future for Collect<B> {
    type Output = Collected<B>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Collected<B>> {
        let this = &mut *self;
        while let Some(body) = &mut this.body {
            if this.read.len() > this.cap {
                break;
            }
            match ready!(Pin::new(body).poll_frame(cx)) {
                None => return Poll::Ready(Collected::Whole(this.read.split().freeze())),
                Some(Err(_)) => return Poll::Ready(Collected::Lost),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        this.read.extend_from_slice(&data);
                    }
                }
            }
        }
        Poll::Ready(match this.body.take() {
            Some(rest) => Collected::Rest {
                start: this.read.split().freeze(),
                rest,
            },
            None => Collected::Lost,
        })
    }
}
