//! Why a stream or a connection of HTTP/2 ends.

use std::fmt;

/// An error code of `RST_STREAM` and GOAWAY (RFC 9113 section 7). Any number may be sent.
///
/// ```
/// use tower_outcome_testkit::ErrorCode;
///
/// assert_eq!(ErrorCode::REFUSED_STREAM.to_string(), "REFUSED_STREAM");
/// assert_eq!(ErrorCode(0xff).to_string(), "0xff");
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ErrorCode(
    /// Its number on the wire.
    pub u32,
);

impl ErrorCode {
    /// No error: a graceful end.
    pub const NO_ERROR: Self = Self(0x0);
    /// The other side broke the protocol.
    pub const PROTOCOL_ERROR: Self = Self(0x1);
    /// Something unexpected happened inside.
    pub const INTERNAL_ERROR: Self = Self(0x2);
    /// More was sent than the window allowed.
    pub const FLOW_CONTROL_ERROR: Self = Self(0x3);
    /// Settings were not acknowledged in time.
    pub const SETTINGS_TIMEOUT: Self = Self(0x4);
    /// A frame came for a stream that was half closed.
    pub const STREAM_CLOSED: Self = Self(0x5);
    /// A frame had a wrong size.
    pub const FRAME_SIZE_ERROR: Self = Self(0x6);
    /// The request was not processed, which is a promise (RFC 9113 section 8.7).
    pub const REFUSED_STREAM: Self = Self(0x7);
    /// The stream is not needed any more.
    pub const CANCEL: Self = Self(0x8);
    /// The compression state of the connection is lost.
    pub const COMPRESSION_ERROR: Self = Self(0x9);
    /// The connection behind a CONNECT broke.
    pub const CONNECT_ERROR: Self = Self(0xa);
    /// The other side causes too much load.
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);
    /// The transport is not safe enough.
    pub const INADEQUATE_SECURITY: Self = Self(0xc);
    /// The request is to be made over HTTP/1.1.
    pub const HTTP_1_1_REQUIRED: Self = Self(0xd);
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = usize::try_from(self.0).ok().and_then(|at| NAMES.get(at));
        match name {
            Some(name) => f.write_str(name),
            None => write!(f, "{:#x}", self.0),
        }
    }
}

const NAMES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];
