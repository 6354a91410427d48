//! An answer in frames.

use std::mem;

use crate::Reply;

use super::frame::{DATA, END_STREAM, LIMIT, frame, headers};
use super::hpack::encode;

/// An answer, or what the client's windows have held back of it.
pub(super) struct Outgoing {
    head: Option<Vec<u8>>,
    body: Vec<u8>,
    sent: usize,
    trailers: Vec<u8>,
    ends_stream: bool,
}

impl Outgoing {
    pub(super) fn whole(reply: &Reply) -> Self {
        let trailers = reply.trailers().iter();
        let trailers = encode(trailers.map(|(name, value)| (name.as_str(), value.as_str())));
        let says_length = !reply.body().is_empty() && trailers.is_empty() && !reply.is_framed();
        let length = says_length.then(|| reply.body().len().to_string());
        Self {
            head: Some(head(reply, length.as_deref())),
            body: reply.body().to_vec(),
            sent: 0,
            trailers,
            // Or the client would take an interim answer for a broken one.
            ends_stream: reply.status() >= 200,
        }
    }

    /// The answer to a HEAD.
    pub(super) fn head_of(reply: &Reply) -> Self {
        let whole = Self::whole(reply);
        Self {
            body: Vec::new(),
            trailers: Vec::new(),
            ..whole
        }
    }

    /// Head and body, with the end left open.
    pub(super) fn start(reply: &Reply) -> Self {
        Self {
            head: Some(head(reply, None)),
            body: reply.body().to_vec(),
            sent: 0,
            trailers: Vec::new(),
            ends_stream: false,
        }
    }

    /// All of it, whatever the windows.
    pub(super) fn frames(mut self, stream: u32) -> Vec<u8> {
        let mut endless = i64::MAX;
        self.next_frames(stream, &mut [&mut endless])
    }

    /// As much as the windows admit, which it takes from them.
    pub(super) fn next_frames(&mut self, stream: u32, windows: &mut [&mut i64]) -> Vec<u8> {
        let end = |last: bool| {
            if last && self.ends_stream {
                END_STREAM
            } else {
                0
            }
        };
        let mut frames = Vec::new();
        if let Some(head) = mem::take(&mut self.head) {
            let last = self.body.is_empty() && self.trailers.is_empty();
            frames.extend(headers(stream, &head, end(last)));
        }
        while self.sent < self.body.len() {
            let most = windows.iter().map(|it| usize::try_from(**it).unwrap_or(0));
            let most = most.min().unwrap_or_default().min(LIMIT);
            let piece = &self.body[self.sent..];
            let piece = &piece[..most.min(piece.len())];
            if piece.is_empty() {
                return frames;
            }
            self.sent += piece.len();
            let last = self.sent == self.body.len() && self.trailers.is_empty();
            frames.extend(frame(DATA, end(last), stream, piece));
            for window in windows.iter_mut() {
                **window -= i64::try_from(piece.len()).unwrap_or(i64::MAX);
            }
        }
        let trailers = mem::take(&mut self.trailers);
        frames.extend(headers(stream, &trailers, end(true)));
        frames
    }

    /// Whether everything was given out.
    pub(super) fn is_done(&self) -> bool {
        self.head.is_none() && self.sent == self.body.len() && self.trailers.is_empty()
    }
}

fn head(reply: &Reply, length: Option<&str>) -> Vec<u8> {
    let status = reply.status().to_string();
    let fields = reply.headers().iter();
    let fields = fields.map(|(name, value)| (name.as_str(), value.as_str()));
    let length = length.map(|length| ("content-length", length));
    encode(
        [(":status", status.as_str())]
            .into_iter()
            .chain(fields)
            .chain(length),
    )
}
