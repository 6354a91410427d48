//! An answer written out by the test.

/// A status, header fields, a body and trailer fields.
///
/// ```
/// use tower_outcome_testkit::{Reply, Step};
///
/// let busy = Reply::new(503).with_header("retry-after", "1");
/// let step = Step::CommitThenAnswerWith(busy.with_body("the gateway gave up"));
/// # let _ = step;
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    trailers: Vec<(String, String)>,
}

impl Reply {
    /// An answer without fields and with an empty body.
    #[must_use]
    pub const fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            trailers: Vec::new(),
        }
    }

    /// A gRPC answer with this status and without a message, all in its head ("Trailers-Only").
    ///
    /// A `grpc-retry-pushback-ms` belongs in its header, as the head is the end too.
    ///
    /// ```
    /// use tower_outcome_testkit::Reply;
    ///
    /// let busy = Reply::grpc_status(14, "busy").with_header("grpc-retry-pushback-ms", "100");
    /// # let _ = busy;
    /// ```
    #[must_use]
    pub fn grpc_status(status: u32, message: &str) -> Self {
        let reply = Self::new(200)
            .with_header("content-type", "application/grpc")
            .with_header("grpc-status", status.to_string());
        if message.is_empty() {
            return reply;
        }
        reply.with_header("grpc-message", percent_encoded(message))
    }

    /// A gRPC answer with one message; the status it ends with is a trailer for the test to give.
    ///
    /// ```
    /// use tower_outcome_testkit::Reply;
    ///
    /// let lost = Reply::grpc(b"\x0a\x04re_1")
    ///     .with_trailer("grpc-status", "14")
    ///     .with_trailer("grpc-retry-pushback-ms", "-1");
    /// # let _ = lost;
    /// ```
    ///
    /// # Panics
    ///
    /// The message is longer than 4 GiB.
    #[must_use]
    pub fn grpc(message: impl AsRef<[u8]>) -> Self {
        let message = message.as_ref();
        let length = u32::try_from(message.len()).expect("a gRPC message is at most 4 GiB long");
        let body = [&[0], length.to_be_bytes().as_slice(), message].concat();
        Self::new(200)
            .with_header("content-type", "application/grpc")
            .with_body(body)
    }

    /// Adds a field. A `content-length` or `transfer-encoding` given here is sent as it is, true or
    /// not; without one, the length of the body is sent.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Adds a field behind the body. Over HTTP/1.1 the body is then sent in chunks, unless a length
    /// was given, with which there are no trailers.
    #[must_use]
    pub fn with_trailer(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.trailers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn json(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::new(status)
            .with_header("content-type", "application/json")
            .with_body(body)
    }

    pub(crate) const fn status(&self) -> u16 {
        self.status
    }

    /// The head, up to and with the empty line.
    pub(crate) fn head(&self) -> Vec<u8> {
        let framing = match (self.is_framed(), self.trailers.as_slice()) {
            (true, _) => String::new(),
            (false, []) => format!("content-length: {}\r\n", self.body.len()),
            (false, _) => "transfer-encoding: chunked\r\n".to_owned(),
        };
        let fields = lines(&self.headers) + &framing;
        format!("HTTP/1.1 {} \r\n{fields}\r\n", self.status).into_bytes()
    }

    /// The whole answer.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head();
        if self.is_framed() || self.trailers.is_empty() {
            bytes.extend_from_slice(&self.body);
            return bytes;
        }
        if !self.body.is_empty() {
            bytes.extend_from_slice(format!("{:x}\r\n", self.body.len()).as_bytes());
            bytes.extend_from_slice(&self.body);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(format!("0\r\n{}\r\n", lines(&self.trailers)).as_bytes());
        bytes
    }

    pub(crate) fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    pub(crate) fn trailers(&self) -> &[(String, String)] {
        &self.trailers
    }

    /// Whether the length needs no saying: the status forbids it (RFC 9110 section 8.6), or the
    /// test said it.
    pub(crate) fn is_framed(&self) -> bool {
        let said = |(name, _): &(String, String)| {
            ["content-length", "transfer-encoding"]
                .iter()
                .any(|framing| name.eq_ignore_ascii_case(framing))
        };
        self.status < 200 || self.status == 204 || self.headers.iter().any(said)
    }
}

fn lines(fields: &[(String, String)]) -> String {
    let mut lines = String::new();
    for (name, value) in fields {
        lines.extend([name, ": ", value, "\r\n"]);
    }
    lines
}

/// As gRPC spells a `grpc-message`: all but printable ASCII is escaped, and so is `%`.
fn percent_encoded(text: &str) -> String {
    let escaped = text.bytes().map(|byte| match byte {
        b' '..=b'~' if byte != b'%' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    escaped.collect()
}
