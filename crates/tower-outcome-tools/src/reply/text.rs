//! Words out of prose: one spelling for what looks alike.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// A word, number, id, mark or sign of a sentence, in lower case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) kind: Kind,
    /// Whether it began with a capital, which tells the id "A 1001" from "a 1001".
    pub(crate) capital: bool,
    /// Whether nothing but a sign or a space stands before it.
    pub(crate) glued: bool,
}

/// What a token is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// ❌ and its like.
    Cross,
    /// Letters and digits in one piece, or digits with joints.
    Id,
    /// Digits, with separators inside.
    Number,
    /// A comma, a bracket, a currency sign.
    Sign,
    /// ✅ and its like.
    Tick,
    /// ⏳ and its like.
    Wait,
    /// Letters; in Chinese and Japanese one character.
    Word,
}

/// Stands in the text where a quote or a piece of code was cut out.
pub(crate) const CUT: char = '\u{fffc}';

/// The tokens of `text`.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let chars = normalised(text);
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        if c.is_whitespace() {
            at += 1;
        } else if is_word(c) && !is_single(c) {
            let end = word_end(&chars, at);
            push_word(
                &chars[at..end],
                at > 0 && chars[at - 1].is_alphanumeric(),
                &mut tokens,
            );
            at = end;
        } else {
            at += 1;
            push_single(c, &mut tokens);
        }
    }
    join_spaced(&tokens)
}

