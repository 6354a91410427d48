//! Finds the actions that a text names by id, however the id is written.

use std::collections::HashMap;

use super::action::Action;
use super::text::{Kind, Token, runs};

/// The ids of all actions.
#[derive(Debug)]
pub(crate) struct Directory {
    /// Runs of letters and digits, under the first of them.
    ids: HashMap<String, Vec<Id>>,
    /// Letters that ids begin with, and how many runs such ids have.
    shapes: Vec<(String, usize)>,
}

#[derive(Debug)]
struct Id {
    runs: Vec<String>,
    actions: Vec<usize>,
}

/// A place in the text that names actions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Mention {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Empty for something that looks like one of our ids and is none.
    pub(crate) actions: Vec<usize>,
}

impl Directory {
    pub(crate) fn new(actions: &[Action]) -> Self {
        let mut ids: HashMap<String, Vec<Id>> = HashMap::new();
        let mut shapes = Vec::new();
        for (at, action) in actions.iter().enumerate() {
            for id in &action.resource_ids {
                let runs = runs(id);
                let Some(first) = runs.first() else {
                    continue;
                };
                if runs.len() > 1 && !first.starts_with(char::is_numeric) {
                    shapes.push((first.clone(), runs.len()));
                }
                let list = ids.entry(first.clone()).or_default();
                match list.iter_mut().find(|known| known.runs == runs) {
                    Some(known) => known.actions.push(at),
                    None => list.push(Id {
                        runs,
                        actions: vec![at],
                    }),
                }
            }
        }
        Self { ids, shapes }
    }

    /// The mentions in `tokens`; `is_ending` tells whether only the last digits may follow.
    pub(crate) fn mentions(
        &self,
        tokens: &[Token],
        is_ending: impl Fn(usize) -> bool,
    ) -> Vec<Mention> {
        let mut mentions = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let mention = self
                .whole(tokens, at)
                .or_else(|| self.by_number(tokens, at, is_ending(at)))
                .or_else(|| self.foreign(tokens, at));
            at = mention.as_ref().map_or(at + 1, |mention| mention.end);
            mentions.extend(mention);
        }
        mentions
    }

    /// The longest id that starts at `at`.
    fn whole(&self, tokens: &[Token], at: usize) -> Option<Mention> {
        let mut spelt = Vec::new();
        let mut best = None;
        for end in at + 1..=tokens.len().min(at + LONGEST_ID) {
            let token = &tokens[end - 1];
            if token.kind == Kind::Sign && !matches!(token.text.as_str(), "." | ":" | "/") {
                break;
            }
            if token.kind == Kind::Sign && end == at + 1 {
                break;
            }
            spelt.extend(runs(&token.text));
            let Some(first) = spelt.first() else {
                break;
            };
            let spaced = end > at + 1 && spelt[0].chars().count() == 1 && !tokens[at].capital;
            let found = self
                .ids
                .get(first)
                .into_iter()
                .flatten()
                .find(|id| id.runs == spelt);
            if let Some(id) = found.filter(|_| !spaced && token.kind != Kind::Sign) {
                best = Some(Mention {
                    start: at,
                    end,
                    actions: id.actions.clone(),
                });
            }
        }
        best
    }

    /// "#1001", "order 1001" and "ending in 001".
    fn by_number(&self, tokens: &[Token], at: usize, ending: bool) -> Option<Mention> {
        let token = &tokens[at];
        let number = token.text.trim_start_matches(['…', '*', 'x']);
        let digits = number.len() >= if ending { 2 } else { 3 };
        if token.kind != Kind::Number || !digits || !number.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let fits = |id: &&Id| {
            let last = id.runs.last().map_or("", String::as_str);
            last == number || ending && last.ends_with(number)
        };
        let actions: Vec<usize> = self
            .ids
            .values()
            .flatten()
            .filter(fits)
            .flat_map(|id| id.actions.clone())
            .collect();
        (!actions.is_empty()).then_some(Mention {
            start: at,
            end: at + 1,
            actions,
        })
    }

    fn foreign(&self, tokens: &[Token], at: usize) -> Option<Mention> {
        let token = &tokens[at];
        if token.kind != Kind::Id {
            return None;
        }
        let runs = runs(&token.text);
        let alike = self
            .shapes
            .iter()
            .any(|(first, len)| runs.first() == Some(first) && runs.len() == *len);
        alike.then(|| Mention {
            start: at,
            end: at + 1,
            actions: Vec::new(),
        })
    }
}

/// An id is written in so many words at most.
const LONGEST_ID: usize = 8;

#[cfg(test)]
mod tests {
    use tower_outcome_core::Outcome;

    use super::Directory;
    use crate::reply::Action;
    use crate::reply::text::tokens;

    fn named(text: &str) -> Vec<Vec<usize>> {
        let action = |id| Action::new("refund_order", Outcome::Ok).with_resource(id);
        let directory = Directory::new(&[action("A-1001"), action("A-10010"), action("u-5")]);
        let mentions = directory.mentions(&tokens(text), |_| false);
        mentions
            .into_iter()
            .map(|mention| mention.actions)
            .collect()
    }

    #[test]
    fn an_id_is_found_however_it_is_written() {
        for text in [
            "A-1001",
            "a-1001",
            "#A1001",
            "A 1001",
            "A\u{2011}1001",
            "A_1001",
            "order 1001",
        ] {
            assert_eq!(named(text), [vec![0]], "{text}");
        }
    }

    #[test]
    fn a_longer_id_is_another_one() {
        assert_eq!(named("A-10010"), [vec![1]]);
        assert_eq!(named("A-100"), [Vec::<usize>::new()]);
    }

    #[test]
    fn numbers_and_words_are_no_ids() {
        assert!(
            named("in 5 days, a 1001 of them")
                .iter()
                .all(|actions| actions == &[0])
        );
        assert!(named("5 days").is_empty());
    }
}
