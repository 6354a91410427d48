//! Where sentences end.

/// The sentences of one line, each with the sign that ends it.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let mut end = at + c.len_utf8();
        let ends = match c {
            '。' | '！' | '？' | '｡' | ';' | '；' => true,
            '!' | '?' | '…' => {
                while let Some(&(next, sign)) = chars.peek() {
                    if !matches!(sign, '!' | '?' | '…') {
                        break;
                    }
                    end = next + sign.len_utf8();
                    chars.next();
                }
                true
            }
            '.' => is_stop(&text[start..at], &text[end..]),
            _ => false,
        };
        if ends {
            sentences.push(&text[start..end]);
            start = end;
        }
    }
    sentences.push(&text[start..]);
    sentences.retain(|sentence| {
        sentence
            .chars()
            .any(|c| c.is_alphanumeric() || !c.is_ascii())
    });
    sentences
}

/// The text before the last sentence, and the last sentence.
pub(crate) fn split_last(text: &str) -> (&str, &str) {
    let last = sentences(text).last().copied().unwrap_or(text);
    text.split_at(text.rfind(last).unwrap_or(0))
}

/// Whether the point between `before` and `after` ends a sentence.
fn is_stop(before: &str, after: &str) -> bool {
    let mut rest = after
        .chars()
        .skip_while(|c| matches!(c, '"' | '\'' | ')' | '*' | '”' | '_'));
    match rest.next() {
        None => return true,
        Some(c) if !c.is_whitespace() => return false,
        Some(_) => {}
    }
    let next = after.chars().take(NEXT_WORD).find(|c| c.is_alphanumeric());
    let word = before
        .rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '.'))
        .next();
    let word = word.unwrap_or_default();
    // "A. 1001", "e.g."
    let mut letters = word.chars();
    let lone = letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none();
    let shortened = ABBREVIATIONS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(word));
    let numbered = next.is_some_and(char::is_numeric) || !SHORTENS_WORDS.contains(&word);
    !(lone || shortened && numbered)
}

const ABBREVIATIONS: [&str; 38] = [
    "no", "nr", "núm", "num", "mr", "mrs", "ms", "dr", "st", "approx", "ca", "ref", "inc", "ltd",
    "vs", "bzw", "ggf", "inkl", "etc", "sr", "sra", "mme", "art", "tel", "e.g", "i.e", "u.a", "z",
    "usw", "abs", "max", "min", "incl", "excl", "resp", "evtl", "env", "ej",
];
/// Words of their own as well: they shorten only in front of a number.
const SHORTENS_WORDS: [&str; 5] = ["no", "No", "st", "art", "ref"];

/// How far the next word may begin behind a point.
const NEXT_WORD: usize = 16;

#[cfg(test)]
mod tests {
    use super::{sentences, split_last};

    #[test]
    fn points_in_numbers_and_abbreviations_end_nothing() {
        let text = "Order No. 1001 cost 1,234.50 for Dr. Lee. It was A. 1001! Really?";
        let expected = [
            "Order No. 1001 cost 1,234.50 for Dr. Lee.",
            " It was A. 1001!",
            " Really?",
        ];
        assert_eq!(sentences(text), expected);
    }

    #[test]
    fn the_last_sentence_is_split_off() {
        assert_eq!(split_last("One. Two:"), ("One.", " Two:"));
    }
}
