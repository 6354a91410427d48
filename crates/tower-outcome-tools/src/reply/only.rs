//! "Only the mail did not go out": all the rest did, says who says so.

use super::clause::{Clause, Sentence};
use super::lexicon::Role;

impl Sentence<'_> {
    /// Whether the clause is about one thing alone.
    pub(crate) fn is_of_one_only(&self, clause: &Clause) -> bool {
        let (start, end) = (clause.start, clause.end);
        let things = self.hits(start, end).filter(|hit| hit.is(Role::Thing));
        let named = self
            .mentions
            .iter()
            .filter(|it| start <= it.start && it.end <= end);
        let places = things.map(|hit| (hit.start, hit.end));
        let places: Vec<_> = places.chain(named.map(|it| (it.start, it.end))).collect();
        let mut onlies = self.scan.around(Role::Only).iter();
        onlies.any(|only| {
            let before = |from: usize| only.end <= from && from - only.end <= NEAR;
            let behind = |to: usize| self.pack.unspaced && to == only.start;
            // "But only": the word opens the clause and is no part of it.
            start <= only.end
                && only.end <= end
                && (only.is_postposed()
                    || places.iter().any(|&(from, to)| before(from) || behind(to)))
        })
    }
}

/// So many words, an article and what kind of mail it is, may stand before the thing.
const NEAR: usize = 2;
