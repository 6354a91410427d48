//! What the arguments were made of, to say in what two wishes differ.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use super::names::{Kind, shared};
use super::plan::unescape;
use crate::canonical::{self, Memory, push_token};
use crate::fingerprint::differences;

/// The members of the arguments that make the key: names, and hashes that mean something in this
/// process only.
#[derive(Clone)]
pub(super) struct Members {
    /// One JSON pointer behind the other.
    names: Arc<str>,
    /// The hashes of the first ones, with room for as many as most tools have.
    first: [u64; FIRST],
    others: Box<[u64]>,
}

impl Members {
    /// The members that a writer noted.
    pub(super) fn of(memory: &mut Memory) -> Self {
        let names = if memory.are_pointers && are_bare(&memory.names, memory.top.len()) {
            shared(Kind::Members, &memory.names)
        } else {
            let mut names = std::mem::take(&mut memory.decoded);
            names.clear();
            for (name, _) in &memory.top {
                names = push_token(names, &memory.names[name.clone()]);
            }
            let kept = shared(Kind::Members, &names);
            memory.decoded = names;
            kept
        };
        let mut hashes = memory.top.iter().map(|(_, hash)| *hash);
        Self {
            names,
            first: std::array::from_fn(|_| hashes.next().unwrap_or_default()),
            others: hashes.collect(),
        }
    }

    /// Pointers to the members in which the two differ; none if they have nothing in common.
    pub(super) fn differences(&self, other: &Self) -> Option<Vec<String>> {
        let names: Vec<_> = differences(self.iter(), other.iter(), compare).collect();
        let differs = |name| names.binary_search_by(|other| compare(other, name));
        let alike = names.is_empty() || self.iter().any(|(name, _)| differs(name).is_err());
        let pointers = names.iter().map(|name| format!("/{name}"));
        alike.then(|| pointers.collect())
    }

    fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let hashes = self.first.iter().chain(&self.others).copied();
        self.names.split('/').skip(1).zip(hashes)
    }
}

/// Whether nothing in so many names, each behind a slash, has to be escaped in a pointer. No if there
/// are too many to be counted in bytes, which is done sixteen at a time.
fn are_bare(names: &str, many: usize) -> bool {
    let count = |letter: u8| {
        let bytes = names.bytes();
        bytes.fold(0_u8, |count, byte| {
            count.wrapping_add(u8::from(byte == letter))
        })
    };
    u8::try_from(names.len()).is_ok() && usize::from(count(b'/')) == many && count(b'~') == 0
}

/// Compares reference tokens in the order of their names.
fn compare(one: &str, other: &str) -> Ordering {
    canonical::compare(&name(one), &name(other))
}

fn name(token: &str) -> Cow<'_, str> {
    match unescape(token) {
        Some(name) if token.contains('~') => Cow::Owned(name.into()),
        _ => Cow::Borrowed(token),
    }
}

const FIRST: usize = 12;
