//! What the server read.

use std::fmt;

/// A request whose head was read, whatever became of the rest.
///
/// Its `Debug` shows neither values nor the body, so that a failed assertion prints no keys.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct Received {
    /// Its place among all requests of this server, from 0.
    pub sequence: usize,
    /// The connection it came over, numbered from 1 in the order of acceptance.
    pub connection: usize,
    /// The stream of that connection, over HTTP/2.
    pub stream: Option<u32>,
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// What followed the `?`, not decoded.
    pub query: Option<String>,
    /// The fields in their order, names spelt as they came. Over HTTP/2 `:authority` stands here as
    /// `host`, and the other pseudo-header fields do not.
    pub headers: Vec<(String, String)>,
    /// As much of the body as was read, without chunk or frame headers.
    pub body: Vec<u8>,
    /// Whether the request was read to its end.
    pub complete: bool,
}

impl Received {
    /// The first field of this name, in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let same = |(field, _): &&(String, String)| field.eq_ignore_ascii_case(name);
        self.headers
            .iter()
            .find(same)
            .map(|(_, value)| value.as_str())
    }

    /// Whether the content is gRPC's, of whatever encoding.
    pub(crate) fn is_grpc(&self) -> bool {
        let content = self.header("content-type");
        content.is_some_and(|content| content.starts_with("application/grpc"))
    }

    /// The `Idempotency-Key`, as it came.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.header("idempotency-key")
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Received")
            .field("sequence", &self.sequence)
            .field("connection", &self.connection)
            .field("stream", &self.stream)
            .field("method", &self.method)
            .field("path", &self.path)
            .field("headers", &names)
            .field("body_bytes", &self.body.len())
            .field("complete", &self.complete)
            .finish_non_exhaustive()
    }
}
