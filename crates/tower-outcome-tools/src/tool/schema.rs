//! A tool's JSON Schema, checked before anything else.

use std::fmt::Write as _;
use std::sync::Arc;

use jsonschema::Validator;
use serde_json::Value;
use tower_outcome_core::Error;

use super::Tool;

impl Tool {
    /// Refuses calls whose arguments break `schema`, as `failed/invalid_arguments`, before anything
    /// else is done. What is refused is named by its place and the rule that it breaks, never by
    /// its value.
    ///
    /// References are followed inside the schema only: nothing is fetched.
    ///
    /// # Errors
    ///
    /// Refuses what is no JSON Schema, or refers to something outside.
    pub fn with_schema(mut self, schema: &Value) -> Result<Self, Error> {
        let validator = jsonschema::validator_for(schema)
            .map_err(|_| Error::invalid("schema", "is no JSON Schema that stands by itself"))?;
        self.schema = Some(Arc::new(Schema(validator)));
        Ok(self)
    }
}

pub(super) struct Schema(Validator);

impl Schema {
    pub(super) fn check(&self, arguments: &Value) -> Result<(), Error> {
        let mut broken = self.0.iter_errors(arguments);
        let Some(first) = broken.next() else {
            return Ok(());
        };
        let field = match first.instance_path().as_str() {
            "" => "arguments",
            pointer => pointer,
        };
        let mut reason = format!("breaks the rule {}", first.schema_path().as_str());
        let more = broken.take(MORE).count();
        if more > 0 {
            // Writing to a string cannot fail.
            let _ = write!(reason, ", and at least {more} more are broken");
        }
        Err(Error::invalid(field, reason))
    }
}

/// How many further broken rules are counted.
const MORE: usize = 9;
