//! Hashes parts so that no two lists of parts share a digest by joining differently.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// SHA-256, or HMAC-SHA-256 (RFC 2104) where a secret is set.
#[derive(Clone, Default)]
pub(crate) struct KeyHasher {
    inner: Sha256,
    outer: Option<Sha256>,
}

impl KeyHasher {
    /// Hashes under a secret.
    pub(crate) fn keyed(secret: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        if secret.len() <= BLOCK {
            block[..secret.len()].copy_from_slice(secret);
        } else {
            block[..DIGEST].copy_from_slice(&Sha256::digest(secret));
        }
        let begin = |pad: u8| Sha256::new_with_prefix(block.map(|byte| byte ^ pad));
        Self {
            inner: begin(0x36),
            outer: Some(begin(0x5c)),
        }
    }

    /// Takes parts, each behind its length.
    pub(crate) fn parts(mut self, parts: &[&[u8]]) -> Self {
        update(&mut self.inner, parts);
        self
    }

    /// Takes bytes that are parts behind their lengths already.
    pub(crate) fn framed(&self, bytes: &[u8]) -> Self {
        let mut hasher = self.clone();
        hasher.inner.update(bytes);
        hasher
    }

    /// The hash of all that was taken, and of these parts.
    pub(crate) fn finish_with(&self, parts: &[&[u8]]) -> [u8; DIGEST] {
        let mut inner = self.inner.clone();
        update(&mut inner, parts);
        let digest = inner.finalize();
        match &self.outer {
            Some(outer) => outer.clone().chain_update(digest).finalize().into(),
            None => digest.into(),
        }
    }
}

fn update(hasher: &mut Sha256, parts: &[&[u8]]) {
    for part in parts {
        hasher.update(length(part.len()));
        hasher.update(part);
    }
}

impl fmt::Debug for KeyHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyHasher")
            .field("keyed", &self.outer.is_some())
            .finish_non_exhaustive()
    }
}

/// What stands before a part of that many bytes.
pub(crate) fn length(bytes: usize) -> [u8; 8] {
    (bytes as u64).to_be_bytes()
}

/// The hash of `parts`.
pub(crate) fn digest(parts: &[&[u8]]) -> [u8; DIGEST] {
    let mut room = [0; SHORT];
    match framed(parts, &mut room) {
        // At once: a hasher that takes pieces keeps a block for each.
        Some(framed) => Sha256::digest(framed).into(),
        None => KeyHasher::default().finish_with(parts),
    }
}

/// The parts behind their lengths, if there is room for all.
fn framed<'a>(parts: &[&[u8]], room: &'a mut [u8; SHORT]) -> Option<&'a [u8]> {
    let mut taken = 0;
    for part in parts {
        for piece in [&length(part.len()), *part] {
            let place = room.get_mut(taken..taken + piece.len())?;
            place.copy_from_slice(piece);
            taken += piece.len();
        }
    }
    room.get(..taken)
}

/// What a key and a short name take.
const SHORT: usize = 128;

const BLOCK: usize = 64;
const DIGEST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::hex;

    #[test]
    fn long_and_short_parts_are_hashed_alike() {
        for length in 0..2 * SHORT {
            let part = vec![7; length];
            let parts: [&[u8]; 3] = [b"domain", &part, &[]];
            let piece_by_piece = KeyHasher::default().finish_with(&parts);
            assert_eq!(digest(&parts), piece_by_piece, "{length}");
        }
    }

    /// RFC 4231 sections 4.2, 4.3 and 4.7.
    #[test]
    fn a_secret_makes_it_hmac() {
        let cases: [(&[u8], &[u8], &str); 3] = [
            (
                &[0x0b; 20],
                b"Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ];
        for (secret, message, expected) in cases {
            let hash = KeyHasher::keyed(secret).framed(message).finish_with(&[]);
            assert_eq!(hex(&hash), expected);
        }
    }
}
