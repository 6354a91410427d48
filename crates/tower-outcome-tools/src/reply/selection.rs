//! Which of several actions a clause means: ids, exceptions and words such as "all".

use std::ops::Range;

use super::clause::{Clause, Sentence};
use super::count;
use super::lexicon::{Class, Hit, Role};
use super::money;
use super::text::Kind;

/// The words that pick actions out of many.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each word stands or does not, whatever the others do"
)]
pub(crate) struct Selection {
    /// Actions named by id.
    pub(crate) ids: Vec<usize>,
    /// An id was named that is none of ours.
    pub(crate) foreign: bool,
    /// "the second": places in order, -1 for the last.
    pub(crate) ordinals: Vec<i32>,
    /// "two of the three".
    pub(crate) count: Option<usize>,
    /// "all but one".
    pub(crate) left_out: Option<usize>,
    /// "some", "most", "half of".
    pub(crate) some: bool,
    /// "the other".
    pub(crate) rest: bool,
    /// "all", "both".
    pub(crate) all: bool,
    /// Actions named behind "except".
    pub(crate) excepted: Vec<usize>,
    /// "except the second".
    pub(crate) excepted_ordinals: Vec<i32>,
    /// Kinds of action named behind "except".
    pub(crate) excepted_things: Vec<Class>,
    pub(crate) amounts: Vec<u64>,
    /// "twice".
    pub(crate) twice: bool,
}

impl Selection {
    pub(crate) fn new(sentence: &Sentence<'_>, clause: &Clause) -> Self {
        let (start, end) = (clause.start, clause.end);
        let around = |role| sentence.around(role, start, end).is_some();
        let excepted = sentence.excepted();
        let mut selection = Self {
            twice: sentence.has(Role::Twice, start, end),
            some: around(Role::Some),
            rest: around(Role::Rest),
            all: around(Role::All) || !excepted.is_empty(),
            amounts: money::amounts(&sentence.tokens[start..end], sentence.pack),
            ids: sentence.range_ids(start, end),
            ..Self::default()
        };
        for mention in &sentence.mentions {
            if excepted.contains(&mention.start) {
                selection.excepted.extend(&mention.actions);
            } else if mention.start >= start && mention.end <= end {
                selection.ids.extend(&mention.actions);
                selection.foreign |= mention.actions.is_empty();
            }
        }
        let is_here = |at: usize| (start..end).contains(&at) && !excepted.contains(&at);
        selection.ordinals = count::ordinals(sentence, start, end, is_here);
        selection.count =
            count::count(sentence, start, end, is_here).filter(|_| selection.ids.is_empty());
        if selection.some {
            selection.count = selection.count.or(Some(1));
        }
        if !excepted.is_empty() {
            let (from, to) = (excepted.start, excepted.end);
            let things = sentence.hits(from, to);
            selection.excepted_things =
                things.flat_map(|hit| hit.classes(&[Role::Thing])).collect();
            selection.excepted_ordinals = count::ordinals(sentence, from, to, |_| true);
            selection.left_out = count::count(sentence, from, to, |_| true);
        }
        selection
    }

    /// Whether anything picks out actions at all.
    pub(crate) fn names_any(&self) -> bool {
        !self.ids.is_empty() || self.foreign || !self.ordinals.is_empty() || self.rest
    }
}

impl Sentence<'_> {
    /// The words behind "except", or before it where it stands behind.
    pub(crate) fn excepted(&self) -> Range<usize> {
        let end = self.tokens.len();
        match self.scan.hits.iter().find(|hit| hit.is(Role::Except)) {
            Some(hit) if hit.is_postposed() => self.list_start(hit)..hit.start,
            Some(hit) => {
                let stop = (hit.end..end).find(|&at| !self.is_listed(at));
                hit.end..stop.unwrap_or(end)
            }
            None => 0..0,
        }
    }

    /// The start of the list that ends before the hit.
    fn list_start(&self, hit: &Hit) -> usize {
        (0..hit.start)
            .rev()
            .find(|&at| !self.is_listed(at) || self.tokens[at].text == ",")
            .map_or(0, |at| at + 1)
    }

    fn is_listed(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let is_article = !self.pack.unspaced && token.text.chars().count() <= LONGEST_ARTICLE;
        let roles = [
            Role::And,
            Role::Determiner,
            Role::Things,
            Role::Number,
            Role::Ordinal,
        ];
        matches!(token.kind, Kind::Id | Kind::Sign)
            || is_article
            || self.is_named(at)
            || roles
                .iter()
                .any(|role| self.around(*role, at, at + 1).is_some())
            || self.hits(at, at + 1).any(|hit| hit.is(Role::Thing))
    }

    /// What lies between two ids in the order of the ledger: "B-1 through B-3".
    fn range_ids(&self, start: usize, end: usize) -> Vec<usize> {
        let pairs = self.mentions.iter().zip(self.mentions.iter().skip(1));
        let ranges = pairs.filter(|(one, other)| {
            one.start >= start
                && other.end <= end
                && self
                    .around(Role::Range, one.end, other.start)
                    .is_some_and(|hit| (hit.start, hit.end) == (one.end, other.start))
        });
        ranges
            .filter_map(|(one, other)| Some(*one.actions.first()?..*other.actions.last()?))
            .flatten()
            .collect()
    }
}

const LONGEST_ARTICLE: usize = 3;
