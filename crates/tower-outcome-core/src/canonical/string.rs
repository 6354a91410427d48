//! Strings as RFC 8785 section 3.2.2.2 prints them.

/// Appends `text` in quotes, with the shortest escapes and no others.
pub(crate) fn write(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    out.reserve(rest.len() + 2);
    out.push(b'"');
    if is_plain(rest) {
        out.extend_from_slice(rest);
        out.push(b'"');
        return;
    }
    while let Some(at) = rest.iter().position(|&byte| escape(byte) != 0) {
        let (plain, other) = rest.split_at(at);
        out.extend_from_slice(plain);
        let [byte, behind @ ..] = other else { break };
        out.extend_from_slice(&[b'\\', escape(*byte)]);
        if escape(*byte) == b'u' {
            let digit = |nibble: u8| HEX[usize::from(nibble)];
            out.extend_from_slice(&[b'0', b'0', digit(byte >> 4), digit(byte & 15)]);
        }
        rest = behind;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Whether every byte stands for itself. Looks at eight at a time.
fn is_plain(bytes: &[u8]) -> bool {
    let is_plain = |word: &[u8; 8]| escaped(u64::from_le_bytes(*word)) == 0;
    if let Some(last) = bytes.last_chunk() {
        return bytes.as_chunks().0.iter().all(is_plain) && is_plain(last);
    }
    match (bytes.first_chunk(), bytes.last_chunk()) {
        // As most names are: both ends in one word, some bytes twice.
        (Some(&first), Some(&last)) => {
            let [first, last] = [first, last].map(|end| u64::from(u32::from_le_bytes(end)));
            escaped(first << 32 | last) == 0
        }
        _ => bytes.iter().all(|&byte| escape(byte) == 0),
    }
}

/// Has a bit set if a byte needs an escape, and else none.
const fn escaped(word: u64) -> u64 {
    let (quote, backslash) = (word ^ (EACH * 0x22), word ^ (EACH * 0x5c));
    below(word, 0x20) | below(quote, 1) | below(backslash, 1)
}

fn escape(byte: u8) -> u8 {
    ESCAPES[usize::from(byte)]
}

/// Has a bit set if a byte is below `limit`, and else none.
const fn below(word: u64, limit: u64) -> u64 {
    word.wrapping_sub(EACH * limit) & !word & (EACH << 7)
}

/// One in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// What follows the backslash for each byte; 0 where the byte stands for itself.
const ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut control = 0;
    while control < 0x20 {
        table[control] = b'u';
        control += 1;
    }
    table[0x08] = b'b';
    table[0x09] = b't';
    table[0x0a] = b'n';
    table[0x0c] = b'f';
    table[0x0d] = b'r';
    table[0x22] = b'"';
    table[0x5c] = b'\\';
    table
};

#[cfg(test)]
mod tests {
    use super::{escape, is_plain, write};

    #[test]
    fn wherever_a_byte_stands_that_has_to_be_escaped_it_is_seen() {
        for byte in 0..=0x7f_u8 {
            for before in 0..20 {
                for behind in 0..20 {
                    for around in ["x", "\u{7f}", "\u{fc}", "\u{20}", "\u{10ffff}"] {
                        let (before, behind) = (around.repeat(before), around.repeat(behind));
                        let text = format!("{before}{}{behind}", char::from(byte));
                        let plain = is_plain(text.as_bytes());
                        assert_eq!(plain, escape(byte) == 0, "{text:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn escapes_are_the_shortest() {
        let mut out = Vec::new();
        write(&mut out, "\"eight\\by\te\u{1}\u{1f}s\r\u{8}\u{c}\n");
        let expected = r#""\"eight\\by\te\u0001\u001fs\r\b\f\n""#;
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
