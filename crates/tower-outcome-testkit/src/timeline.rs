//! What happened at the server, in order.

use std::fmt;
use std::time::Duration;

use crate::{ErrorCode, LastStream};

/// One thing that happened.
///
/// It stands in the timeline before the client can have seen it: whoever got an answer finds the
/// [`Answered`](What::Answered) there.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The time since the server started, by tokio's clock.
    pub at: Duration,
    /// The connection, numbered from 1 in the order of acceptance.
    pub connection: usize,
    /// The stream that it happened on, if it concerns one stream of HTTP/2.
    pub stream: Option<u32>,
    /// What happened.
    pub what: What,
}

/// What can happen.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum What {
    /// A connection was accepted.
    Accepted,
    /// A whole answer was handed to the socket.
    Answered {
        /// Its status.
        status: u16,
    },
    /// The client closed its side.
    ClientClosed,
    /// The client reset the connection, or broke it while it was being written to.
    ClientReset,
    /// The client reset one stream.
    ClientResetStream {
        /// The reason it gave.
        code: ErrorCode,
    },
    /// FIN was sent.
    Closed,
    /// A write took effect.
    Committed {
        /// The id it was given.
        id: String,
    },
    /// GOAWAY was sent.
    GoneAway {
        /// The last stream that it left in doubt.
        last: LastStream,
        /// The reason that it gave.
        code: ErrorCode,
    },
    /// The server fell silent or holds an answer back.
    Holding,
    /// A key came back with another request, which was refused.
    KeyReused,
    /// The client sent something that is not HTTP.
    Malformed,
    /// A request was read to its end.
    ReadAll,
    /// The head of a request was read.
    ReadHead {
        /// Its method.
        method: String,
        /// Its path, without the query.
        path: String,
    },
    /// The first message of a TLS handshake was read.
    ReadHello,
    /// A key that had committed came again, and nothing was committed.
    Replayed {
        /// The id it was given when it committed.
        id: String,
    },
    /// RST was sent.
    Reset,
    /// `RST_STREAM` was sent.
    ResetStream {
        /// The reason that it gave.
        code: ErrorCode,
    },
    /// Bytes other than a whole answer were handed to the socket.
    Sent {
        /// How many.
        bytes: usize,
    },
    /// The server stopped reading in the middle of a request.
    Stopped {
        /// How many bytes of the request it had read, as [`Step::StopAfter`](crate::Step::StopAfter)
        /// counts them.
        bytes: usize,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.at.as_secs_f64() * 1000.0;
        write!(f, "{milliseconds:>10.3} ms  connection {}", self.connection)?;
        if let Some(stream) = self.stream {
            write!(f, " stream {stream}")?;
        }
        write!(f, "  {}", self.what)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted => f.write_str("accepted"),
            Self::Answered { status } => write!(f, "answered {status}"),
            Self::ClientClosed => f.write_str("the client closed"),
            Self::ClientReset => f.write_str("the client reset"),
            Self::ClientResetStream { code } => write!(f, "the client reset the stream: {code}"),
            Self::Closed => f.write_str("closed"),
            Self::Committed { id } => write!(f, "committed {id}"),
            Self::GoneAway { last, code } => write!(f, "went away {last}: {code}"),
            Self::Holding => f.write_str("holding"),
            Self::KeyReused => f.write_str("refused a key that belongs to another request"),
            Self::Malformed => f.write_str("read something that is not HTTP"),
            Self::ReadAll => f.write_str("read all"),
            Self::ReadHead { method, path } => write!(f, "read the head of {method} {path}"),
            Self::ReadHello => f.write_str("read the first message of a TLS handshake"),
            Self::Replayed { id } => write!(f, "replayed {id}"),
            Self::Reset => f.write_str("reset"),
            Self::ResetStream { code } => write!(f, "reset the stream: {code}"),
            Self::Sent { bytes } => write!(f, "sent {bytes} bytes"),
            Self::Stopped { bytes } => write!(f, "stopped after {bytes} bytes"),
        }
    }
}
