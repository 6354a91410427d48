//! What is shown: one JSON value, and from it a table or lines for people.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use tower_outcome_core::ledger::{Counts, Entry, EntryKey, Page, State, WriteRecord};
use tower_outcome_core::{Code, IdempotencyKey};
use tower_outcome_tools::operator::SHORTEST_KEY;

pub(crate) fn page(page: &Page) -> Value {
    json!({
        "entries": page.entries.iter().map(entry).collect::<Vec<_>>(),
        "unreadable": page.unreadable.iter().map(unreadable).collect::<Vec<_>>(),
        "next": page.next.as_ref().map(ToString::to_string),
    })
}

/// All that is known of an entry that is damaged, or of a newer version.
fn unreadable(key: &EntryKey) -> Value {
    json!({ "key": digits(&key.key), "scope": &*key.scope, "state": "unreadable" })
}

/// What is known of an entry. The result is what the user's data is, and shown by its length.
pub(crate) fn entry(entry: &Entry) -> Value {
    json!({
        "key": digits(&entry.key.key),
        "alias_of": entry.alias_of.as_ref().map(digits),
        "scope": &*entry.key.scope,
        "tool": &*entry.tool,
        "state": entry.state.as_str(),
        "code": entry.code.map(Code::as_str),
        "maybe_sent": entry.maybe_sent,
        "epoch": entry.epoch,
        "generation": entry.generation,
        "owner": entry.owner.to_string(),
        "created_at": entry.created_at.to_string(),
        "updated_at": entry.updated_at.to_string(),
        "lease_until": entry.lease_until.to_string(),
        "last_send_by": entry.last_send_by.map(|at| at.to_string()),
        "looks": entry.looks,
        "look_at": entry.look_at.to_string(),
        "result_bytes": entry.result.as_ref().map(|result| result.len()),
        "resolution": entry.resolution.as_ref().map(|it| json!({
            "by": it.by,
            "reason": it.reason,
            "at": it.at.to_string(),
        })),
        "writes": entry.writes.iter().map(write).collect::<Vec<_>>(),
    })
}

fn digits(key: &IdempotencyKey) -> String {
    key.as_bytes().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Its tokens are what it can be looked up by at the provider.
fn write(write: &WriteRecord) -> Value {
    json!({
        "label": write.label,
        "route": write.route,
        "profile": write.profile,
        "key": write.wire_key,
        "reference": write.reference,
        "only": write.only,
        "credential": write.credential,
        "request_kept": write.request.is_some(),
    })
}

pub(crate) fn stats(counts: &Counts) -> Value {
    let states = State::ALL.iter();
    let states = states.map(|state| (state.as_str().to_owned(), json!(counts.of(*state))));
    json!({
        "states": states.collect::<Map<_, _>>(),
        "unreadable": counts.unreadable,
        "total": counts.total(),
        "unknown_since": counts.unknown_since.map(|at| at.to_string()),
    })
}

/// A page as a table, its columns as wide as they have to be.
pub(crate) fn table(page: &Value) -> String {
    let listed = ["entries", "unreadable"].map(|list| &page[list]);
    let entries = listed.into_iter().filter_map(Value::as_array).flatten();
    let mut rows = vec![COLUMNS.map(|(title, _)| title.to_owned())];
    rows.extend(entries.map(|entry| {
        COLUMNS.map(|(_, member)| match (member, &entry["alias_of"]) {
            ("key", _) => short(&entry["key"]),
            ("state", of @ Value::String(_)) => format!("alias of {}", short(of)),
            _ => shown(&entry[member]),
        })
    }));
    let widths: Vec<usize> = (0..COLUMNS.len())
        .map(|column| {
            rows.iter()
                .map(|row| row[column].chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(&widths);
        let line: Vec<_> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        line.join("  ").trim_end().to_owned()
    });
    let mut text = lines.collect::<Vec<_>>().join("\n");
    if let Some(next) = page["next"].as_str() {
        text.push_str("\nmore: --after ");
        text.push_str(&quoted(next));
    }
    text
}

/// As much of a key as finds it.
fn short(key: &Value) -> String {
    shown(key).chars().take(SHORTEST_KEY).collect()
}

/// A value's members, one a line, indented by their depth.
pub(crate) fn lines(value: &Value) -> String {
    let mut text = String::new();
    put(value, 0, &mut text);
    text
}

fn put(value: &Value, depth: usize, text: &mut String) {
    let members: Vec<(String, &Value)> = match value {
        Value::Array(items) => (1..).map(|n: usize| n.to_string()).zip(items).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, it)| (name.clone(), it))
            .collect(),
        _ => return,
    };
    for (name, value) in members {
        let indent = "  ".repeat(depth);
        match value {
            Value::Array(_) | Value::Object(_) => {
                let _ = writeln!(text, "{indent}{name}:");
                put(value, depth + 1, text);
            }
            value => {
                let _ = writeln!(text, "{indent}{name}: {}", shown(value));
            }
        }
    }
}

/// A scalar for a terminal: what could steer it is left out.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => return "-".to_owned(),
        Value::String(text) if text.is_empty() => return "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let steers = |letter: char| letter.is_control();
    text.chars()
        .map(|letter| if steers(letter) { '?' } else { letter })
        .collect()
}

/// As a shell takes it for one word.
fn quoted(text: &str) -> String {
    format!("'{}'", shown(&text.into()).replace('\'', r"'\''"))
}

/// Titles, and the members that stand below them.
const COLUMNS: [(&str, &str); 7] = [
    ("KEY", "key"),
    ("STATE", "state"),
    ("CODE", "code"),
    ("LOOKS", "looks"),
    ("UPDATED", "updated_at"),
    ("TOOL", "tool"),
    ("SCOPE", "scope"),
];
