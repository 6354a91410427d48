//! The answer's body: collected for writes, left on the wire for reads and for gRPC streams.

#![cfg(feature = "client")]

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use tower_outcome_core::BoxError;

use crate::transport::Relay;

/// The body of an answer.
///
/// The answer to a write is read under a cap before anybody sees it, so that retry and ledger can
/// judge it; longer answers, gRPC streams and the answers to reads stay on the wire.
pub struct ReplyBody<B> {
    kind: Kind<B>,
}

enum Kind<B> {
    Lost,
    Relayed(Relay),
    Whole {
        bytes: Option<Bytes>,
        trailers: Option<Box<HeaderMap>>,
    },
    Wire {
        start: Option<Bytes>,
        rest: B,
    },
}

impl<B> ReplyBody<B> {
    /// A body that is all there.
    #[must_use]
    pub const fn whole(bytes: Bytes) -> Self {
        Self {
            kind: Kind::Whole {
                bytes: Some(bytes),
                trailers: None,
            },
        }
    }

    /// The head came and the body was lost.
    pub(crate) const fn lost() -> Self {
        Self { kind: Kind::Lost }
    }

    pub(crate) const fn is_lost(&self) -> bool {
        matches!(self.kind, Kind::Lost)
    }

    /// What is still to be read, behind what was read already.
    pub(crate) const fn wire(start: Option<Bytes>, rest: B) -> Self {
        Self {
            kind: Kind::Wire { start, rest },
        }
    }

    /// What is still to come, read by somebody else.
    pub(crate) const fn relayed(relay: Relay) -> Self {
        Self {
            kind: Kind::Relayed(relay),
        }
    }

    pub(crate) fn with_trailers(mut self, sent: Option<HeaderMap>) -> Self {
        if let Kind::Whole { trailers, .. } = &mut self.kind {
            *trailers = sent.map(Box::new);
        }
        self
    }

    /// The bytes, if they are at hand.
    #[must_use]
    pub fn bytes(&self) -> Option<&Bytes> {
        match &self.kind {
            Kind::Whole { bytes, .. } => bytes.as_ref(),
            Kind::Lost | Kind::Relayed(_) | Kind::Wire { .. } => None,
        }
    }

    /// The trailers, if they are at hand.
    pub(crate) fn trailers(&self) -> Option<&HeaderMap> {
        match &self.kind {
            Kind::Whole { trailers, .. } => trailers.as_deref(),
            Kind::Lost | Kind::Relayed(_) | Kind::Wire { .. } => None,
        }
    }

    pub(crate) fn map<T>(self, map: impl FnOnce(B) -> T) -> ReplyBody<T> {
        let kind = match self.kind {
            Kind::Lost => Kind::Lost,
            Kind::Relayed(relay) => Kind::Relayed(relay),
            Kind::Whole { bytes, trailers } => Kind::Whole { bytes, trailers },
            Kind::Wire { start, rest } => Kind::Wire {
                start,
                rest: map(rest),
            },
        };
        ReplyBody { kind }
    }
}

/// An empty body. tonic's interceptors make one when they refuse a request.
impl<B> Default for ReplyBody<B> {
    fn default() -> Self {
        Self::whole(Bytes::new())
    }
}

impl<B> fmt::Debug for ReplyBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Lost => "Lost",
            Kind::Relayed(_) => "Relayed",
            Kind::Whole { .. } => "Whole",
            Kind::Wire { .. } => "Wire",
        })
    }
}

impl<B> Body for ReplyBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.kind {
            Kind::Lost => Poll::Ready(None),
            Kind::Relayed(relay) => relay.poll_frame(cx),
            Kind::Whole { bytes, trailers } => {
                let data = bytes.take().filter(|bytes| !bytes.is_empty());
                let frame = data.map(Frame::data);
                let frame = frame.or_else(|| trailers.take().map(|it| Frame::trailers(*it)));
                Poll::Ready(frame.map(Ok))
            }
            Kind::Wire { start, rest } => {
                if let Some(start) = start.take() {
                    return Poll::Ready(Some(Ok(Frame::data(start))));
                }
                let frame = ready!(Pin::new(rest).poll_frame(cx));
                Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Lost => true,
            Kind::Relayed(relay) => relay.is_ended(),
            Kind::Whole { bytes, trailers } => {
                trailers.is_none() && bytes.as_ref().is_none_or(Bytes::is_empty)
            }
            Kind::Wire { start, rest } => start.is_none() && rest.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Lost => SizeHint::with_exact(0),
            Kind::Whole { bytes, .. } => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Kind::Wire {
                start: None, rest, ..
            } => rest.size_hint(),
            Kind::Relayed(_) | Kind::Wire { .. } => SizeHint::new(),
        }
    }
}
