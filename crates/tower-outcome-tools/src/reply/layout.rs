//! What a reply consists of: prose, headings over lists, tables, and what is only quoted.

use super::quote;
use super::sentence;

/// A line of the reply that is read by itself.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Unit {
    pub(crate) text: String,
    /// The heading or opening line that the line completes.
    pub(crate) lead: String,
}

/// The lines of `reply`, without code and quotes, each with what it stands under.
pub(crate) fn units(reply: &str) -> Vec<Unit> {
    let prose = quote::without_quotes(reply);
    let lines: Vec<Line<'_>> = joined(&prose);
    let mut units = Vec::new();
    let mut heading = String::new();
    let mut leads: Vec<(usize, String)> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let followed = lines
            .get(at)
            .filter(|next| next.is_item() && next.indent >= line.indent);
        match line.kind {
            LineKind::Blank => {}
            LineKind::Row => {
                let end = lines[at..].iter().position(|l| l.kind != LineKind::Row);
                let end = end.map_or(lines.len(), |end| at + end);
                rows(&lines[at - 1..end], &heading, &mut units);
                at = end;
            }
            LineKind::Heading => {
                leads.clear();
                line.text.clone_into(&mut heading);
                if !lines[at..]
                    .iter()
                    .find(|l| l.kind != LineKind::Blank)
                    .is_some_and(Line::is_part)
                {
                    heading.clear();
                    push(&mut units, &line.text, "");
                }
            }
            LineKind::Item => {
                leads.retain(|(indent, _)| {
                    *indent < line.indent || *indent == 0 && line.indent == 0
                });
                let lead = chain(&heading, &leads);
                if line.ends_open() && followed.is_some_and(|next| next.indent > line.indent) {
                    leads.push((line.indent + 1, line.text.clone()));
                } else {
                    push(&mut units, &line.text, &lead);
                }
            }
            LineKind::Prose => {
                leads.clear();
                let next = lines[at..].iter().find(|l| l.kind != LineKind::Blank);
                if line.ends_open() && next.is_some_and(Line::is_part) {
                    let (before, lead) = sentence::split_last(&line.text);
                    push(&mut units, before, "");
                    leads.push((0, lead.trim_start().to_owned()));
                    heading.clear();
                } else {
                    heading.clear();
                    push(&mut units, &line.text, "");
                }
            }
        }
    }
    units
}

#[derive(Debug)]
struct Line<'a> {
    kind: LineKind,
    indent: usize,
    text: String,
    raw: &'a str,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum LineKind {
    Blank,
    Heading,
    Item,
    Prose,
    Row,
}

impl<'a> Line<'a> {
    fn new(raw: &'a str) -> Self {
        let trimmed = raw.trim();
        let indent = raw.chars().take_while(|c| c.is_whitespace()).count();
        let line = |kind, text: &str| Line {
            kind,
            indent,
            text: text.trim().to_owned(),
            raw,
        };
        let unhashed = trimmed.trim_start_matches('#');
        if trimmed.is_empty() || trimmed.chars().all(|c| matches!(c, '-' | '*' | '_' | '=')) {
            line(LineKind::Blank, "")
        } else if trimmed.starts_with('|') || trimmed.matches(" | ").count() > 1 {
            line(LineKind::Row, trimmed)
        } else if unhashed.len() < trimmed.len() && unhashed.starts_with(char::is_whitespace) {
            line(LineKind::Heading, unhashed)
        } else if let Some(item) = item(trimmed) {
            line(LineKind::Item, &unboxed(item))
        } else if is_bold(trimmed) {
            line(LineKind::Heading, trimmed)
        } else {
            line(LineKind::Prose, trimmed)
        }
    }

    fn is_item(&self) -> bool {
        self.kind == LineKind::Item
    }

    fn is_part(&self) -> bool {
        matches!(self.kind, LineKind::Item | LineKind::Row)
    }

    fn ends_open(&self) -> bool {
        self.text
            .trim_end_matches(['*', '_'])
            .ends_with([':', '：', '→'])
    }
}

/// The lines, those of one wrapped sentence joined.
fn joined(prose: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for raw in prose.lines() {
        let line = Line::new(raw);
        let goes_on = line.kind == LineKind::Prose
            && line.text.starts_with(|c: char| c.is_lowercase())
            && lines.last().is_some_and(|last| {
                matches!(last.kind, LineKind::Prose | LineKind::Item)
                    && !last.text.ends_with(['.', '!', '?', ':', '。', '！', '？'])
            });
        match lines.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.text.push(' ');
                last.text.push_str(&line.text);
            }
            None => lines.push(line),
        }
    }
    lines
}

