//! JSON pointers (RFC 6901), by which errors and fingerprints name a place.

/// Appends one reference token to a JSON pointer.
pub(crate) fn push_token(mut pointer: String, token: &str) -> String {
    pointer.push('/');
    if !token.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        pointer.push_str(token);
        return pointer;
    }
    for letter in token.chars() {
        match letter {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            _ => pointer.push(letter),
        }
    }
    pointer
}
