//! Which word a mistyped one may have meant.

/// Whether `word` is a known word but for one slip or for doubled letters.
pub(crate) fn may_mean(word: &str, known: &str) -> bool {
    let is_long = word.chars().count() >= SHORTEST;
    let (word, known) = (undoubled(word), undoubled(known));
    is_long && known.last() == word.last() && (known == word || is_one_slip(&word, &known))
}

/// Each run of one letter as a single one: nothing is mistyped more often.
fn undoubled(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.dedup();
    letters
}

/// Whether one letter added, dropped, changed or swapped with its neighbour tells two words apart.
fn is_one_slip(one: &[char], other: &[char]) -> bool {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[same..], &other[same..]);
    match (one.len(), other.len()) {
        (a, b) if a == b => match (one, other) {
            ([a, b, rest @ ..], [c, d, others @ ..]) if a == d && b == c => rest == others,
            ([_, rest @ ..], [_, others @ ..]) => rest == others,
            _ => false,
        },
        (a, b) if a + 1 == b => *one == other[1..],
        (a, b) if a == b + 1 => one[1..] == *other,
        _ => false,
    }
}

/// Shorter words are one slip away from too many others.
pub(crate) const SHORTEST: usize = 7;

#[cfg(test)]
mod tests {
    use super::may_mean;

    #[test]
    fn a_slip_is_forgiven_and_another_word_is_not() {
        for (word, known) in [
            ("refuned", "refunded"),
            ("cancled", "canceled"),
            ("proccesed", "processed"),
            ("cnacelled", "cancelled"),
        ] {
            assert!(may_mean(word, known), "{word}");
        }
        for (word, known) in [("recent", "resent"), ("refused", "refunded")] {
            assert!(!may_mean(word, known), "{word}");
        }
    }
}
