//! The query of a look-up, decoded.

/// The members of a query in their order. `+` is a space, and a `%` that escapes nothing is itself.
pub(crate) fn pairs(query: &str) -> Vec<(String, String)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        })
        .collect()
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let (byte, used) = match (first, escaped(tail)) {
            (b'%', Some(byte)) => (byte, 2),
            (b'+', _) => (b' ', 0),
            (byte, _) => (*byte, 0),
        };
        bytes.push(byte);
        rest = &tail[used..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn escaped(tail: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*tail.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn names_and_values_are_decoded() {
        let pairs = pairs("key=%22a%2Fb%22&reference=x+y&bare&odd=%zz%4");
        let expected = [
            ("key", "\"a/b\""),
            ("reference", "x y"),
            ("bare", ""),
            ("odd", "%zz%4"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(pairs, expected);
    }
}
