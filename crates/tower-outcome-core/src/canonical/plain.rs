//! Writes a value on which no rule has a say: the short way, with nothing to take back.

use serde_json::{Map, Value};

use super::pointer::push_token;
use super::writer::DEPTH;
use super::{Number, order, string};

/// Why a value was refused, and where in it.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) pointer: String,
    pub(crate) reason: &'static str,
}

impl Refusal {
    pub(super) fn new(reason: &'static str) -> Self {
        Self {
            pointer: String::new(),
            reason,
        }
    }

    fn below(self, token: &str) -> Self {
        Self {
            pointer: push_token(String::new(), token) + &self.pointer,
            ..self
        }
    }
}

/// Appends the canonical bytes of a value that lies `depth` levels deep.
pub(crate) fn write(
    out: &mut Vec<u8>,
    value: &Value,
    exact: bool,
    depth: usize,
) -> Result<(), Refusal> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => Number::from(number)
            .write(out, exact)
            .map_err(Refusal::new)?,
        Value::String(text) => string::write(out, text),
        Value::Array(_) | Value::Object(_) if depth == DEPTH => {
            return Err(Refusal::new("is nested too deep"));
        }
        Value::Array(elements) => {
            out.push(b'[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write(out, element, exact, depth + 1)
                    .map_err(|refusal| refusal.below(&at.to_string()))?;
            }
            out.push(b']');
        }
        Value::Object(members) => write_object(out, members, exact, depth, |_, _| {})?,
    }
    Ok(())
}

/// Appends an object that lies `depth` levels deep, and shows each of its members as it is
/// written: name and bytes.
pub(crate) fn write_object(
    out: &mut Vec<u8>,
    members: &Map<String, Value>,
    exact: bool,
    depth: usize,
    mut show: impl FnMut(&str, &[u8]),
) -> Result<(), Refusal> {
    let mut write_member = |out: &mut Vec<u8>, (name, value): (&String, &Value)| {
        if out.last() != Some(&b'{') {
            out.push(b',');
        }
        let start = out.len();
        string::write(out, name);
        out.push(b':');
        write(out, value, exact, depth + 1).map_err(|refusal| refusal.below(name))?;
        show(name, &out[start..]);
        Ok(())
    };
    out.push(b'{');
    if is_sorted(members) {
        members
            .iter()
            .try_for_each(|member| write_member(out, member))?;
    } else {
        let mut sorted: Vec<_> = members.iter().collect();
        sorted.sort_unstable_by(|(a, _), (b, _)| order::compare(a, b));
        sorted
            .into_iter()
            .try_for_each(|member| write_member(out, member))?;
    }
    out.push(b'}');
    Ok(())
}

/// Whether the map, which sorts by code point or not at all, has the order that is due.
fn is_sorted(members: &Map<String, Value>) -> bool {
    members
        .keys()
        .is_sorted_by(|a, b| order::compare(a, b).is_lt())
}
