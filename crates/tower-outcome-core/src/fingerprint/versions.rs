//! Fingerprints by several versions of the rules at once.
//!
//! Rules of two versions, or under two secrets, say different things of the same call, and compare
//! with nothing but themselves. While one version takes over from another, an entry holds what each
//! says: fields by the rules of the entry's own key stand as they are, those of any other behind a
//! mark that is made of its key.

use std::collections::BTreeSet;

use super::{Fingerprint, differences};
use crate::IdempotencyKey;
use crate::key::hex;

/// What comparing a call with an entry comes to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Comparison<'a> {
    /// No version of the rules speaks of both.
    Apart,
    /// The first field that is not equal.
    Differs(&'a str),
    /// Nothing that has to be equal differs.
    Equal,
}

impl Fingerprint {
    /// What each version, by its key, says of a call whose entry has the key `home`.
    pub(crate) fn of_versions<'a>(
        versions: impl Iterator<Item = (&'a IdempotencyKey, &'a Self)>,
        home: &IdempotencyKey,
    ) -> Self {
        let mut all = Self::none();
        for (key, fingerprint) in versions {
            let mark = mark(key);
            for (name, hash) in &fingerprint.parts {
                if key == home {
                    all.put(name, *hash);
                } else {
                    all.put(&format!("{mark}{name}"), *hash);
                }
            }
            all.put(&mark, NO_HASH);
        }
        all
    }

    /// Compares a call with this entry, of the key `home`.
    pub(crate) fn compare<'a>(&'a self, call: &'a Self, home: &IdempotencyKey) -> Comparison<'a> {
        if !self.has_marks() && !call.has_marks() {
            return (self.differs(call)).map_or(Comparison::Equal, Comparison::Differs);
        }
        let home = mark(home);
        let (versions, its) = (self.versions(&home), call.versions(&home));
        let mut apart = true;
        for version in versions.intersection(&its) {
            apart = false;
            let own = self.fields(version, &home);
            let its = call.fields(version, &home);
            let mut unequal = differences(own.into_iter(), its.into_iter(), str::cmp);
            if let Some(name) = unequal.next() {
                return Comparison::Differs(name);
            }
        }
        // Where neither has a field there is nothing that could differ.
        if apart && (self.has_fields() || call.has_fields()) {
            Comparison::Apart
        } else {
            Comparison::Equal
        }
    }

    /// Takes over what a call that is [equal](Comparison::Equal) says by further versions. Returns
    /// whether there are any.
    pub(crate) fn learn(&mut self, call: &Self, home: &IdempotencyKey) -> bool {
        if !call.has_marks() {
            return false;
        }
        let home = mark(home);
        let known: BTreeSet<String> =
            (self.versions(&home).into_iter().map(str::to_owned)).collect();
        let news = call.versions(&home).into_iter();
        let news: Vec<&str> = news.filter(|version| !known.contains(*version)).collect();
        if news.is_empty() {
            return false;
        }
        if known.contains(&home) {
            self.put(&home, NO_HASH);
        }
        for (name, hash) in &call.parts {
            let version = marked(name).map_or(&*home, |(version, _)| version);
            if news.contains(&version) {
                self.put(name, *hash);
            }
        }
        true
    }

    fn has_fields(&self) -> bool {
        let is_mark = |name| marked(name).is_some_and(|(_, field)| field.is_empty());
        self.names().any(|name| !is_mark(name))
    }

    pub(crate) fn has_marks(&self) -> bool {
        self.parts.iter().any(|(name, _)| marked(name).is_some())
    }

    /// The marks of all versions that speak here. Without any, it is that of the entry's key.
    fn versions<'a>(&'a self, home: &'a str) -> BTreeSet<&'a str> {
        let marks = self.parts.iter().filter_map(|(name, _)| marked(name));
        let versions: BTreeSet<_> = marks.map(|(mark, _)| mark).collect();
        if versions.is_empty() {
            BTreeSet::from([home])
        } else {
            versions
        }
    }

    /// What one version says.
    fn fields(&self, version: &str, home: &str) -> Vec<(&str, [u8; super::HASH_LENGTH])> {
        let fields = self.parts.iter().filter_map(|(name, hash)| {
            let of_home = (home, &**name);
            let (its, field) = marked(name).unwrap_or(of_home);
            let is_mark = field.is_empty() && marked(name).is_some();
            (its == version && !is_mark).then_some((field, *hash))
        });
        fields.collect()
    }
}

/// The mark of the version that derived a key.
fn mark(key: &IdempotencyKey) -> String {
    format!("@{}", hex(&key.as_bytes()[..MARKED_BYTES]))
}

/// The mark before a field, and the field.
fn marked(name: &str) -> Option<(&str, &str)> {
    let digits = name.strip_prefix('@')?.get(..2 * MARKED_BYTES)?;
    let is_hex = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    let whole = digits.bytes().all(is_hex);
    whole.then(|| name.split_at(1 + 2 * MARKED_BYTES))
}

/// Enough to tell the few versions of one wish apart.
const MARKED_BYTES: usize = 8;

/// What stands behind a mark that is no field but says that the version speaks.
const NO_HASH: [u8; super::HASH_LENGTH] = [0; super::HASH_LENGTH];
