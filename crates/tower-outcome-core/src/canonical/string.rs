//! Strings as RFC 8785 section 3.2.2.2 prints them.

/// Appends `text` in quotes, with the shortest escapes and no others.
pub(crate) fn write(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.push(b'"');
    let mut written = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let escape = ESCAPES[usize::from(byte)];
        if escape == 0 {
            continue;
        }
        out.extend_from_slice(&bytes[written..at]);
        out.extend_from_slice(&[b'\\', escape]);
        if escape == b'u' {
            let digit = |nibble: u8| HEX[usize::from(nibble)];
            out.extend_from_slice(&[b'0', b'0', digit(byte >> 4), digit(byte & 15)]);
        }
        written = at + 1;
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
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