/// The text of a list item, behind its bullet, number or box.
fn item(line: &str) -> Option<&str> {
    for bullet in [
        "- ", "* ", "+ ", "• ", "– ", "· ", "・", "▪ ", "‣ ", "◦ ", "→ ",
    ] {
        if let Some(text) = line.strip_prefix(bullet) {
            return Some(text);
        }
    }
    if line.starts_with(MARKS)
        || line.starts_with("[x]")
        || line.starts_with("[X]")
        || line.starts_with("[ ]")
    {
        return Some(line);
    }
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let rest = &line[digits..];
    let text = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "));
    let text = text.or_else(|| rest.strip_prefix('、'));
    text.filter(|_| (1..=2).contains(&digits))
}

/// Task-list boxes as the marks they stand for.
fn unboxed(item: &str) -> String {
    let item = item.trim_start();
    for (written, mark) in [("[x]", '✅'), ("[X]", '✅'), ("[ ]", '☐')] {
        if let Some(rest) = item.strip_prefix(written) {
            return format!("{mark}{rest}");
        }
    }
    item.to_owned()
}

fn is_bold(line: &str) -> bool {
    let inner = line.trim_end_matches(':').trim();
    let inner = inner
        .strip_prefix("**")
        .and_then(|inner| inner.strip_suffix("**"));
    inner.is_some_and(|inner| !inner.contains("**") && !inner.ends_with(['.', '!']))
}

fn chain(heading: &str, leads: &[(usize, String)]) -> String {
    let mut chain = heading.to_owned();
    for (_, lead) in leads {
        if !chain.is_empty() {
            chain.push_str(" : ");
        }
        chain.push_str(lead);
    }
    chain
}

fn push(units: &mut Vec<Unit>, text: &str, lead: &str) {
    if !text.trim().is_empty() {
        // Every item repeats its lead, so that a long one would make the work quadratic.
        let lead = lead.chars().take(LONGEST_LEAD).collect();
        units.push(Unit {
            text: text.trim().to_owned(),
            lead,
        });
    }
}

/// Each cell of a table as a line: the row's first cell, the column's heading, the cell.
fn rows(lines: &[Line<'_>], heading: &str, units: &mut Vec<Unit>) {
    let is_rule = |line: &Line<'_>| {
        line.raw
            .chars()
            .all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
    };
    let has_header = lines.get(1).is_some_and(is_rule);
    let header = if has_header {
        cells(lines[0].raw)
    } else {
        Vec::new()
    };
    for line in lines
        .iter()
        .skip(usize::from(has_header))
        .filter(|line| !is_rule(line))
    {
        let row = cells(line.raw);
        let Some((label, rest)) = row.split_first() else {
            continue;
        };
        if rest.is_empty() {
            push(units, label, heading);
        }
        for (at, cell) in rest.iter().enumerate() {
            let column = header.get(at + 1).map_or("", String::as_str);
            let column = column.trim_end_matches(['?', '？']);
            push(units, cell, &format!("{label} : {column}"));
        }
    }
}

fn cells(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').unwrap_or(row);
    row.split('|').map(|cell| cell.trim().to_owned()).collect()
}

const LONGEST_LEAD: usize = 240;
const MARKS: [char; 22] = [
    '✅', '✔', '☑', '✓', '❌', '✖', '✗', '✘', '⛔', '🚫', '⏳', '⌛', '🔄', '⚠', '❓', '☐', '🟢',
    '🔴', '🟡', '❔', '🕐', '❎',
];

#[cfg(test)]
mod tests {
    use super::{Unit, units};

    fn unit(text: &str, lead: &str) -> Unit {
        Unit {
            text: text.to_owned(),
            lead: lead.to_owned(),
        }
    }

    #[test]
    fn items_stand_under_their_opening_line() {
        let reply = "Hello there. Refunded:\n- A-1\n- A-2\n\nBye.";
        let expected = [
            unit("Hello there.", ""),
            unit("A-1", "Refunded:"),
            unit("A-2", "Refunded:"),
            unit("Bye.", ""),
        ];
        assert_eq!(units(reply), expected);
    }

    #[test]
    fn cells_stand_under_their_column() {
        let reply = "| Order | Cancelled |\n|---|---|\n| B-1 | yes |";
        assert_eq!(units(reply), [unit("yes", "B-1 : Cancelled")]);
    }

    #[test]
    fn nested_items_stand_under_both() {
        let reply = "Done:\n- Shop:\n  - B-1\n- B-2";
        assert_eq!(
            units(reply),
            [unit("B-1", "Done: : Shop:"), unit("B-2", "Done:")]
        );
    }
}
