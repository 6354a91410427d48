//! Cases of the `Idempotency-Key` header: what kind of structured field is it, and is it a key?

use serde_json::Value;
use tower_outcome_core::key::sf::{self, Item};

use super::{Report, text_of};

/// Runs every case of `text`.
pub(crate) fn run(text: &str) -> Result<Report, String> {
    Report::of(text, judge)
}

/// The error says what was expected and what came.
fn judge(case: &Value) -> Result<(), String> {
    let lines = case["field_lines"]
        .as_array()
        .ok_or("`field_lines` is no array")?;
    let lines: Vec<&str> = lines.iter().map(text_of).collect();

    let item = sf::item(&lines);
    let (kind, value) = match &item {
        Ok(Item::Binary) => ("Binary", None),
        Ok(Item::Boolean) => ("Boolean", None),
        Ok(Item::Date) => ("Date", None),
        Ok(Item::Decimal) => ("Decimal", None),
        Ok(Item::DisplayString) => ("DisplayString", None),
        Ok(Item::Integer) => ("Integer", None),
        Ok(Item::String(text)) => ("String", Some(text.as_str())),
        Ok(Item::Token) => ("Token", None),
        Ok(_) => ("another kind", None),
        Err(_) if lines.is_empty() => ("ABSENT", None),
        Err(_) => ("FAIL", None),
    };
    expect("kind", &case["rfc9651_item_parse"], &kind.into())?;
    expect("value", &case["value"], &value.into())?;

    let key = sf::idempotency_key(&lines);
    expect(
        "usable",
        &case["usable_as_idempotency_key"],
        &key.is_ok().into(),
    )?;
    match (&key, value) {
        (Ok(key), Some(value)) if key == value => Ok(()),
        (Err(_), _) => Ok(()),
        _ => Err("the key is not the value of the field".to_owned()),
    }
}

fn expect(what: &str, expected: &Value, got: &Value) -> Result<(), String> {
    if expected == got {
        Ok(())
    } else {
        Err(format!("{what}: expected {expected}, got {got}"))
    }
}
