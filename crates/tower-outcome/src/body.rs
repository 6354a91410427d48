//! The request body that all layers and transports share.

#![cfg(feature = "client")]

use std::fmt;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use tower_outcome_core::BoxError;

use crate::call::Probe;
use crate::retry::Spare;

/// A request body: usually a few bytes that can be sent again, sometimes a stream that cannot.
///
/// Bodies up to [`MAX_COLLECTED`] bytes that are at hand when the call is made become bytes, so
/// that they can be retried. Anything else is sent once.
pub struct OutcomeBody {
    kind: Kind,
    role: Role,
}

/// What a body is there for.
enum Role {
    /// To be sent, as far as anybody knows.
    Plain,
    /// To tell what becomes of the attempt that it is sent in.
    Probed(Probe),
    /// To be sent once a request is made of it.
    Spare(Spare),
}

enum Kind {
    Bytes(Option<Bytes>),
    // The lock is never contended: it makes a stream that is only `Send` shareable.
    Stream(Mutex<Pin<Box<Stream>>>),
}

type Stream = dyn Body<Data = Bytes, Error = BoxError> + Send;

impl OutcomeBody {
    /// No body.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            kind: Kind::Bytes(None),
            role: Role::Plain,
        }
    }

    /// Any body. It is polled once at most here, and becomes bytes if it is complete by then.
    pub fn new<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        collect(Box::pin(http_body_util::BodyExt::map_err(body, Into::into)))
    }

    /// The bytes, if they are at hand.
    #[must_use]
    pub fn bytes(&self) -> Option<Bytes> {
        match &self.kind {
            Kind::Bytes(bytes) => Some(bytes.clone().unwrap_or_default()),
            Kind::Stream(_) => None,
        }
    }

    /// Another body with the same bytes; `None` for a stream and for a body already being sent.
    #[must_use]
    pub fn try_clone(&self) -> Option<Self> {
        match (&self.kind, &self.role) {
            (Kind::Bytes(bytes), Role::Plain) => Some(Self {
                kind: Kind::Bytes(bytes.clone()),
                role: Role::Plain,
            }),
            _ => None,
        }
    }

    /// Whether its bytes come one after the other, and only once.
    pub(crate) const fn is_stream(&self) -> bool {
        matches!(self.kind, Kind::Stream(_))
    }

    /// Has the body tell `probe` what becomes of it.
    pub(crate) fn put(&mut self, probe: Probe) {
        self.role = Role::Probed(probe);
    }

    pub(crate) fn with_spare(mut self, spare: Spare) -> Self {
        self.role = Role::Spare(spare);
        self
    }

    /// What another attempt can be made of, if that is what it is there for.
    pub(crate) const fn spare(&self) -> Option<&Spare> {
        match &self.role {
            Role::Spare(spare) => Some(spare),
            Role::Plain | Role::Probed(_) => None,
        }
    }

    /// The same, and lets the body be sent.
    pub(crate) fn take_spare(&mut self) -> Option<Spare> {
        match std::mem::replace(&mut self.role, Role::Plain) {
            Role::Spare(spare) => Some(spare),
            role @ (Role::Plain | Role::Probed(_)) => {
                self.role = role;
                None
            }
        }
    }

    const fn probe(&self) -> Option<&Probe> {
        match &self.role {
            Role::Probed(probe) => Some(probe),
            Role::Plain | Role::Spare(_) => None,
        }
    }
}

impl Default for OutcomeBody {
    fn default() -> Self {
        Self::empty()
    }
}

impl fmt::Debug for OutcomeBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            Kind::Bytes(_) => "bytes",
            Kind::Stream(_) => "stream",
        };
        f.debug_tuple("OutcomeBody").field(&kind).finish()
    }
}

