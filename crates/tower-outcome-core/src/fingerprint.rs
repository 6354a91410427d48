//! What must be equal when a key is met again, beside the key itself.
//!
//! Two calls with one key are the same wish only if what they ask for is the same too: an amount
//! that the key leaves out on purpose, or the body behind a key that the caller chose. A
//! [`Fingerprint`] holds one short hash per such field, so that a mismatch can be named without
//! any value being kept.
//!
//! ```
//! use tower_outcome_core::Fingerprint;
//!
//! let first = Fingerprint::default().with_part("body", b"amount=20");
//! let again = Fingerprint::default().with_part("body", b"amount=30");
//! assert_eq!(first.differs(&again), Some("body"));
//! assert_eq!(Fingerprint::from_text(&first.to_text())?, first);
//! # Ok::<(), tower_outcome_core::Error>(())
//! ```

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::iter;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Error;
use crate::key::{KeyHasher, hex, unhex};

pub use self::versions::Comparison;

mod versions;

/// Hashes of the fields that must match, sorted by name.
///
/// See the [module docs](self).
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Fingerprint {
    parts: Vec<(Box<str>, [u8; HASH_LENGTH])>,
}

impl Fingerprint {
    /// Adds the field `name` with its bytes; a field of that name is replaced.
    #[must_use]
    pub fn with_part(self, name: &str, bytes: &[u8]) -> Self {
        let hash = hash(&KeyHasher::default(), name, bytes);
        self.with_hash(name, &hash)
    }

    /// The first field, in the order of names, that only one side has or that is not equal.
    #[must_use]
    pub fn differs<'a>(&'a self, other: &'a Self) -> Option<&'a str> {
        self.differences(other).next()
    }

    /// Whether nothing has to match.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The fields in the order of their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|(name, _)| &**name)
    }

    /// A compact text for stores: a JSON object of names and hashes.
    #[expect(clippy::missing_panics_doc, reason = "it cannot")]
    #[must_use]
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("names and hashes are text")
    }

    /// Reads what [`to_text`](Self::to_text) wrote.
    ///
    /// # Errors
    ///
    /// Refuses any other text.
    pub fn from_text(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text)
            .map_err(|_| Error::invalid("fingerprint", "is no text that a fingerprint writes"))
    }

    /// Nothing has to match.
    pub(crate) const fn none() -> Self {
        Self { parts: Vec::new() }
    }

    /// All fields that only one side has or that are not equal.
    pub(crate) fn differences<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a str> {
        differences(self.iter(), other.iter(), str::cmp)
    }

    /// Adds a field whose hash, of which the first bytes are kept, is known.
    pub(crate) fn with_hash(mut self, name: &str, hash: &[u8; 32]) -> Self {
        let mut kept = [0; HASH_LENGTH];
        kept.copy_from_slice(&hash[..HASH_LENGTH]);
        self.put(name, kept);
        self
    }

    fn put(&mut self, name: &str, kept: [u8; HASH_LENGTH]) {
        match self.parts.binary_search_by(|part| (*part.0).cmp(name)) {
            Ok(at) => self.parts[at].1 = kept,
            Err(at) => self.parts.insert(at, (name.into(), kept)),
        }
    }

    fn iter(&self) -> impl Iterator<Item = (&str, &[u8; HASH_LENGTH])> {
        self.parts.iter().map(|(name, hash)| (&**name, hash))
    }
}

impl Serialize for Fingerprint {
    /// As an object of names and hashes in hex.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, hash)| (name, hex(hash))))
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parts = BTreeMap::<Box<str>, Cow<'de, str>>::deserialize(deserializer)?;
        let parts = parts.into_iter().map(|(name, hash)| {
            let hash = unhex(&hash).ok_or_else(|| D::Error::custom("a hash is no hex"))?;
            Ok((name, hash))
        });
        let parts = parts.collect::<Result<_, D::Error>>()?;
        Ok(Self { parts })
    }
}

/// The hash of a field.
pub(crate) fn hash(hasher: &KeyHasher, name: &str, bytes: &[u8]) -> [u8; 32] {
    let parts = [b"tower-outcome/match", name.as_bytes(), bytes];
    hasher.finish_with(&parts)
}

/// The names that only one of two lists has or whose hashes are not equal. Both lists are in the
/// order of `compare`.
pub(crate) fn differences<'a, H: PartialEq>(
    left: impl Iterator<Item = (&'a str, H)>,
    right: impl Iterator<Item = (&'a str, H)>,
    compare: impl Fn(&str, &str) -> Ordering,
) -> impl Iterator<Item = &'a str> {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    iter::from_fn(move || {
        loop {
            let order = match (left.peek(), right.peek()) {
                (Some((a, _)), Some((b, _))) => compare(a, b),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return None,
            };
            let only = match order {
                Ordering::Less => left.next(),
                Ordering::Greater => right.next(),
                Ordering::Equal => {
                    let (a, b) = (left.next(), right.next());
                    if a == b {
                        continue;
                    }
                    a
                }
            };
            return only.map(|(name, _)| name);
        }
    })
}

/// Enough that no two values meet by chance, and no more than a row needs.
const HASH_LENGTH: usize = 16;
