//! A request that may have to be sent again, as a ledger keeps it.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::key::{base64url, unbase64url};

/// A sealed request: bytes that only whoever has the key can read.
///
/// Stands as URL-safe base64 without padding where it is serialized.
///
/// ```
/// use tower_outcome_core::ledger::StoredRequest;
///
/// let sealed = StoredRequest::new(*b"\x01\xffsealed");
/// let stored = serde_json::to_string(&sealed)?;
/// assert_eq!(stored, "\"Af9zZWFsZWQ\"");
/// assert_eq!(serde_json::from_str::<StoredRequest>(&stored)?, sealed);
/// assert_eq!(format!("{sealed:?}"), "StoredRequest(8 bytes)");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct StoredRequest(Box<[u8]>);

impl StoredRequest {
    /// Takes sealed bytes.
    #[must_use]
    pub fn new(sealed: impl Into<Box<[u8]>>) -> Self {
        Self(sealed.into())
    }

    /// The sealed bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for StoredRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoredRequest({} bytes)", self.0.len())
    }
}

impl Serialize for StoredRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64url(&self.0))
    }
}

impl<'de> Deserialize<'de> for StoredRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let bytes = unbase64url(&text).ok_or_else(|| D::Error::custom("is no base64"))?;
        Ok(Self(bytes.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_comes_back_and_damage_does_not() {
        for length in 0..70_u8 {
            let sealed = StoredRequest::new((0..length).collect::<Vec<_>>());
            let text = serde_json::to_string(&sealed).unwrap();
            assert_eq!(
                serde_json::from_str::<StoredRequest>(&text).unwrap(),
                sealed
            );
        }
        for damaged in ["A", "AAAAA", "A+==", "AB", "A\u{e9}"] {
            let text = format!("\"{damaged}\"");
            assert!(
                serde_json::from_str::<StoredRequest>(&text).is_err(),
                "{damaged}"
            );
        }
    }
}