impl Body for OutcomeBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(probe) = self.probe() {
            probe.polled();
        }
        let Self { kind, role } = &mut *self;
        match kind {
            Kind::Bytes(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Kind::Stream(stream) => {
                let stream = stream.get_mut().unwrap_or_else(PoisonError::into_inner);
                let frame = stream.as_mut().poll_frame(cx);
                if let (Poll::Ready(Some(Err(_))), Role::Probed(probe)) = (&frame, role) {
                    probe.broke_off();
                }
                frame
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        if let Some(probe) = self.probe() {
            probe.touched();
            // An empty body is asked for its frames as well, so that an HTTP/2 refusal of the
            // request can be told from one of the connection.
            if !probe.is_polled() {
                return false;
            }
        }
        match &self.kind {
            Kind::Bytes(bytes) => bytes.is_none(),
            Kind::Stream(stream) => lock(stream).is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Bytes(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Kind::Stream(stream) => lock(stream).size_hint(),
        }
    }
}

macro_rules! from_bytes {
    ($($kind:ty),+) => {$(
        impl From<$kind> for OutcomeBody {
            fn from(bytes: $kind) -> Self {
                let bytes = Bytes::from(bytes);
                Self {
                    kind: Kind::Bytes((!bytes.is_empty()).then_some(bytes)),
                    role: Role::Plain,
                }
            }
        }
    )+};
}

from_bytes!(Bytes, String, Vec<u8>, &'static str, &'static [u8]);

impl From<()> for OutcomeBody {
    fn from((): ()) -> Self {
        Self::empty()
    }
}

impl From<http_body_util::Full<Bytes>> for OutcomeBody {
    fn from(body: http_body_util::Full<Bytes>) -> Self {
        Self::new(body)
    }
}

impl From<http_body_util::Empty<Bytes>> for OutcomeBody {
    fn from(_: http_body_util::Empty<Bytes>) -> Self {
        Self::empty()
    }
}

#[cfg(feature = "tonic")]
impl From<tonic::body::Body> for OutcomeBody {
    fn from(body: tonic::body::Body) -> Self {
        Self::new(body)
    }
}

#[cfg(feature = "reqwest")]
impl From<reqwest::Body> for OutcomeBody {
    fn from(body: reqwest::Body) -> Self {
        match body.as_bytes() {
            Some(bytes) => Self::from(Bytes::copy_from_slice(bytes)),
            None => Self::new(body),
        }
    }
}

fn lock(stream: &Mutex<Pin<Box<Stream>>>) -> std::sync::MutexGuard<'_, Pin<Box<Stream>>> {
    stream.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes what is there without waiting. What is not all there stays a stream, its start put back.
fn collect(mut stream: Pin<Box<Stream>>) -> OutcomeBody {
    let mut taken = BytesMut::new();
    let mut cx = Context::from_waker(Waker::noop());
    let left_over = loop {
        let expected = stream.size_hint().lower();
        if expected.saturating_add(taken.len() as u64) > MAX_COLLECTED as u64 {
            break None;
        }
        match stream.as_mut().poll_frame(&mut cx) {
            Poll::Ready(None) => return OutcomeBody::from(taken.freeze()),
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => taken.extend_from_slice(&data),
                Err(trailers) => break Some(Ok(trailers)),
            },
            Poll::Ready(Some(Err(error))) => break Some(Err(error)),
            Poll::Pending => break None,
        }
        if stream.is_end_stream() {
            return OutcomeBody::from(taken.freeze());
        }
    };
    let start = (!taken.is_empty()).then(|| taken.freeze());
    OutcomeBody {
        kind: Kind::Stream(Mutex::new(Box::pin(Resumed {
            start,
            left_over,
            stream,
        }))),
        role: Role::Plain,
    }
}

/// A stream whose first frames were already taken.
struct Resumed {
    start: Option<Bytes>,
    left_over: Option<Result<Frame<Bytes>, BoxError>>,
    stream: Pin<Box<Stream>>,
}

impl Body for Resumed {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(start) = self.start.take() {
            return Poll::Ready(Some(Ok(Frame::data(start))));
        }
        if let Some(frame) = self.left_over.take() {
            return Poll::Ready(Some(frame));
        }
        self.stream.as_mut().poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.start.is_none() && self.left_over.is_none() && self.stream.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let taken = self.start.as_ref().map_or(0, |start| start.len() as u64);
        let rest = self.stream.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(taken));
        if let Some(upper) = rest.upper().and_then(|upper| upper.checked_add(taken)) {
            hint.set_upper(upper);
        }
        hint
    }
}

/// The largest body, in bytes, that is kept so that it can be sent again.
pub const MAX_COLLECTED: usize = 1024 * 1024;
