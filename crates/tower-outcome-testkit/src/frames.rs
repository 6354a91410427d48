//! What a server can do over HTTP/2 alone.

use std::fmt;

use crate::step::{Extent, First, Plan, Say};
use crate::{End, ErrorCode, Reply};

/// Frames of the test's choice, sent in their order at a moment of its choice.
///
/// A stream that they neither end nor reset stays open and is never answered. The client's
/// flow-control windows do not matter, so keep bodies short.
///
/// ```
/// use tower_outcome_testkit::{End, ErrorCode, Frames, LastStream, Reply, Step};
///
/// # fn main() {
/// // Refused, and nothing was done.
/// let refused = Frames::on_head().reset_stream(ErrorCode::REFUSED_STREAM);
/// // Answered, and a graceful shutdown finds the connection idle.
/// let shutdown = Frames::on_commit()
///     .answer()
///     .go_away(LastStream::This, ErrorCode::NO_ERROR)
///     .then(End::Close);
/// // A stream of gRPC messages that goes on for ever.
/// let stream = Frames::on_commit().start(Reply::grpc(b"first"));
/// let script = [refused, shutdown, stream].map(Step::Frames);
/// # let _ = script;
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Frames {
    read: Extent,
    commit: bool,
    acts: Vec<Act>,
    end: Option<End>,
}

impl Frames {
    /// As soon as the head was read. Commits nothing.
    #[must_use]
    pub const fn on_head() -> Self {
        Self::at(Extent::Head, false)
    }

    /// When the request was read in full. Commits nothing.
    #[must_use]
    pub const fn on_request() -> Self {
        Self::at(Extent::All, false)
    }

    /// When the request was read in full and has committed.
    #[must_use]
    pub const fn on_commit() -> Self {
        Self::at(Extent::All, true)
    }

    /// The whole answer that the commit gave.
    ///
    /// # Panics
    ///
    /// There is no commit.
    #[must_use]
    pub fn answer(self) -> Self {
        assert!(self.commit, "only a commit gives an answer");
        self.and(Act::Answer)
    }

    /// This whole answer.
    #[must_use]
    pub fn reply(self, reply: Reply) -> Self {
        self.and(Act::Reply(reply))
    }

    /// Head and body of this answer without its end: neither `END_STREAM` nor trailers. No
    /// `content-length` is sent but one that was given.
    #[must_use]
    pub fn start(self, reply: Reply) -> Self {
        self.and(Act::Start(reply))
    }

    /// `RST_STREAM` for the request's stream. What the client still sends on it is thrown away.
    #[must_use]
    pub fn reset_stream(self, code: ErrorCode) -> Self {
        self.and(Act::ResetStream(code))
    }

    /// GOAWAY. Whatever request comes on a later stream than it states is not processed.
    #[must_use]
    pub fn go_away(self, last: LastStream, code: ErrorCode) -> Self {
        self.and(Act::GoAway(last, code))
    }

    /// A PING of seven bytes, of which eight are due (RFC 9113 section 6.7): an error that ends the
    /// connection.
    #[must_use]
    pub fn malformed(self) -> Self {
        self.bytes(*b"\0\0\x07\x06\0\0\0\0\0malform")
    }

    /// These bytes as they are, whatever frames they make.
    #[must_use]
    pub fn bytes(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.and(Act::Bytes(bytes.into()))
    }

    /// Ends the connection after the frames. Without it the connection goes on.
    #[must_use]
    pub const fn then(mut self, end: End) -> Self {
        self.end = Some(end);
        self
    }

    pub(crate) fn plan(self) -> Plan {
        Plan {
            first: First::Nothing,
            read: self.read,
            commit: self.commit,
            wait: None,
            say: Say::Frames(self.acts),
            end: self.end,
            on_release: None,
        }
    }

    const fn at(read: Extent, commit: bool) -> Self {
        Self {
            read,
            commit,
            acts: Vec::new(),
            end: None,
        }
    }

    fn and(mut self, act: Act) -> Self {
        self.acts.push(act);
        self
    }
}

/// The stream that a GOAWAY states as the last one that was or may yet be processed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LastStream {
    /// The one before the request's, which so was not processed.
    Below,
    /// The highest there can be, 2^31-1, as a graceful shutdown begins.
    Max,
    /// The request's.
    This,
    /// None: not even the first.
    Zero,
}

impl LastStream {
    /// The number to state in answer to a request on `stream`.
    pub(crate) const fn id(self, stream: u32) -> u32 {
        match self {
            Self::Below => stream.saturating_sub(2),
            Self::Max => MAX,
            Self::This => stream,
            Self::Zero => 0,
        }
    }
}

impl fmt::Display for LastStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Below => "before this stream",
            Self::Max => "after all streams",
            Self::This => "after this stream",
            Self::Zero => "before all streams",
        })
    }
}

/// One of [`Frames`].
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Answer,
    Bytes(Vec<u8>),
    GoAway(LastStream, ErrorCode),
    Reply(Reply),
    ResetStream(ErrorCode),
    Start(Reply),
}

const MAX: u32 = (1 << 31) - 1;
