//! Values of a call's arguments that must not turn up anywhere else.

use std::sync::Arc;

use serde_json::Value;

/// The values that one call's arguments have where its tool declares them secret.
#[derive(Clone, Default)]
pub(crate) struct Redaction {
    secrets: Arc<[Secret]>,
}

struct Secret {
    value: Value,
    /// What stands in its place: the pointer, so that two secrets stay two.
    mark: String,
}

impl Redaction {
    pub(super) fn new(pointers: &[Box<str>], arguments: &Value) -> Self {
        let mut secrets = Vec::new();
        for pointer in pointers {
            if let Some(value) = arguments.pointer(pointer) {
                collect(value, &format!("[redacted {pointer}]"), &mut secrets);
            }
        }
        // The longest first: one may be a part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.value.as_str().map(str::len)));
        Self {
            secrets: secrets.into(),
        }
    }

    /// Whether there is nothing to take out.
    pub(crate) fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Takes the values out of what a tool returned.
    pub(crate) fn apply(&self, data: &mut Value) {
        if self.is_empty() {
            return;
        }
        match data {
            Value::Array(items) => items.iter_mut().for_each(|item| self.apply(item)),
            Value::Object(members) => {
                let renamed = std::mem::take(members)
                    .into_iter()
                    .map(|(name, mut value)| {
                        self.apply(&mut value);
                        (self.text(name), value)
                    });
                *members = renamed.collect();
            }
            Value::String(text) => *text = self.text(std::mem::take(text)),
            Value::Number(_) => {
                if let Some(secret) = self.secrets.iter().find(|secret| secret.value == *data) {
                    *data = Value::from(secret.mark.as_str());
                }
            }
            Value::Bool(_) | Value::Null => {}
        }
    }

    /// Takes the values out of a text.
    pub(crate) fn text(&self, mut text: String) -> String {
        for secret in &*self.secrets {
            let value = match &secret.value {
                Value::String(value) => value.clone(),
                number => number.to_string(),
            };
            if text.contains(&value) {
                text = text.replace(&value, &secret.mark);
            }
        }
        text
    }
}

/// All strings and numbers below `value`. What is no more than true, false or null is no secret
/// that could be told from others of its kind, nor is an empty string.
fn collect(value: &Value, mark: &str, secrets: &mut Vec<Secret>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, mark, secrets)),
        Value::Object(members) => members
            .values()
            .for_each(|value| collect(value, mark, secrets)),
        Value::Bool(_) | Value::Null => {}
        Value::String(text) if text.is_empty() => {}
        Value::Number(_) | Value::String(_) => secrets.push(Secret {
            value: value.clone(),
            mark: mark.to_owned(),
        }),
    }
}
