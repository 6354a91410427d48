//! The answer's body: collected for writes, left on the wire for reads.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tower_outcome_core::BoxError;

/// The body of an answer.
///
/// The answer to a write is read under a cap before anybody sees it, so that retry and ledger can
/// judge it; longer answers and the answers to reads stay on the wire.
pub enum ReplyBody<B> {
    /// The head came and the body was lost.
    Lost,
    /// All of it.
    Whole {
        /// The bytes, until they are polled.
        bytes: Option<Bytes>,
    },
    /// Still to be read.
    Wire {
        /// What was read already.
        start: Option<Bytes>,
        /// The rest.
        rest: B,
    },
}

impl<B> ReplyBody<B> {
    pub(crate) const fn whole(bytes: Bytes) -> Self {
        Self::Whole { bytes: Some(bytes) }
    }

    /// The bytes, if they are at hand.
    #[must_use]
    pub fn bytes(&self) -> Option<&Bytes> {
        match self {
            Self::Whole { bytes } => bytes.as_ref(),
            Self::Lost | Self::Wire { .. } => None,
        }
    }

    pub(crate) fn map<T>(self, map: impl FnOnce(B) -> T) -> ReplyBody<T> {
        match self {
            Self::Lost => ReplyBody::Lost,
            Self::Whole { bytes } => ReplyBody::Whole { bytes },
            Self::Wire { start, rest } => ReplyBody::Wire {
                start,
                rest: map(rest),
            },
        }
    }
}

impl<B> fmt::Debug for ReplyBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lost => "Lost",
            Self::Whole { .. } => "Whole",
            Self::Wire { .. } => "Wire",
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
        match &mut *self {
            Self::Lost => Poll::Ready(None),
            Self::Whole { bytes } => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Wire { start, rest } => {
                if let Some(start) = start.take() {
                    return Poll::Ready(Some(Ok(Frame::data(start))));
                }
                Poll::Ready(
                    ready!(Pin::new(rest).poll_frame(cx)).map(|frame| frame.map_err(Into::into)),
                )
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Lost => true,
            Self::Whole { bytes } => bytes.is_none(),
            Self::Wire { start, rest } => start.is_none() && rest.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Lost => SizeHint::with_exact(0),
            Self::Whole { bytes } => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Wire { start: None, rest } => rest.size_hint(),
            Self::Wire { .. } => SizeHint::new(),
        }
    }
}
