//! Which of several actions a clause means: ids, ordinals, counts, exceptions.

use super::clause::{Clause, Sentence};
use super::lexicon::{Class, Hit, Role};
use super::money;
use super::text::Kind;

/// The words that pick actions out of many.
#[derive(Clone, Debug, Default)]
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
    /// "the other".
    pub(crate) rest: bool,
    /// "all", "both".
    pub(crate) all: bool,
    /// Actions named behind "except".
    pub(crate) excepted: Vec<usize>,
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
        let mut selection = Self {
            twice: sentence.has(Role::Twice, start, end),
            rest: around(Role::Rest),
            all: around(Role::All),
            amounts: money::amounts(&sentence.tokens[start..end]),
            ..Self::default()
        };
        let except = sentence.hits(start, end).find(|hit| hit.is(Role::Except));
        let excepted = match except {
            Some(hit) if hit.is_postposed() => start..hit.start,
            Some(hit) => hit.end..list_end(sentence, hit.end, end),
            None => end..end,
        };
        for mention in sentence
            .mentions
            .iter()
            .filter(|m| m.start >= start && m.end <= end)
        {
            if excepted.contains(&mention.start) {
                selection.excepted.extend(&mention.actions);
            } else {
                selection.ids.extend(&mention.actions);
                selection.foreign |= mention.actions.is_empty();
            }
        }
        if except.is_some() {
            let things = sentence.hits(excepted.start, excepted.end);
            selection.excepted_things =
                things.flat_map(|hit| hit.classes(&[Role::Thing])).collect();
            selection.left_out = count(sentence, excepted.start, excepted.end);
            selection.all = true;
        }
        selection.ordinals = ordinals(sentence, start, end);
        let counted = if excepted.start == start && except.is_some() {
            excepted.end..end
        } else {
            start..excepted.start
        };
        selection.count =
            count(sentence, counted.start, counted.end).filter(|_| selection.ids.is_empty());
        selection
    }

    /// Whether anything picks out actions at all.
    pub(crate) fn names_any(&self) -> bool {
        !self.ids.is_empty() || self.foreign || !self.ordinals.is_empty() || self.rest
    }
}

/// The end of a list of ids and nouns.
fn list_end(sentence: &Sentence<'_>, start: usize, end: usize) -> usize {
    let listed = |at: usize| {
        sentence.tokens[at].kind == Kind::Sign
            || sentence.tokens[at].kind == Kind::Id
            || sentence
                .mentions
                .iter()
                .any(|m| (m.start..m.end).contains(&at))
            || [
                Role::And,
                Role::Determiner,
                Role::Things,
                Role::Number,
                Role::Ordinal,
            ]
            .iter()
            .any(|role| sentence.around(*role, at, at + 1).is_some())
            || sentence.hits(at, at + 1).any(|hit| hit.is(Role::Thing))
    };
    (start..end).find(|&at| !listed(at)).unwrap_or(end)
}

/// "the second order", "the first".
fn ordinals(sentence: &Sentence<'_>, start: usize, end: usize) -> Vec<i32> {
    let hits = sentence
        .scan
        .around
        .iter()
        .filter(|hit| hit.start >= start && hit.end <= end);
    let ordinals = hits.filter(|hit| hit.is(Role::Ordinal)).filter(|hit| {
        let owned = sentence
            .scan
            .hits
            .iter()
            .any(|other| other.start <= hit.start && hit.end <= other.end);
        let before = hit.start > start
            && sentence
                .around(Role::Determiner, hit.start - 1, hit.start)
                .is_some();
        let after = is_noun(sentence, hit.end, end);
        !owned && (before || after)
    });
    ordinals
        .filter_map(|hit| hit.roles.first().map(|(_, _, value)| *value))
        .collect()
}

/// "two of the three refunds", "3 emails".
fn count(sentence: &Sentence<'_>, start: usize, end: usize) -> Option<usize> {
    (start..end).find_map(|at| {
        let hit = sentence
            .around(Role::Number, at, end)
            .filter(|hit| hit.start == at);
        let token = &sentence.tokens[at];
        let owned = sentence
            .scan
            .hits
            .iter()
            .any(|other: &Hit| other.start <= at && at < other.end && !other.is(Role::Thing));
        let named = sentence
            .mentions
            .iter()
            .any(|m| (m.start..m.end).contains(&at));
        if owned || named {
            return None;
        }
        let (value, next) = match hit {
            Some(hit) => (usize::try_from(hit.roles.first()?.2).ok()?, hit.end),
            None if token.kind == Kind::Number && token.text.len() <= 2 => {
                (token.text.parse().ok()?, at + 1)
            }
            None => return None,
        };
        let of = sentence
            .around(Role::Of, next, end)
            .is_some_and(|of| of.start == next);
        let counted = is_noun(sentence, next, end)
            || of
                && (next..end.min(next + 4)).any(|at| {
                    is_noun(sentence, at, end)
                        || sentence
                            .around(Role::Number, at, end)
                            .is_some_and(|n| n.start == at)
                });
        counted.then_some(value)
    })
}

fn is_noun(sentence: &Sentence<'_>, at: usize, end: usize) -> bool {
    at < end
        && (sentence
            .around(Role::Things, at, end)
            .is_some_and(|hit| hit.start == at)
            || sentence.hits(at, at + 1).any(|hit| hit.is(Role::Thing)))
}