/// Whether `c` is a word of its own: Han, kana and their marks.
pub(crate) fn is_single(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Runs of letters and runs of digits: "a-1001" and "A1001" have the same.
pub(crate) fn runs(text: &str) -> Vec<String> {
    let mut runs: Vec<String> = Vec::new();
    let mut last = None;
    for c in text.chars().flat_map(char::to_lowercase) {
        let class = c.is_alphanumeric().then(|| c.is_numeric());
        match (class, runs.last_mut()) {
            (None, _) => {}
            (Some(_), Some(run)) if class == last => run.push(c),
            (Some(_), _) => runs.push(c.to_string()),
        }
        last = class;
    }
    runs
}

/// `text` without accents, as people type it on a foreign keyboard.
pub(crate) fn folded(text: &str) -> String {
    text.nfd()
        .filter(|&c| !is_combining_mark(c))
        .map(|c| if c == 'ß' { 's' } else { c })
        .collect()
}

fn normalised(text: &str) -> Vec<char> {
    let chars: Vec<char> = text
        .nfkc()
        .filter(|&c| !is_invisible(c) && c != '*')
        .map(|c| match c {
            '\u{2010}'..='\u{2012}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}' => '-',
            '\u{2019}' | '\u{2018}' | '\u{2bc}' | '\u{b4}' | '`' => '\'',
            c => c,
        })
        .collect();
    let mut out = Vec::with_capacity(chars.len());
    for (at, &c) in chars.iter().enumerate() {
        let near = |c: Option<&char>| c.copied();
        let (before, after) = (
            at.checked_sub(1).and_then(|b| chars.get(b)),
            chars.get(at + 1),
        );
        match c {
            // "A–1001" is an id, "done – and" is a break.
            '\u{2013}' if joins(near(before), near(after)) => out.push('-'),
            c => out.push(latin(c)),
        }
    }
    out
}

fn joins(before: Option<char>, after: Option<char>) -> bool {
    before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_numeric)
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

/// The Latin letter that a Greek or Cyrillic one is mistaken for.
fn latin(c: char) -> char {
    const PAIRS: (&str, &str) = (
        "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανАВЕКМНОРСТХІЅЈаеорсухіѕј",
        "ABEZHIKMNOPTYXoavABEKMHOPCTXISJaeopcyxisj",
    );
    let found = PAIRS.0.chars().position(|other| other == c);
    found.and_then(|at| PAIRS.1.chars().nth(at)).unwrap_or(c)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// The end of the word that starts at `start`, joints and inner separators included.
fn word_end(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    let run = chars[start..].iter().take(LONGEST_ADDRESS);
    let is_address = run.take_while(|c| !c.is_whitespace()).any(|&c| c == '@');
    while let Some(&c) = chars.get(at) {
        let next = chars
            .get(at + 1)
            .copied()
            .filter(|&c| is_word(c) && !is_single(c));
        let joint = match c {
            c if is_word(c) && !is_single(c) => true,
            '-' | '_' | '\'' | '@' => next.is_some(),
            '.' | ',' => {
                next.is_some_and(char::is_numeric) && chars[at - 1].is_numeric()
                    || c == '.' && is_address && next.is_some()
            }
            _ => false,
        };
        if !joint {
            break;
        }
        at += 1;
    }
    at
}

fn push_word(word: &[char], glued: bool, tokens: &mut Vec<Token>) {
    let capital = word[0].is_uppercase();
    let text: String = word.iter().flat_map(|c| c.to_lowercase()).collect();
    let mut push = |text: &str, kind| {
        tokens.push(Token {
            text: text.to_owned(),
            kind,
            capital,
            glued,
        });
    };
    if word.iter().any(|c| c.is_numeric()) {
        let number = word
            .iter()
            .all(|c| c.is_numeric() || matches!(c, '.' | ',' | '\''));
        return push(&text, if number { Kind::Number } else { Kind::Id });
    }
    if text.contains('@') {
        return push(&text, Kind::Id);
    }
    for part in text.split('_') {
        for part in hyphenated(part) {
            for part in apostrophes(&part) {
                push(&part, Kind::Word);
            }
        }
    }
}

/// "re-funded" and "e-mail" are one word, "on-its-way" is three.
fn hyphenated(word: &str) -> Vec<String> {
    let parts: Vec<&str> = word.split('-').collect();
    let one = parts.len() > 1
        && (parts.iter().all(|part| part.chars().count() == 1)
            || matches!(parts[0], "e" | "re" | "un" | "de" | "pre" | "ré" | "co"));
    if one {
        vec![parts.concat()]
    } else {
        parts.into_iter().map(str::to_owned).collect()
    }
}

/// Contractions written out: "won't" is "will not", "j'ai" is "j'" and "ai".
fn apostrophes(word: &str) -> Vec<String> {
    let Some((head, tail)) = word.split_once('\'') else {
        return if word == "cannot" {
            split(&["can", "not"])
        } else {
            split(&[word])
        };
    };
    match (head, tail) {
        (_, "ll") => split(&[head, "will"]),
        (_, "ve") => split(&[head, "have"]),
        (_, "re") => split(&[head, "are"]),
        ("i", "m") => split(&["i", "am"]),
        (_, "d") => split(&[head, "would"]),
        (_, "s") => split(&[head, "'s"]),
        ("can", "t") => split(&["can", "not"]),
        ("won", "t") => split(&["will", "not"]),
        ("shan", "t") => split(&["shall", "not"]),
        (_, "t") if head.ends_with('n') => split(&[&head[..head.len() - 1], "not"]),
        _ => {
            let mut parts = vec![format!("{head}'")];
            parts.extend(apostrophes(tail));
            parts
        }
    }
}

fn split(parts: &[&str]) -> Vec<String> {
    parts
        .iter()
        .filter(|part| !part.is_empty())
        .map(|&part| part.to_owned())
        .collect()
}

fn push_single(c: char, tokens: &mut Vec<Token>) {
    let kind = match c {
        '✅' | '✔' | '☑' | '✓' | '🗹' | '🟢' | '🆗' => Kind::Tick,
        '❌' | '✖' | '✗' | '✘' | '⛔' | '🚫' | '🔴' | '❎' => Kind::Cross,
        '⏳' | '⌛' | '🔄' | '⚠' | '❓' | '❔' | '☐' | '🟡' | '🕐' => Kind::Wait,
        c if is_single(c) => Kind::Word,
        '#' | '~' | '_' | '\'' => return,
        _ => Kind::Sign,
    };
    tokens.push(Token {
        text: c.to_string(),
        kind,
        capital: false,
        glued: false,
    });
}

/// Joins "r e f u n d e d", with or without points between.
fn join_spaced(tokens: &[Token]) -> Vec<Token> {
    let lone = |token: &Token| {
        let mut chars = token.text.chars();
        token.kind == Kind::Word
            && matches!((chars.next(), chars.next()), (Some(c), None) if !is_single(c))
    };
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let mut end = at;
        let mut letters = Vec::new();
        while let Some(token) = tokens.get(end) {
            if lone(token) {
                letters.push(end);
            } else if !matches!(token.text.as_str(), "." | "·" | "-") || letters.is_empty() {
                break;
            }
            end += 1;
        }
        if letters.len() >= 4 {
            let text = letters.iter().map(|&at| tokens[at].text.as_str()).collect();
            out.push(Token {
                text,
                kind: Kind::Word,
                capital: false,
                glued: false,
            });
            at = end;
        } else {
            out.push(tokens[at].clone());
            at += 1;
        }
    }
    out
}

/// How far ahead an `@` is looked for, in characters.
const LONGEST_ADDRESS: usize = 64;

#[cfg(test)]
mod tests {
    use super::{runs, tokens};

    fn words(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn contractions_are_written_out() {
        assert_eq!(
            words("It won't, I've J'ai"),
            ["it", "will", "not", ",", "i", "have", "j'", "ai"]
        );
    }

    #[test]
    fn look_alikes_are_read_as_latin() {
        assert_eq!(
            words("Ι r\u{435}funded A\u{2011}1001"),
            ["i", "refunded", "a-1001"]
        );
    }

    #[test]
    fn spaced_and_hyphenated_words_are_joined() {
        assert_eq!(
            words("was R E F U N D E D, e-mail re-sent"),
            ["was", "refunded", ",", "email", "resent"]
        );
    }

    #[test]
    fn separators_stay_inside_numbers_and_addresses() {
        assert_eq!(
            words("€1,234.50, a.b@c.de."),
            ["€", "1,234.50", ",", "a.b@c.de", "."]
        );
    }

    #[test]
    fn ids_have_the_same_runs_however_they_are_spelt() {
        assert_eq!(runs("A-1001"), runs("#a1001"));
        assert_ne!(runs("A-1001"), runs("A-10010"));
    }
}
