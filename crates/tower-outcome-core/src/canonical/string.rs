//! Strings as RFC 8785 section 3.2.2.2 prints them.

/// Appends `text` in quotes, with the shortest escapes and no others.
pub(crate) fn write(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    out.push(b'"');
    while let Some(at) = rest.iter().position(|&byte| escape(byte) != 0) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(&[b'\\', escape(rest[at])]);
        if escape(rest[at]) == b'u' {
            let digit = |nibble: u8| HEX[usize::from(nibble)];
            let (high, low) = (digit(rest[at] >> 4), digit(rest[at] & 15));
            out.extend_from_slice(&[b'0', b'0', high, low]);
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn escape(byte: u8) -> u8 {
    ESCAPES[usize::from(byte)]
}

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
