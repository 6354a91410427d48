//! Phrases with gaps, sets and prefixes, and where they match.

use std::collections::HashMap;

use super::Class;
use super::role::Role;
use crate::reply::text::{Kind, Token, tokens};

/// One phrase of a lexicon file with the section it stands in.
#[derive(Clone, Debug)]
pub(crate) struct Phrase {
    parts: Vec<Part>,
    pub(crate) role: Role,
    pub(crate) class: Option<Class>,
    pub(crate) value: i32,
}

/// Named alternatives, written `{name}` in a phrase.
pub(crate) type Sets = HashMap<String, Vec<Vec<Part>>>;

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Part {
    /// Up to so many words of any kind, but no sign.
    Gap,
    /// One of the set's alternatives, or nothing if optional.
    Set {
        name: String,
        optional: bool,
    },
    /// Nothing but signs stands before.
    Start,
    Prefix(String),
    Suffix(String),
    Word(String),
}

impl Phrase {
    pub(crate) fn new(text: &str, role: Role, class: Option<Class>, value: i32) -> Option<Self> {
        let parts = parts(text).filter(|parts| parts[0] != Part::Gap)?;
        Some(Self {
            parts,
            role,
            class,
            value,
        })
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The words that the phrase can begin with.
    pub(crate) fn openings<'a>(&'a self, sets: &'a Sets) -> Vec<&'a Part> {
        let mut openings = Vec::new();
        open(&self.parts, sets, &mut openings);
        openings
    }

    /// The single whole word that the phrase consists of.
    pub(crate) fn word(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Word(word)] => Some(word),
            _ => None,
        }
    }

    /// The places of the words that the phrase takes when it starts at `at`.
    pub(crate) fn matches(
        &self,
        tokens: &[Token],
        at: usize,
        reach: Reach<'_>,
    ) -> Option<Vec<usize>> {
        let mut places = Vec::new();
        walk(&[&self.parts], tokens, at, reach, &mut places).then_some(places)
    }
}

/// What bounds a match: the sets and the width of a gap.
#[derive(Clone, Copy)]
pub(crate) struct Reach<'a> {
    pub(crate) sets: &'a Sets,
    pub(crate) gap: usize,
}

/// Reads the parts of a phrase; `None` where nothing is left to match.
pub(crate) fn parts(text: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    for piece in text.split_whitespace() {
        if piece == ".." {
            parts.push(Part::Gap);
        } else if piece == "^" {
            parts.push(Part::Start);
        } else if let Some(name) = piece.strip_prefix('{') {
            let optional = name.ends_with('?');
            let name = name.trim_end_matches('?').trim_end_matches('}').to_owned();
            parts.push(Part::Set { name, optional });
        } else if let Some(end) = piece.strip_prefix('*') {
            parts.push(Part::Suffix(end.to_lowercase()));
        } else if let Some(start) = piece.strip_suffix('*') {
            parts.push(Part::Prefix(start.to_lowercase()));
        } else if piece.ends_with('\'') {
            parts.push(Part::Word(piece.to_lowercase()));
        } else {
            parts.extend(
                tokens(piece)
                    .into_iter()
                    .map(|token| Part::Word(token.text)),
            );
        }
    }
    parts
        .iter()
        .any(|part| !matches!(part, Part::Gap | Part::Start))
        .then_some(parts)
}

fn open<'a>(parts: &'a [Part], sets: &'a Sets, openings: &mut Vec<&'a Part>) {
    for part in parts {
        match part {
            Part::Gap | Part::Start => {}
            Part::Set { name, optional } => {
                for alternative in sets.get(name).into_iter().flatten() {
                    open(alternative, sets, openings);
                }
                if !optional {
                    return;
                }
            }
            word => {
                openings.push(word);
                return;
            }
        }
    }
}

/// Matches a stack of part lists, the innermost last, from `at` on.
fn walk(
    stack: &[&[Part]],
    tokens: &[Token],
    at: usize,
    reach: Reach<'_>,
    places: &mut Vec<usize>,
) -> bool {
    let Some((parts, outer)) = stack.split_last() else {
        return true;
    };
    let Some((part, rest)) = parts.split_first() else {
        return walk(outer, tokens, at, reach, places);
    };
    let with_rest = [outer, &[rest]].concat();
    let taken = |places: &mut Vec<usize>| {
        places.push(at);
        let matched = walk(&with_rest, tokens, at + 1, reach, places);
        if !matched {
            places.pop();
        }
        matched
    };
    match part {
        Part::Word(word) => tokens.get(at).is_some_and(|t| spells(t, word)) && taken(places),
        Part::Prefix(start) => {
            tokens
                .get(at)
                .is_some_and(|t| is_text(t) && t.text.starts_with(start.as_str()))
                && taken(places)
        }
        Part::Suffix(end) => {
            tokens
                .get(at)
                .is_some_and(|t| is_text(t) && t.text.ends_with(end.as_str()))
                && taken(places)
        }
        Part::Start => {
            tokens[..at.min(tokens.len())]
                .iter()
                .rev()
                .take(4)
                .all(|t| t.kind == Kind::Sign)
                && walk(&with_rest, tokens, at, reach, places)
        }
        Part::Gap => {
            for width in 0..=reach.gap {
                if width > 0
                    && tokens
                        .get(at + width - 1)
                        .is_none_or(|t| t.kind == Kind::Sign)
                {
                    return false;
                }
                if walk(&with_rest, tokens, at + width, reach, places) {
                    return true;
                }
            }
            false
        }
        Part::Set { name, optional } => {
            for alternative in reach.sets.get(name).into_iter().flatten() {
                let inner = [with_rest.as_slice(), &[alternative.as_slice()]].concat();
                if walk(&inner, tokens, at, reach, places) {
                    return true;
                }
            }
            *optional && walk(&with_rest, tokens, at, reach, places)
        }
    }
}

/// Whether the token is the word, or the "'s" that it shrinks to.
fn spells(token: &Token, word: &str) -> bool {
    token.text == word || token.text == "'s" && matches!(word, "is" | "has")
}

fn is_text(token: &Token) -> bool {
    matches!(token.kind, Kind::Word | Kind::Id)
}
