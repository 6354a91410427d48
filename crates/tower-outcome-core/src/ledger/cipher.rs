//! What seals the parts of a row that hold what a call carried or was answered.
//!
//! ```
//! # #[cfg(feature = "encryption")] {
//! use tower_outcome_core::ledger::{AesGcmSiv, Cipher};
//!
//! let old = AesGcmSiv::new(1, [1; 32]);
//! let sealed = old.seal(b"row 7", b"{\"id\":7}")?;
//!
//! // After a rotation the new key seals, and the old one still opens.
//! let cipher = AesGcmSiv::new(2, [2; 32]).with_earlier_key(1, [1; 32]);
//! assert_eq!(*cipher.open(b"row 7", &sealed)?, *b"{\"id\":7}");
//! assert!(cipher.open(b"row 8", &sealed).is_err());
//! # }
//! # Ok::<(), tower_outcome_core::ledger::CipherError>(())
//! ```

use std::fmt;
use std::sync::Arc;

use crate::BoxError;

#[cfg(feature = "encryption")]
mod aes_gcm_siv;

#[cfg(feature = "encryption")]
pub use aes_gcm_siv::AesGcmSiv;

/// An authenticated cipher, with a key of its own.
///
/// Both are called wherever a ledger is asked and must not wait: a key that lies with a service is to
/// be fetched beforehand.
pub trait Cipher: Send + Sync + 'static {
    /// Seals `plain`, so that it opens with the same `associated` bytes only. Adds at most
    /// [`SEAL_ROOM`] bytes.
    ///
    /// # Errors
    ///
    /// [`CipherError`] where it cannot be sealed.
    fn seal(&self, associated: &[u8], plain: &[u8]) -> Result<Box<[u8]>, CipherError>;

    /// Opens what was sealed, with every key that may have sealed it.
    ///
    /// # Errors
    ///
    /// [`CipherError`] where it was sealed with other associated bytes or by nobody who had a key that
    /// is known, or has changed since.
    fn open(&self, associated: &[u8], sealed: &[u8]) -> Result<Box<[u8]>, CipherError>;
}

impl<C: Cipher + ?Sized> Cipher for Arc<C> {
    fn seal(&self, associated: &[u8], plain: &[u8]) -> Result<Box<[u8]>, CipherError> {
        (**self).seal(associated, plain)
    }

    fn open(&self, associated: &[u8], sealed: &[u8]) -> Result<Box<[u8]>, CipherError> {
        (**self).open(associated, sealed)
    }
}

/// Why something was not sealed or opened. Says no more to whoever tries than that it was not.
pub struct CipherError {
    source: BoxError,
}

impl CipherError {
    /// An error because of `source`, which must show neither keys nor what was sealed.
    #[must_use]
    pub fn new(source: impl Into<BoxError>) -> Self {
        Self {
            source: source.into(),
        }
    }
}

impl fmt::Debug for CipherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CipherError")
            .field("source", &self.source)
            .finish()
    }
}

impl fmt::Display for CipherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the cipher did not seal or open it")
    }
}

impl std::error::Error for CipherError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.source)
    }
}

/// By how many bytes a seal may make something longer.
pub const SEAL_ROOM: usize = 1024;
