//! The body of a request, of a stated length or in chunks.

use crate::line::{Reader, Stop};

pub(super) struct BodyReader {
    phase: Phase,
    is_chunked: bool,
    bytes: Vec<u8>,
    /// The framing line under way.
    line: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Phase {
    /// A line that states the size of a chunk.
    ChunkSize,
    /// The line end behind a chunk.
    ChunkEnd,
    Data {
        left: usize,
    },
    Done,
    /// A trailer field, or the empty line that ends them.
    Trailer,
}

impl BodyReader {
    pub(super) const fn of_length(length: usize) -> Self {
        let phase = match length {
            0 => Phase::Done,
            left => Phase::Data { left },
        };
        Self::starting(phase, false)
    }

    pub(super) const fn chunked() -> Self {
        Self::starting(Phase::ChunkSize, true)
    }

    /// What was read so far, without framing.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    const fn starting(phase: Phase, is_chunked: bool) -> Self {
        Self {
            phase,
            is_chunked,
            bytes: Vec::new(),
            line: Vec::new(),
        }
    }

    fn take_data(&mut self, bytes: &[u8], left: usize) -> usize {
        let taken = left.min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..taken]);
        self.phase = match left - taken {
            0 if self.is_chunked => Phase::ChunkEnd,
            0 => Phase::Done,
            left => Phase::Data { left },
        };
        taken
    }

    /// Takes bytes of a framing line, and acts on it when it is whole.
    fn take_line(&mut self, bytes: &[u8]) -> Result<usize, Stop> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(bytes.len(), |at| at + 1);
        self.line.extend_from_slice(&bytes[..taken]);
        if self.line.len() > LINE_LIMIT {
            return Err(Stop::Malformed);
        }
        if end.is_some() {
            let line = std::mem::take(&mut self.line);
            self.phase = self.after(line.strip_suffix(b"\r\n").ok_or(Stop::Malformed)?)?;
        }
        Ok(taken)
    }

    fn after(&self, line: &[u8]) -> Result<Phase, Stop> {
        match self.phase {
            Phase::ChunkSize => match size(line)? {
                0 => Ok(Phase::Trailer),
                left => Ok(Phase::Data { left }),
            },
            Phase::ChunkEnd if line.is_empty() => Ok(Phase::ChunkSize),
            Phase::Trailer if line.is_empty() => Ok(Phase::Done),
            Phase::Trailer => Ok(Phase::Trailer),
            _ => Err(Stop::Malformed),
        }
    }
}

impl Reader for BodyReader {
    fn is_complete(&self) -> bool {
        matches!(self.phase, Phase::Done)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<usize, Stop> {
        match self.phase {
            Phase::Data { left } => Ok(self.take_data(bytes, left)),
            _ => self.take_line(bytes),
        }
    }
}

/// The size that a line states, without its extensions (RFC 9112 section 7.1).
fn size(line: &[u8]) -> Result<usize, Stop> {
    let line = str::from_utf8(line).map_err(|_| Stop::Malformed)?;
    let digits = line.split(';').next().unwrap_or_default().trim();
    if digits.starts_with('+') {
        return Err(Stop::Malformed);
    }
    usize::from_str_radix(digits, 16).map_err(|_| Stop::Malformed)
}

const LINE_LIMIT: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::{BodyReader, LINE_LIMIT, Reader};

    #[test]
    fn chunks_are_read_in_pieces_of_any_size_and_never_beyond_their_end() {
        let sent = b"4;ext=1\r\nWiki\r\nB\r\npedia in \r\n\r\n0\r\nTrailer: x\r\n\r\nPOST /next";
        for piece in 1..=sent.len() {
            let mut reader = BodyReader::chunked();
            let mut at = 0;
            while !reader.is_complete() {
                at += reader.take(&sent[at..sent.len().min(at + piece)]).unwrap();
            }
            assert_eq!(&sent[at..], b"POST /next");
            assert_eq!(reader.into_bytes(), b"Wikipedia in \r\n");
        }
    }

    #[test]
    fn broken_chunks_are_refused() {
        let endless = format!("1;{}", "x".repeat(LINE_LIMIT));
        let broken = [
            "x\r\n",
            "+1\r\n",
            "1\n",
            "1\r\nab\n",
            "fffffffffffffffff\r\n",
            &endless,
        ];
        for sent in broken {
            let mut reader = BodyReader::chunked();
            let mut rest = sent.as_bytes();
            let broken = loop {
                match reader.take(rest) {
                    Ok(taken) => rest = &rest[taken..],
                    Err(_) => break true,
                }
                if rest.is_empty() {
                    break false;
                }
            };
            assert!(broken, "{sent:?}");
        }
    }
}
