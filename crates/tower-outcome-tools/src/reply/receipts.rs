//! Receipts: marks such as `[r1]` by which a reply says which entry it speaks of.

use tower_outcome_core::Outcome;

use super::{Action, Flag, Reason};

/// `reply` without its receipts, for display.
///
/// ```
/// use tower_outcome_tools::reply::strip_receipts;
///
/// assert_eq!(strip_receipts("Refunded [r1], but not mailed [r2 failed]."), "Refunded, but not mailed.");
/// ```
#[must_use]
pub fn strip_receipts(reply: &str) -> String {
    let mut out = String::with_capacity(reply.len());
    let mut rest = reply;
    while let Some((before, receipt, after)) = next(rest) {
        let cut = if receipt.is_some() {
            before.trim_end_matches(' ')
        } else {
            before
        };
        out.push_str(cut);
        if receipt.is_none() {
            out.push('[');
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The receipts that are wrong, and the actions without one.
pub(crate) fn check(reply: &str, actions: &[Action]) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut cited = vec![false; actions.len()];
    for line in reply.lines() {
        let mut rest = line;
        while let Some((_, receipt, after)) = next(rest) {
            rest = after;
            let Some(receipt) = receipt else {
                continue;
            };
            let at = receipt
                .number
                .checked_sub(1)
                .filter(|&at| at < actions.len());
            let reason = match at {
                None => Reason::CitesUnknownReceipt,
                Some(at) => {
                    cited[at] = true;
                    if receipt.agrees(actions[at].outcome) {
                        continue;
                    }
                    Reason::CitesWrongOutcome
                }
            };
            flags.push(Flag {
                sentence: line.trim().to_owned(),
                action: at,
                reason,
            });
        }
    }
    let uncited = cited.iter().enumerate().filter(|(_, cited)| !**cited);
    flags.extend(uncited.map(|(at, _)| Flag {
        sentence: String::new(),
        action: Some(at),
        reason: Reason::CitesNothing,
    }));
    flags
}

struct Receipt<'a> {
    number: usize,
    word: &'a str,
}

impl Receipt<'_> {
    fn agrees(&self, outcome: Outcome) -> bool {
        if self.word.is_empty() {
            outcome.is_done()
        } else {
            self.word == outcome.as_str()
        }
    }
}

/// The text before the next bracket, its receipt if it is one, and the text behind.
fn next(text: &str) -> Option<(&str, Option<Receipt<'_>>, &str)> {
    let (before, after) = text.split_once('[')?;
    let inner = after
        .find(']')
        .map(|end| (&after[..end], &after[end + 1..]));
    let receipt = inner.and_then(|(inner, rest)| Some((receipt(inner)?, rest)));
    Some(match receipt {
        Some((receipt, rest)) => (before, Some(receipt), rest),
        None => (before, None, after),
    })
}

fn receipt(inner: &str) -> Option<Receipt<'_>> {
    let inner = inner.trim();
    let inner = inner.strip_prefix(['r', 'R'])?;
    let (number, word) = inner.split_once([' ', ':']).unwrap_or((inner, ""));
    Some(Receipt {
        number: number.parse().ok()?,
        word: word.trim(),
    })
}
