//! Cuts out what a reply only quotes: code, block quotes and words in quotation marks.

use super::text::CUT;

/// `reply` with a placeholder for each quote; ids keep their place without the marks.
pub(crate) fn without_quotes(reply: &str) -> String {
    let mut out = String::with_capacity(reply.len());
    let mut fence: Option<&str> = None;
    for line in unwrapped(reply).lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(close)) if open == close => fence = None,
            (Some(_), _) => {}
            (None, Some(open)) if !start[open.len()..].contains(open) => fence = Some(open),
            (None, _) if start.starts_with('>') => {}
            (None, _) => cut_line(line, &mut out),
        }
        out.push('\n');
    }
    out
}

/// A reply that is one quote or one JSON object from end to end speaks for itself.
fn unwrapped(reply: &str) -> String {
    let trimmed = reply.trim();
    if trimmed.starts_with('{') && trimmed.ends_with('}') {
        return trimmed.replace(['"', '{', '}'], " ");
    }
    for (open, close) in [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」')]
    {
        let inner = trimmed
            .strip_prefix(open)
            .and_then(|inner| inner.strip_suffix(close));
        if let Some(inner) = inner.filter(|inner| !inner.contains([open, close])) {
            return inner.to_owned();
        }
    }
    reply.to_owned()
}

fn cut_line(line: &str, out: &mut String) {
    let chars: Vec<char> = line.chars().collect();
    let mut missing = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        if c == ']' && chars.get(at + 1) == Some(&'(') {
            let end = chars[at..].iter().position(|&c| c == ')');
            if let Some(end) = end.filter(|_| !missing.contains(&')')) {
                out.push(' ');
                at += end + 1;
                continue;
            }
            missing.push(')');
        }
        let closed = closer(&chars, at)
            .filter(|close| !missing.contains(close))
            .and_then(|close| {
                let end = (at + 1..chars.len()).find(|&end| closes(&chars, end, close));
                if end.is_none() {
                    missing.push(close);
                }
                end
            });
        if let Some(end) = closed {
            let inner: String = chars[at + 1..end].iter().collect();
            if is_id(inner.trim_matches('`')) {
                out.push_str(inner.trim_matches('`'));
            } else {
                out.push(' ');
                out.push(CUT);
                out.push(' ');
            }
            at = end + 1;
        } else {
            out.push(c);
            at += 1;
        }
    }
}

/// The mark that closes the quote that opens at `at`, if one does.
fn closer(chars: &[char], at: usize) -> Option<char> {
    let before = at.checked_sub(1).and_then(|before| chars.get(before));
    let fresh = before.is_none_or(|c| !c.is_alphanumeric());
    let after = chars.get(at + 1).is_some_and(|c| !c.is_whitespace());
    match chars[at] {
        '"' if after => Some('"'),
        '`' => Some('`'),
        '“' => Some('”'),
        '„' => Some('“'),
        '«' => Some('»'),
        '»' if fresh && after => Some('«'),
        '‹' => Some('›'),
        '「' => Some('」'),
        '『' => Some('』'),
        '《' => Some('》'),
        '\'' if fresh && after => Some('\''),
        '‘' if fresh => Some('’'),
        '‚' => Some('‘'),
        _ => None,
    }
}

fn closes(chars: &[char], at: usize, close: char) -> bool {
    let ends_word = chars.get(at + 1).is_none_or(|c| !c.is_alphanumeric());
    match close {
        '\'' | '’' => chars[at] == close && ends_word,
        '“' => matches!(chars[at], '“' | '”'),
        _ => chars[at] == close,
    }
}

fn is_id(text: &str) -> bool {
    !text.contains(char::is_whitespace)
        && text.chars().any(|c| c.is_ascii_digit())
        && text.chars().count() <= LONGEST_ID
}

const LONGEST_ID: usize = 40;

#[cfg(test)]
mod tests {
    use super::without_quotes;

    #[test]
    fn quotes_are_cut_and_ids_kept() {
        let cut = without_quotes("It says \"refunded\" for `A-1001`, don't worry about 'sent'.");
        assert_eq!(
            cut,
            "It says  \u{fffc}  for A-1001, don't worry about  \u{fffc} .\n"
        );
    }

    #[test]
    fn code_and_block_quotes_are_cut() {
        assert_eq!(
            without_quotes("a\n```\nrefunded\n```\n> sent\nb").replace('\n', ""),
            "ab"
        );
    }

    #[test]
    fn a_reply_in_quotation_marks_speaks_for_itself() {
        assert_eq!(without_quotes("\"Refunded.\""), "Refunded.\n");
    }
}
