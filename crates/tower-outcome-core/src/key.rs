//! Keys that name a wish, and the form in which they travel.
//!
//! An [`IdempotencyKey`] names an intent inside the ledger. What a provider sees is a [`WireKey`],
//! derived from it and from the ledger's generation: never from the attempt, the time or an id
//! that changes between two calls of the same wish.
//!
//! ```
//! use serde_json::json;
//! use tower_outcome_core::{Intent, KeyFormat};
//!
//! let refund = Intent::new("acme/customer-7", "refund", &json!({ "order": 7 }))?;
//! let wire = refund.key().wire(0).render(KeyFormat::Uuid);
//! assert_eq!(wire.len(), 36);
//! assert_eq!(wire, refund.key().wire(0).render(KeyFormat::Uuid));
//! assert_ne!(wire, refund.key().wire(1).render(KeyFormat::Uuid));
//! # Ok::<(), tower_outcome_core::Error>(())
//! ```

use std::fmt;

pub(crate) use self::hasher::{KeyHasher, digest};

pub(crate) mod hasher;
pub mod sf;

/// Names one intent: 32 bytes, all of them kept.
///
/// `Debug` shows the first eight hex digits only: a key that can be read in full can be replayed.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct IdempotencyKey([u8; 32]);

impl IdempotencyKey {
    /// Takes the bytes of a stored key back.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The key of one write inside the call that this key names.
    ///
    /// `label` is the step's label or the route; equal labels are the same write.
    #[must_use]
    pub fn child(&self, label: &str) -> Self {
        Self(digest(&[b"tower-outcome/child", &self.0, label.as_bytes()]))
    }

    /// The key as a provider sees it, in a `generation` of the ledger (0 without one).
    #[must_use]
    pub fn wire(&self, generation: u32) -> WireKey {
        WireKey(digest(&[
            b"tower-outcome/wire",
            &self.0,
            &generation.to_be_bytes(),
        ]))
    }

    /// All 32 bytes, for a store.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Enough of the key to find its row, too little to use it.
    #[must_use]
    pub fn short(&self) -> String {
        hex(&self.0[..4])
    }
}

impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdempotencyKey({}..)", self.short())
    }
}

/// A key as it leaves the process, to be rendered in a provider's format.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct WireKey([u8; 32]);

impl WireKey {
    /// The text that goes into the request.
    #[must_use]
    pub fn render(&self, style: impl Into<KeyStyle>) -> String {
        let KeyStyle { format, quoted } = style.into();
        // All that it takes at once, quotes included: a header takes the string over as it is.
        let mut text = String::with_capacity(format.length() + 2 * usize::from(quoted));
        let quote = if quoted { "\"" } else { "" };
        text.push_str(quote);
        match format {
            KeyFormat::Base64Url => push_base64url(&mut text, &self.0[..16]),
            KeyFormat::Hex => push_hex(&mut text, &self.0),
            KeyFormat::Uuid => push_uuid(&mut text, &self.0, 8),
            KeyFormat::UuidV4 => push_uuid(&mut text, &self.0, 4),
        }
        text.push_str(quote);
        text
    }
}

impl fmt::Debug for WireKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WireKey({}..)", hex(&self.0[..4]))
    }
}

/// How a key is spelt on the wire.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum KeyFormat {
    /// 22 characters of URL-safe base64, 128 bits: fits the shortest documented limits.
    Base64Url,
    /// 64 hex digits, all 256 bits.
    Hex,
    /// The shape of a version 8 UUID, 36 characters, 122 bits (RFC 9562 section 5.8).
    #[default]
    Uuid,
    /// The shape of a version 4 UUID, for providers that insist on one (RFC 9562 section 5.4).
    UuidV4,
}

impl KeyFormat {
    /// The characters of a key.
    const fn length(self) -> usize {
        match self {
            Self::Base64Url => 22,
            Self::Hex => 64,
            Self::Uuid | Self::UuidV4 => 36,
        }
    }

    /// The same text in the quotes of a structured field, as a `String` of RFC 9651 section 3.3.3.
    #[must_use]
    pub const fn quoted(self) -> KeyStyle {
        KeyStyle {
            format: self,
            quoted: true,
        }
    }
}

/// A [`KeyFormat`], bare as most providers take it or quoted as a structured field.
///
/// ```
/// use tower_outcome_core::{IdempotencyKey, KeyFormat};
///
/// let wire = IdempotencyKey::from_bytes([7; 32]).wire(0);
/// let bare = wire.render(KeyFormat::Uuid);
/// assert_eq!(wire.render(KeyFormat::Uuid.quoted()), format!("\"{bare}\""));
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct KeyStyle {
    /// The spelling of the key itself.
    pub(crate) format: KeyFormat,
    /// Whether quotes stand around it.
    pub(crate) quoted: bool,
}

impl From<KeyFormat> for KeyStyle {
    fn from(format: KeyFormat) -> Self {
        Self {
            format,
            quoted: false,
        }
    }
}

/// Lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    push_hex(&mut text, bytes);
    text
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        for digit in [byte >> 4, byte & 0x0f] {
            text.push(char::from(HEX[usize::from(digit)]));
        }
    }
}

/// The bytes behind exactly `2 * N` lower-case hex digits.
pub(crate) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let pairs = text.as_bytes().chunks_exact(2);
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn push_uuid(text: &mut String, bytes: &[u8; 32], version: u8) {
    let mut id = [0_u8; 16];
    id.copy_from_slice(&bytes[..16]);
    id[6] = (id[6] & 0x0f) | (version << 4);
    id[8] = (id[8] & 0x3f) | 0x80;
    let mut digits = [0; 32];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(id) {
        pair[0] = HEX[usize::from(byte >> 4)];
        pair[1] = HEX[usize::from(byte & 0x0f)];
    }
    let mut spelt = [b'-'; 36];
    spelt[..8].copy_from_slice(&digits[..8]);
    spelt[9..13].copy_from_slice(&digits[8..12]);
    spelt[14..18].copy_from_slice(&digits[12..16]);
    spelt[19..23].copy_from_slice(&digits[16..20]);
    spelt[24..].copy_from_slice(&digits[20..]);
    // Digits and dashes are text.
    text.push_str(str::from_utf8(&spelt).unwrap_or_default());
}

/// URL-safe base64 without padding (RFC 4648 section 5).
pub(crate) fn base64url(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    push_base64url(&mut text, bytes);
    text
}

fn push_base64url(text: &mut String, bytes: &[u8]) {
    for chunk in bytes.chunks(3) {
        let mut group = [0_u8; 4];
        group[1..=chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes(group);
        for position in 0..=chunk.len() {
            let index = (bits >> (18 - 6 * position)) & 0x3f;
            text.push(char::from(ALPHABET[index as usize]));
        }
    }
}

/// The bytes behind what [`base64url`] wrote.
pub(crate) fn unbase64url(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for digit in chunk {
            let index = ALPHABET.iter().position(|known| known == digit)?;
            bits = bits << 6 | u32::try_from(index).ok()?;
        }
        let missing = 4 - chunk.len();
        let group = (bits << (6 * missing)).to_be_bytes();
        let (whole, rest) = group[1..].split_at(3 - missing.min(3));
        if missing == 3 || rest.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(whole);
    }
    Some(bytes)
}

const HEX: &[u8; 16] = b"0123456789abcdef";
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
