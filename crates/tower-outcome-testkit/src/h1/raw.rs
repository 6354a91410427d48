//! Requests and answers as the bytes that they are, for who hands them on.

use crate::line::{Line, Reader, Stop};

use super::head::HeadReader;

/// A request, byte for byte.
pub(crate) struct RawRequest {
    pub(crate) bytes: Vec<u8>,
    /// Whether it takes no step.
    pub(crate) is_read: bool,
    /// Whether the client wants the connection closed after it.
    pub(crate) last: bool,
}

impl RawRequest {
    /// Reads a request to its end.
    pub(crate) async fn read(line: &mut Line) -> Result<Self, Stop> {
        let mut head = Copying::new(HeadReader::default());
        line.fill(&mut head).await?;
        let parsed = head.reader.parse()?;
        let mut body = Copying::new(parsed.body()?);
        line.fill(&mut body).await?;
        let mut bytes = head.bytes;
        bytes.extend(body.bytes);
        Ok(Self {
            bytes,
            is_read: ["GET", "HEAD", "OPTIONS", "TRACE"].contains(&parsed.method.as_str()),
            last: !parsed.keeps_alive(),
        })
    }

    /// The request with a field that has the connection closed after its answer.
    pub(crate) fn closing(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        let fields = bytes.windows(2).position(|it| it == b"\r\n");
        let fields = fields.map_or(bytes.len(), |at| at + 2);
        bytes.splice(fields..fields, *b"connection: close\r\n");
        bytes
    }
}

/// Whether an answer to anything but HEAD, with interim answers before it, is all there.
pub(crate) fn is_whole(mut answer: &[u8]) -> bool {
    while let Some(end) = answer.windows(4).position(|it| it == b"\r\n\r\n") {
        let (head, rest) = answer.split_at(end + 4);
        let is_interim = head.get(9) == Some(&b'1');
        if !is_interim {
            return rest.len() >= content_length(head);
        }
        answer = rest;
    }
    false
}

fn content_length(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head);
    let mut fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let length = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    length.map_or(0, |(_, value)| value.trim().parse().unwrap_or(0))
}

/// Keeps a copy of what its reader takes.
struct Copying<R> {
    reader: R,
    bytes: Vec<u8>,
}

impl<R> Copying<R> {
    const fn new(reader: R) -> Self {
        Self {
            reader,
            bytes: Vec::new(),
        }
    }
}

impl<R: Reader> Reader for Copying<R> {
    fn is_complete(&self) -> bool {
        self.reader.is_complete()
    }

    fn take(&mut self, bytes: &[u8]) -> Result<usize, Stop> {
        let taken = self.reader.take(bytes)?;
        self.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::is_whole;

    #[test]
    fn an_answer_is_whole_when_its_body_is() {
        let whole = b"HTTP/1.1 103 \r\n\r\nHTTP/1.1 201 \r\nContent-Length: 2\r\n\r\n{}";
        assert!(is_whole(whole));
        for cut in 0..whole.len() {
            assert!(!is_whole(&whole[..cut]), "{cut}");
        }
        assert!(is_whole(b"HTTP/1.1 204 \r\n\r\n"));
    }
}
