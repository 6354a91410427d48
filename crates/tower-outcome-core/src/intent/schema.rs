//! Whether the rules of a tool decide on everything that its JSON schema lets a caller give.

use std::collections::BTreeMap;

use serde_json::Value;

use super::plan::{Decision, EACH, Plan, Slot};
use crate::Error;
use crate::canonical::push_token;

/// Compares the plan with the schema of the arguments.
pub(crate) fn check(plan: &Plan, schema: &Value) -> Result<(), Error> {
    if !schema.is_object() {
        return Err(Error::invalid("", "the schema is no JSON object"));
    }
    let checker = Checker { plan, root: schema };
    checker.place(Slot::ROOT, &[schema], "", false)
}

struct Checker<'a> {
    plan: &'a Plan,
    root: &'a Value,
}

/// What the schemas of one place say about what lies below it.
#[derive(Default)]
struct Found<'a> {
    properties: BTreeMap<&'a str, Vec<&'a Value>>,
    elements: Vec<&'a Value>,
    /// Schemas for members that are not named.
    others: Vec<&'a Value>,
    /// Whether members that are not named are expected.
    open: bool,
}

impl<'a> Checker<'a> {
    /// Checks what lies below a place on which all `schemas` speak, and which a decision above
    /// it may have `covered` already.
    fn place(
        &self,
        slot: Slot,
        schemas: &[&'a Value],
        pointer: &str,
        covered: bool,
    ) -> Result<(), Error> {
        let mut found = Found::default();
        for schema in schemas {
            self.collect(schema, &mut found, DEPTH);
        }
        let nothing = found.properties.is_empty() && found.elements.is_empty();
        if !covered && nothing && found.others.is_empty() && !pointer.is_empty() {
            return Err(undecided(pointer));
        }
        for (name, schemas) in &found.properties {
            self.member(slot, name, schemas, pointer, covered)?;
        }
        if !found.elements.is_empty() {
            self.member(slot, EACH, &found.elements, pointer, covered)?;
        }
        for (name, child) in self.plan.children(slot) {
            let ignored = matches!(self.plan.decision(child), Some(Decision::Ignore));
            let known = found.properties.contains_key(name) || !found.elements.is_empty();
            if ignored || known || nothing {
                continue;
            }
            let pointer = push_token(pointer.to_owned(), name);
            if name != EACH && !found.open {
                return Err(Error::invalid(pointer, "is no property of the schema"));
            }
            self.place(child, &found.others, &pointer, true)?;
        }
        Ok(())
    }

    /// Checks that there is a decision on one member, or on everything in it.
    fn member(
        &self,
        parent: Slot,
        name: &str,
        schemas: &[&'a Value],
        pointer: &str,
        covered: bool,
    ) -> Result<(), Error> {
        let pointer = push_token(pointer.to_owned(), name);
        let Some(slot) = self.plan.declared(parent, name) else {
            return if covered {
                Ok(())
            } else {
                Err(undecided(&pointer))
            };
        };
        match self.plan.decision(slot) {
            Some(Decision::Ignore) => Ok(()),
            Some(_) => self.place(slot, schemas, &pointer, true),
            None => self.place(slot, schemas, &pointer, covered),
        }
    }

    fn collect(&self, schema: &'a Value, found: &mut Found<'a>, depth: usize) {
        let (Some(object), Some(depth)) = (schema.as_object(), depth.checked_sub(1)) else {
            return;
        };
        for (keyword, value) in object {
            match keyword.as_str() {
                "$ref" => {
                    let pointer = value.as_str().and_then(|text| text.strip_prefix('#'));
                    if let Some(target) = pointer.and_then(|pointer| self.root.pointer(pointer)) {
                        self.collect(target, found, depth);
                    }
                }
                "allOf" | "anyOf" | "oneOf" => {
                    for schema in value.as_array().into_iter().flatten() {
                        self.collect(schema, found, depth);
                    }
                }
                "else" | "then" => self.collect(value, found, depth),
                "properties" => {
                    for (name, schema) in value.as_object().into_iter().flatten() {
                        found.properties.entry(name).or_default().push(schema);
                    }
                }
                "items" | "prefixItems" => match value {
                    Value::Array(schemas) => found.elements.extend(schemas),
                    schema => found.elements.push(schema),
                },
                "additionalProperties" if *value != Value::Bool(false) => {
                    found.open = true;
                    found.others.push(value);
                }
                "patternProperties" => {
                    found.open = true;
                    let schemas = value.as_object().into_iter().flatten();
                    found.others.extend(schemas.map(|(_, schema)| schema));
                }
                _ => {}
            }
        }
    }
}

fn undecided(pointer: &str) -> Error {
    let reason = "has no decision: declare it with `key`, `matches` or `ignore`";
    Error::invalid(pointer, reason)
}

/// How many schemas may lead to one another before the rest is not looked at.
const DEPTH: usize = 32;
