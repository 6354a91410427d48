//! AES-256-GCM-SIV (RFC 8452), with keys that can be changed.

use std::fmt;

use aes_gcm_siv::aead::{Aead, KeyInit, Payload};
use aes_gcm_siv::{Aes256GcmSiv, Nonce};

use super::{Cipher, CipherError};

/// AES-256-GCM-SIV (RFC 8452). One key seals; that one and earlier ones open.
///
/// Needs the feature `encryption`. Nonces are random. A nonce that came twice would show that the same
/// was sealed twice, and no more.
///
/// To change the key, first give the new one to every process with
/// [`with_earlier_key`](Self::with_earlier_key), then have it seal. The old one may go once nothing is
/// replayed or sent again that it sealed: what cannot be opened any more is as if it had not been kept.
///
/// 33 bytes are added: a version, the key's id, the nonce and the tag.
#[derive(Clone)]
pub struct AesGcmSiv {
    sealing: Key,
    earlier: Vec<Key>,
}

#[derive(Clone)]
struct Key {
    id: u32,
    cipher: Aes256GcmSiv,
}

impl AesGcmSiv {
    /// Seals with `key`, which every seal names by `id`.
    ///
    /// The key comes from a generator of random bytes or a service that keeps keys, not from a
    /// password.
    #[must_use]
    pub fn new(id: u32, key: [u8; 32]) -> Self {
        Self {
            sealing: Key::new(id, key),
            earlier: Vec::new(),
        }
    }

    /// Opens what was sealed with `key` under `id`, too.
    #[must_use]
    pub fn with_earlier_key(mut self, id: u32, key: [u8; 32]) -> Self {
        self.earlier.push(Key::new(id, key));
        self
    }
}

impl Key {
    fn new(id: u32, key: [u8; 32]) -> Self {
        Self {
            id,
            cipher: Aes256GcmSiv::new(&key.into()),
        }
    }
}

impl Cipher for AesGcmSiv {
    fn seal(&self, associated: &[u8], plain: &[u8]) -> Result<Box<[u8]>, CipherError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|error| CipherError::new(error.to_string()))?;
        let payload = Payload {
            msg: plain,
            aad: associated,
        };
        let sealed = self.sealing.cipher.encrypt(&Nonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| CipherError::new("it is too long"))?;
        let parts: [&[u8]; 4] = [&[FORM], &self.sealing.id.to_be_bytes(), &nonce, &sealed];
        Ok(parts.concat().into())
    }

    fn open(&self, associated: &[u8], sealed: &[u8]) -> Result<Box<[u8]>, CipherError> {
        let (id, nonce, sealed) = parse(sealed).ok_or_else(|| CipherError::new("it is no seal"))?;
        let payload = || Payload {
            msg: sealed,
            aad: associated,
        };
        let keys = std::iter::once(&self.sealing).chain(&self.earlier);
        let mut opened = keys
            .filter(|key| key.id == id)
            .filter_map(|key| key.cipher.decrypt(&nonce, payload()).ok());
        let plain = opened.next();
        let plain = plain.ok_or_else(|| CipherError::new("no key opens it"))?;
        Ok(plain.into())
    }
}

impl fmt::Debug for AesGcmSiv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let earlier: Vec<u32> = self.earlier.iter().map(|key| key.id).collect();
        f.debug_struct("AesGcmSiv")
            .field("sealing", &self.sealing.id)
            .field("earlier", &earlier)
            .finish_non_exhaustive()
    }
}

/// The key's id, the nonce, and what was sealed with its tag.
fn parse(sealed: &[u8]) -> Option<(u32, Nonce, &[u8])> {
    let (form, rest) = sealed.split_first()?;
    let (id, rest) = rest.split_first_chunk()?;
    let (nonce, rest) = rest.split_first_chunk::<NONCE>()?;
    (*form == FORM).then(|| (u32::from_be_bytes(*id), Nonce::from(*nonce), rest))
}

/// The version of the form of a seal.
const FORM: u8 = 1;

const NONCE: usize = 12;
