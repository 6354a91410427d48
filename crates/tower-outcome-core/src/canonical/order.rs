//! The order of members: by the UTF-16 code units of their names (RFC 8785 section 3.2.3).

use std::cmp::Ordering;

/// Compares two names as UTF-16 would, without encoding them.
///
/// UTF-8 sorts by code point. UTF-16 differs in one thing only: what lies above U+FFFF starts with
/// a surrogate and so comes before U+E000..=U+FFFF. In UTF-8 these begin with 0xF0..=0xF4 and with
/// 0xEE or 0xEF, and the first byte that differs tells them apart.
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    match left.iter().zip(right).find(|(a, b)| a != b) {
        Some((&a, &b)) => rank(a).cmp(&rank(b)),
        None => left.len().cmp(&right.len()),
    }
}

const fn rank(byte: u8) -> u8 {
    match byte {
        0xee | 0xef => byte + 0x10,
        _ => byte,
    }
}
