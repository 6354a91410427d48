//! Counts and ordinals: "two of the three", "the first two", "the second".

use super::clause::Sentence;
use super::lexicon::{Hit, Role};
use super::text::Kind;

/// The places that are named by order, where `is_here` says that a word counts.
pub(crate) fn ordinals(
    sentence: &Sentence<'_>,
    start: usize,
    end: usize,
    is_here: impl Fn(usize) -> bool,
) -> Vec<i32> {
    let mut places = Vec::new();
    let hits = sentence.scan.around(Role::Ordinal).iter();
    for hit in hits.filter(|hit| hit.start >= start && hit.end <= end && is_here(hit.start)) {
        let owned = sentence
            .scan
            .hits
            .iter()
            .any(|other| other.start <= hit.start && hit.end <= other.end);
        let before = hit.start > start
            && sentence
                .around(Role::Determiner, hit.start - 1, hit.start)
                .is_some();
        let number = number(sentence, hit.end, end).map(|(value, _)| value);
        if owned || !(before || number.is_some() || is_noun(sentence, hit.end, end)) {
            continue;
        }
        let place = hit.roles.first().map_or(0, |(_, _, value)| *value);
        match number.and_then(|number| i32::try_from(number).ok()) {
            Some(number) if place == 1 => places.extend(1..=number.min(LARGEST)),
            _ => places.push(place),
        }
    }
    places
}

/// How many are said to be meant.
pub(crate) fn count(
    sentence: &Sentence<'_>,
    start: usize,
    end: usize,
    is_here: impl Fn(usize) -> bool,
) -> Option<usize> {
    let mut counts = (start..end).filter(|&at| is_here(at)).filter_map(|at| {
        let (value, next) = number(sentence, at, end)?;
        let of = sentence
            .around(Role::Of, next, end)
            .is_some_and(|of| of.start == next);
        let near = next..end.min(next + 4);
        let counted = is_noun(sentence, next, end)
            || of && near.clone().any(|at| is_noun(sentence, at, end))
            || of
                && near
                    .into_iter()
                    .any(|at| number(sentence, at, end).is_some());
        counted.then_some((value, at))
    });
    let (first, at) = counts.next()?;
    // "Of the two refunds one went through"; in Chinese and Japanese the "of" stands between.
    let opened = sentence.around(Role::Of, at.saturating_sub(2).max(start), at);
    let second = counts.next().filter(|&(_, second)| {
        opened.is_some()
            || sentence.pack.unspaced && sentence.around(Role::Of, at, second).is_some()
    });
    Some(second.map_or(first, |(value, _)| value))
}

/// The number that starts at `at`, and where it ends.
fn number(sentence: &Sentence<'_>, at: usize, end: usize) -> Option<(usize, usize)> {
    let token = sentence.tokens.get(at).filter(|_| at < end)?;
    let owns = |other: &Hit| other.start <= at && at < other.end && !other.is(Role::Thing);
    let named = sentence.is_named(at);
    if named || sentence.scan.hits.iter().any(owns) {
        return None;
    }
    let hit = sentence
        .around(Role::Number, at, end)
        .filter(|hit| hit.start == at);
    match hit {
        Some(hit) => Some((usize::try_from(hit.roles.first()?.2).ok()?, hit.end)),
        None if token.kind == Kind::Number && token.text.len() <= 2 => {
            Some((token.text.parse().ok()?, at + 1))
        }
        None => None,
    }
}

fn is_noun(sentence: &Sentence<'_>, at: usize, end: usize) -> bool {
    at < end
        && (sentence
            .around(Role::Things, at, end)
            .is_some_and(|hit| hit.start == at)
            || sentence.hits(at, at + 1).any(|hit| hit.is(Role::Thing)))
}

/// "The first hundred" is no list of places any more.
const LARGEST: i32 = 99;
