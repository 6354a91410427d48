//! Words for the parts of a unit of money: cents, pence, 角.

use crate::reply::text::{Token, tokens};

/// The minor units of one language.
#[derive(Clone, Debug, Default)]
pub(crate) struct MinorUnits {
    units: Vec<MinorUnit>,
}

#[derive(Clone, Debug)]
struct MinorUnit {
    words: Vec<String>,
    hundredths: u64,
    /// Whether the word means something else unless it follows a larger unit.
    only_as_rest: bool,
}

impl MinorUnits {
    pub(super) fn add<'a>(
        &mut self,
        words: impl Iterator<Item = &'a str>,
        hundredths: u64,
        only_as_rest: bool,
    ) {
        self.units.extend(words.map(|word| MinorUnit {
            words: tokens(word).into_iter().map(|token| token.text).collect(),
            hundredths,
            only_as_rest,
        }));
    }

    /// What the unit whose words begin `tokens` is worth in hundredths, and how many words it has.
    /// `is_rest` says whether the amount before it is of a larger unit.
    pub(crate) fn at(&self, tokens: &[Token], is_rest: bool) -> Option<(u64, usize)> {
        let is_there = |unit: &&MinorUnit| {
            let there = tokens
                .iter()
                .map(|token| &token.text)
                .take(unit.words.len());
            (is_rest || !unit.only_as_rest) && there.eq(&unit.words)
        };
        let there = self.units.iter().filter(is_there);
        let longest = there.max_by_key(|unit| unit.words.len())?;
        Some((longest.hundredths, longest.words.len()))
    }
}
