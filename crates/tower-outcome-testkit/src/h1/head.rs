//! The head of a request.

use crate::line::{Reader, Stop};

use super::body::BodyReader;

/// Reads up to and with the empty line.
#[derive(Default)]
pub(super) struct HeadReader {
    bytes: Vec<u8>,
}

impl HeadReader {
    pub(super) fn parse(&self) -> Result<Head, Stop> {
        let text = String::from_utf8_lossy(&self.bytes);
        let mut lines = text.split("\r\n").take_while(|line| !line.is_empty());
        let request_line = lines.next().ok_or(Stop::Malformed)?;
        let [method, target, version] = request_line
            .split(' ')
            .collect::<Vec<_>>()
            .try_into()
            .map_err(|_| Stop::Malformed)?;
        let minor = version.strip_prefix("HTTP/1.").ok_or(Stop::Malformed)?;
        let (path, query) = split_target(target);
        let fields = lines.map(|line| {
            let (name, value) = line.split_once(':').ok_or(Stop::Malformed)?;
            Ok((name.to_owned(), value.trim().to_owned()))
        });
        Ok(Head {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.map(str::to_owned),
            is_1_0: minor == "0",
            headers: fields.collect::<Result<_, Stop>>()?,
        })
    }
}

impl Reader for HeadReader {
    fn is_complete(&self) -> bool {
        self.bytes.ends_with(END)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<usize, Stop> {
        for (at, byte) in bytes.iter().enumerate() {
            self.bytes.push(*byte);
            if self.bytes.len() > LIMIT {
                return Err(Stop::Malformed);
            }
            if self.is_complete() {
                return Ok(at + 1);
            }
        }
        Ok(bytes.len())
    }
}

pub(super) struct Head {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    is_1_0: bool,
}

impl Head {
    /// What reads the body (RFC 9112 section 6.3). A head that leaves its end in doubt is refused.
    pub(super) fn body(&self) -> Result<BodyReader, Stop> {
        let codings: Vec<_> = self.values("transfer-encoding").collect();
        let mut lengths: Vec<_> = self.values("content-length").collect();
        lengths.dedup();
        match (codings.as_slice(), lengths.as_slice()) {
            ([], []) => Ok(BodyReader::of_length(0)),
            ([], [length]) => length
                .parse()
                .map(BodyReader::of_length)
                .map_err(|_| Stop::Malformed),
            ([coding], []) if coding.eq_ignore_ascii_case("chunked") => Ok(BodyReader::chunked()),
            _ => Err(Stop::Malformed),
        }
    }

    /// Whether the client means to use the connection again (RFC 9112 section 9.3).
    pub(super) fn keeps_alive(&self) -> bool {
        let mut options = self.values("connection").flat_map(|value| value.split(','));
        !self.is_1_0 && !options.any(|option| option.trim().eq_ignore_ascii_case("close"))
    }

    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers
            .iter()
            .filter(move |(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// Path and query, also of the absolute form that goes to proxies (RFC 9112 section 3.2.2).
fn split_target(target: &str) -> (&str, Option<&str>) {
    let path_and_query = target.strip_prefix("http://").map_or(target, |rest| {
        rest.find('/').map_or("/", |start| &rest[start..])
    });
    match path_and_query.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (path_and_query, None),
    }
}

const END: &[u8] = b"\r\n\r\n";
/// The longest head that is read.
const LIMIT: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::{Head, HeadReader, Reader, Stop};

    fn head(text: &str) -> Result<Head, Stop> {
        let mut reader = HeadReader::default();
        assert_eq!(reader.take(text.as_bytes()).unwrap(), text.len());
        reader.parse()
    }

    #[test]
    fn both_forms_of_target_give_path_and_query() {
        for target in ["/refunds?key=a", "http://billing.test:80/refunds?key=a"] {
            let head = head(&format!("GET {target} HTTP/1.1\r\n\r\n")).unwrap();
            assert_eq!(head.path, "/refunds");
            assert_eq!(head.query.as_deref(), Some("key=a"));
        }
    }

    #[test]
    fn a_body_of_doubtful_length_is_refused() {
        let doubtful = [
            "content-length: 1\r\ncontent-length: 2\r\n",
            "content-length: 1\r\ntransfer-encoding: chunked\r\n",
            "transfer-encoding: gzip\r\n",
            "content-length: -1\r\n",
        ];
        for fields in doubtful {
            let head = head(&format!("POST / HTTP/1.1\r\n{fields}\r\n")).unwrap();
            assert!(head.body().is_err(), "{fields}");
        }
    }

    #[test]
    fn the_client_says_whether_the_connection_is_kept() {
        let kept = |text| head(text).unwrap().keeps_alive();
        assert!(kept("GET / HTTP/1.1\r\n\r\n"));
        assert!(!kept("GET / HTTP/1.0\r\n\r\n"));
        assert!(!kept("GET / HTTP/1.1\r\nConnection: te, Close\r\n\r\n"));
    }
}
