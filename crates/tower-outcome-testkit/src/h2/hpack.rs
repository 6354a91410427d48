//! Header blocks (RFC 7541).

use fluke_hpack::Decoder;

use crate::ErrorCode;

use super::frame::{Fault, MALFORMED};

/// What stands in a header block of a request.
pub(super) type Fields = Vec<(String, String)>;

/// Reads the blocks of one connection, which must be given all of them.
pub(super) struct Blocks {
    decoder: Decoder<'static>,
}

impl Blocks {
    pub(super) fn new() -> Self {
        let mut decoder = Decoder::new();
        decoder.set_max_allowed_table_size(TABLE);
        Self { decoder }
    }

    pub(super) fn decode(&mut self, block: &[u8]) -> Result<Fields, Fault> {
        let fields = self.decoder.decode(block);
        let fields = fields.map_err(|_| Fault::Protocol(ErrorCode::COMPRESSION_ERROR))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let fields = fields.into_iter();
        Ok(fields
            .map(|(name, value)| (text(name), text(value)))
            .collect())
    }
}

/// The head of a request.
pub(super) struct Head {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: Option<String>,
    pub(super) headers: Fields,
}

impl Head {
    pub(super) fn new(fields: Fields) -> Result<Self, Fault> {
        let (mut method, mut target) = (None, None);
        let mut headers = Vec::new();
        for (name, value) in fields {
            match name.as_str() {
                ":method" => method = Some(value),
                ":path" => target = Some(value),
                ":authority" => headers.push(("host".to_owned(), value)),
                _ if name.starts_with(':') => {}
                _ => headers.push((name, value)),
            }
        }
        let target = target.ok_or(MALFORMED)?;
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
            None => (target, None),
        };
        Ok(Self {
            method: method.ok_or(MALFORMED)?,
            path,
            query,
            headers,
        })
    }
}

/// A block that leaves the client's table alone: every field spelt out, names in lower case.
pub(super) fn encode<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(LITERAL_WITHOUT_INDEXING);
        string(&mut block, name.to_ascii_lowercase().as_bytes());
        string(&mut block, value.as_bytes());
    }
    block
}

/// A string as it is, behind its length with a prefix of seven bits (RFC 7541 section 5).
fn string(block: &mut Vec<u8>, text: &[u8]) {
    const PREFIX: usize = 0x7f;
    let low = |number: usize| u8::try_from(number & PREFIX).expect("seven bits fit in eight");
    let mut length = text.len();
    block.push(low(length.min(PREFIX)));
    if length >= PREFIX {
        length -= PREFIX;
        while length > PREFIX {
            block.push(low(length) | 0x80);
            length >>= 7;
        }
        block.push(low(length));
    }
    block.extend_from_slice(text);
}

const LITERAL_WITHOUT_INDEXING: u8 = 0;
/// What a client may keep in its table where nothing else was agreed.
const TABLE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::{Blocks, encode};

    #[test]
    fn strings_of_every_length_are_read_back() {
        for length in (0..400).chain([16_510, 16_511, 16_512]) {
            let value = "v".repeat(length);
            let block = encode([("X-Name", value.as_str())]);
            let fields = Blocks::new().decode(&block).ok().unwrap();
            assert_eq!(fields, [("x-name".to_owned(), value)], "{length}");
        }
    }

    /// The requests of RFC 7541 appendix C.4.
    #[test]
    fn huffman_codes_and_the_dynamic_table_are_understood() {
        let mut blocks = Blocks::new();
        let first = b"\x82\x86\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff";
        let second = b"\x82\x86\x84\xbe\x58\x86\xa8\xeb\x10\x64\x9c\xbf";
        for block in [first.as_slice(), second] {
            let fields = blocks.decode(block).ok().unwrap();
            let authority = (":authority".to_owned(), "www.example.com".to_owned());
            assert_eq!(fields[3], authority);
        }
        assert!(blocks.decode(b"\xff\x7f").is_err());
    }
}
