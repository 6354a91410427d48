//! Numbers that are written in words.

use std::collections::HashMap;

use crate::reply::text::{Kind, Token};

/// What the words of one language count for. A word that only joins others counts for nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numerals {
    words: HashMap<String, u64>,
}

impl Numerals {
    pub(super) fn add(&mut self, words: impl Iterator<Item = String>, value: u64) {
        self.words.extend(words.map(|word| (word, value)));
    }

    /// The number whose words end before `end`: "two hundred and thirty", "zweihundertdreißig".
    pub(crate) fn before(&self, tokens: &[Token], end: usize) -> Option<u64> {
        let words = &tokens[self.start(tokens, end)..end];
        let words: Vec<_> = words.iter().map(|token| token.text.as_str()).collect();
        // As one, since "quatre-vingt" is not four and twenty.
        let values = self.split(&words.join("-"))?;
        Some(sum(&values)).filter(|sum| *sum > 0)
    }

    /// Where the words of the number that ends before `end` start.
    pub(crate) fn start(&self, tokens: &[Token], end: usize) -> usize {
        let words = tokens[..end].iter().rev();
        let is_number =
            |token: &&Token| token.kind == Kind::Word && self.split(&token.text).is_some();
        end - words.take_while(is_number).count()
    }

    /// Whether the word only joins others.
    pub(crate) fn is_joint(&self, word: &str) -> bool {
        self.words.get(word) == Some(&0)
    }

    /// What the parts of a word count for; `None` where one of them is no number.
    fn split(&self, word: &str) -> Option<Vec<u64>> {
        let mut values = Vec::new();
        let mut rest = word;
        while !rest.is_empty() {
            rest = match rest.strip_prefix('-') {
                Some(rest) => rest,
                None => {
                    let mut ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
                    let known = |end: &usize| self.words.contains_key(&rest[..*end]);
                    let end = ends.rfind(known)?;
                    values.push(self.words[&rest[..end]]);
                    &rest[end..]
                }
            };
        }
        Some(values)
    }
}

/// Ten, a hundred and so on multiply what stands right before them, and a thousand all of it.
fn sum(values: &[u64]) -> u64 {
    let (mut thousands, mut hundreds, mut digit) = (0_u64, 0_u64, 0_u64);
    for &value in values {
        match value {
            0 => {}
            1..10 => {
                hundreds = hundreds.saturating_add(digit);
                digit = value;
            }
            10 | 100 => {
                hundreds = hundreds.saturating_add(digit.max(1).saturating_mul(value));
                digit = 0;
            }
            1000.. => {
                // "Two thousand million", but not "one million two thousand".
                let more = if thousands < value {
                    std::mem::take(&mut thousands)
                } else {
                    0
                };
                let before = more.saturating_add(hundreds).saturating_add(digit).max(1);
                thousands = thousands.saturating_add(before.saturating_mul(value));
                (hundreds, digit) = (0, 0);
            }
            _ => hundreds = hundreds.saturating_add(value),
        }
    }
    thousands.saturating_add(hundreds).saturating_add(digit)
}
