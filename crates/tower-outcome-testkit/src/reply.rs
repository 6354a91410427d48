//! An answer written out by the test.

/// A status, header fields and a body.
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
}

impl Reply {
    /// An answer without fields and with an empty body.
    #[must_use]
    pub const fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        }
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
        let length =
            (!self.is_framed()).then(|| format!("content-length: {}\r\n", self.body.len()));
        let fields = self
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"));
        let fields: String = fields.chain(length).collect();
        format!("HTTP/1.1 {} \r\n{fields}\r\n", self.status).into_bytes()
    }

    /// The whole answer.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Whether the length needs no saying: the status forbids it (RFC 9110 section 8.6), or the
    /// test said it.
    fn is_framed(&self) -> bool {
        let said = |(name, _): &(String, String)| {
            ["content-length", "transfer-encoding"]
                .iter()
                .any(|framing| name.eq_ignore_ascii_case(framing))
        };
        self.status < 200 || self.status == 204 || self.headers.iter().any(said)
    }
}
