//! Frames as they stand on the wire (RFC 9113 sections 4 and 6).

use crate::ErrorCode;
use crate::line::Stop;

/// The nine bytes that every frame begins with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) length: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

impl Header {
    pub(super) const BYTES: usize = 9;

    pub(super) const fn parse(bytes: [u8; Self::BYTES]) -> Self {
        let [l0, l1, l2, kind, flags, stream @ ..] = bytes;
        Self {
            length: u32::from_be_bytes([0, l0, l1, l2]) as usize,
            kind,
            flags,
            stream: u32::from_be_bytes(stream) & LOW_31,
        }
    }

    pub(super) const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether the frame is part of a request.
    pub(super) const fn is_of_request(self) -> bool {
        matches!(self.kind, DATA | HEADERS | CONTINUATION)
    }
}

pub(super) struct Frame {
    pub(super) header: Header,
    pub(super) payload: Vec<u8>,
}

impl Frame {
    /// The payload without padding, and without the priority that HEADERS may begin with.
    pub(super) fn content(&self) -> Result<&[u8], Fault> {
        let mut content = self.payload.as_slice();
        let mut padding = 0;
        if self.header.has(PADDED) {
            let (length, rest) = content.split_first().ok_or(MALFORMED)?;
            (padding, content) = (usize::from(*length), rest);
        }
        if self.header.kind == HEADERS && self.header.has(PRIORITIZED) {
            content = content.get(5..).ok_or(MALFORMED)?;
        }
        let end = content.len().checked_sub(padding).ok_or(MALFORMED)?;
        Ok(&content[..end])
    }

    /// The one number that is the payload.
    pub(super) fn number(&self) -> Result<u32, Fault> {
        let number = self.payload.as_slice().try_into();
        number.map(u32::from_be_bytes).map_err(|_| WRONG_SIZE)
    }
}

/// Why a connection can go no further.
pub(super) enum Fault {
    /// The client broke the protocol.
    Protocol(ErrorCode),
    Stop(Stop),
}

impl From<Stop> for Fault {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// A whole frame.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("every caller keeps to the limit");
    let [_, length @ ..] = length.to_be_bytes();
    let stream = stream.to_be_bytes();
    [&length, [kind, flags].as_slice(), &stream, payload].concat()
}

/// A header block, in as many frames as it needs.
pub(super) fn headers(stream: u32, block: &[u8], flags: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut pieces = block.chunks(LIMIT).peekable();
    let (mut kind, mut flags) = (HEADERS, flags);
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            flags |= END_HEADERS;
        }
        bytes.extend(frame(kind, flags, stream, piece));
        (kind, flags) = (CONTINUATION, 0);
    }
    bytes
}

pub(super) const DATA: u8 = 0x0;
pub(super) const HEADERS: u8 = 0x1;
pub(super) const RST_STREAM: u8 = 0x3;
pub(super) const SETTINGS: u8 = 0x4;
pub(super) const PUSH_PROMISE: u8 = 0x5;
pub(super) const PING: u8 = 0x6;
pub(super) const GOAWAY: u8 = 0x7;
pub(super) const WINDOW_UPDATE: u8 = 0x8;
pub(super) const CONTINUATION: u8 = 0x9;

pub(super) const ACK: u8 = 0x1;
pub(super) const END_STREAM: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;
pub(super) const PADDED: u8 = 0x8;
pub(super) const PRIORITIZED: u8 = 0x20;

/// The longest payload, where nothing else was agreed.
pub(super) const LIMIT: usize = 16 * 1024;
/// The bits of a stream's number, and the largest window.
pub(super) const LOW_31: u32 = (1 << 31) - 1;

pub(super) const MALFORMED: Fault = Fault::Protocol(ErrorCode::PROTOCOL_ERROR);
pub(super) const WRONG_SIZE: Fault = Fault::Protocol(ErrorCode::FRAME_SIZE_ERROR);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_parsed() {
        let bytes = frame(HEADERS, END_STREAM, 7, b"abc");
        let header = Header::parse(bytes[..Header::BYTES].try_into().unwrap());
        assert_eq!((header.length, header.kind, header.stream), (3, HEADERS, 7));
        assert!(header.has(END_STREAM) && !header.has(END_HEADERS));
        assert_eq!(&bytes[Header::BYTES..], b"abc");
    }

    #[test]
    fn padding_and_priority_are_stripped_and_cannot_exceed_the_frame() {
        let content = |flags, payload: &[u8]| {
            let bytes = frame(HEADERS, flags, 1, payload);
            let frame = Frame {
                header: Header::parse(bytes[..Header::BYTES].try_into().unwrap()),
                payload: payload.to_vec(),
            };
            frame.content().ok().map(<[u8]>::to_vec)
        };
        let both = PADDED | PRIORITIZED;
        assert_eq!(content(both, b"\x02PPPPPabXX"), Some(b"ab".to_vec()));
        assert_eq!(content(PADDED, b"\x02XX"), Some(Vec::new()));
        assert_eq!(content(PADDED, b"\x03XX"), None);
        assert_eq!(content(PADDED, b""), None);
        assert_eq!(content(PRIORITIZED, b"PPPP"), None);
    }

    #[test]
    fn a_long_block_goes_on_in_continuations() {
        let bytes = headers(1, &vec![0; LIMIT + 1], END_STREAM);
        let first = Header::parse(bytes[..Header::BYTES].try_into().unwrap());
        assert_eq!((first.kind, first.flags), (HEADERS, END_STREAM));
        let rest = &bytes[Header::BYTES + LIMIT..];
        let second = Header::parse(rest[..Header::BYTES].try_into().unwrap());
        assert_eq!((second.kind, second.flags), (CONTINUATION, END_HEADERS));
    }
}
