//! What the arguments were made of, to say in what two wishes differ.

use crate::canonical::{self, Memory};
use crate::fingerprint::differences;

/// The members of the arguments that make the key: names, and hashes that mean something in this
/// process only.
#[derive(Clone)]
pub(super) struct Members {
    names: Box<str>,
    ends: Box<[(usize, u64)]>,
}

impl Members {
    /// The members that a writer noted.
    pub(super) fn of(memory: &Memory) -> Self {
        let length = memory.top.iter().map(|(name, _)| name.len()).sum();
        let mut names = String::with_capacity(length);
        let ends = memory.top.iter().map(|(name, hash)| {
            names.push_str(&memory.names[name.clone()]);
            (names.len(), *hash)
        });
        let ends = ends.collect();
        Self {
            names: names.into(),
            ends,
        }
    }

    /// Pointers to the members in which the two differ; none if they have nothing in common.
    pub(super) fn differences(&self, other: &Self) -> Option<Vec<String>> {
        let names: Vec<_> = differences(self.iter(), other.iter(), canonical::compare).collect();
        let differs = |name| names.binary_search_by(|other| canonical::compare(other, name));
        let alike = names.is_empty() || self.iter().any(|(name, _)| differs(name).is_err());
        let pointers = names
            .iter()
            .map(|name| canonical::push_token(String::new(), name));
        alike.then(|| pointers.collect())
    }

    fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, hash)| {
            let name = &self.names[start..end];
            start = end;
            (name, hash)
        })
    }
}
