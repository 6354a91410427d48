//! What clients are told about a tool.
//!
//! MCP's annotations are hints that hosts act upon: they ask people before a destructive call, and
//! repeat an idempotent one. The hints of a [`ServedTool`] say what the tool and the executor keep:
//!
//! | hint | |
//! |---|---|
//! | `readOnlyHint` | set for [`ServedTool::read`], whose handler cannot write through our clients |
//! | `destructiveHint` | set for what writes, unless it is declared to be [additive](ServedTool::additive) |
//! | `idempotentHint` | set: the same call again changes nothing more, as long as the ledger remembers the first one |
//! | `openWorldHint` | left to its default, set; not for `outcome_status`, which asks the ledger alone |
//!
//! An idempotent hint ends where the ledger's memory does: results are kept for 24 hours, the fact
//! that a call was done for 400 days, and a ledger in memory for as long as its process.
//!
//! ```
//! use serde_json::json;
//! use tower_outcome_mcp::ServedTool;
//! use tower_outcome_tools::Tool;
//!
//! let refund = Tool::write("refund", |_| async { Ok(json!({})) }).ignore("/reason");
//! let refund = ServedTool::new(refund)
//!     .with_description("Refunds an order.")
//!     .additive()
//!     .with_input_schema(json!({
//!         "type": "object",
//!         "properties": {
//!             "order": { "type": "integer" },
//!             "reason": { "type": "string" },
//!         },
//!         "required": ["order"],
//!     }))?;
//! assert!(!refund.is_read_only());
//! # Ok::<(), tower_outcome_core::Error>(())
//! ```

use std::future::Future;

use serde_json::{Map, Value, json};
use tower_outcome_core::{BoxError, Error};
use tower_outcome_tools::Tool;

/// A tool with what clients are told about it.
///
/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct ServedTool {
    tool: Tool,
    title: Option<Box<str>>,
    description: Box<str>,
    input_schema: Map<String, Value>,
    additive: bool,
    open_world: bool,
    read_only: bool,
}

impl ServedTool {
    /// Serves a tool that may write, and what was there before may be gone after it.
    ///
    /// Until a schema is set, clients are told that it takes any object.
    #[must_use]
    pub fn new(tool: Tool) -> Self {
        Self {
            tool,
            title: None,
            description: Box::default(),
            input_schema: object(json!({ "type": "object" })),
            additive: false,
            open_world: true,
            read_only: false,
        }
    }

    /// Serves a tool that only reads: [`Tool::read`] of `handler`.
    #[must_use]
    pub fn read<H, F>(name: impl Into<Box<str>>, handler: H) -> Self
    where
        H: Fn(Value) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Value, BoxError>> + Send + 'static,
    {
        Self {
            read_only: true,
            ..Self::new(Tool::read(name, handler))
        }
    }

    /// Serves [`Tool::outcome_status`]: the honest way for a model to learn what became of a call.
    #[must_use]
    pub fn outcome_status() -> Self {
        Self {
            description: STATUS.into(),
            input_schema: status_schema(),
            open_world: false,
            read_only: true,
            ..Self::new(Tool::outcome_status())
        }
    }

    /// Says what the tool is for; models read it.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<Box<str>>) -> Self {
        self.description = description.into();
        self
    }

    /// A name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<Box<str>>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says what the tool takes, and refuses everything else before anything is sent.
    ///
    /// # Errors
    ///
    /// Refuses what is no JSON Schema of an object, or refers to something outside.
    pub fn with_input_schema(mut self, schema: Value) -> Result<Self, Error> {
        self.tool = self.tool.with_schema(&schema)?;
        match schema {
            Value::Object(schema) if schema.get("type") == Some(&json!("object")) => {
                self.input_schema = schema;
                Ok(self)
            }
            _ => Err(Error::invalid("schema", "is not of an object")),
        }
    }

    /// Promises that the tool only adds to what there is: a booking, a message.
    #[must_use]
    pub const fn additive(mut self) -> Self {
        self.additive = true;
        self
    }

    /// The name that calls use.
    #[must_use]
    pub fn name(&self) -> &str {
        self.tool.name()
    }

    /// The name for people, if there is one.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// What the tool is for.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// What the tool takes.
    #[must_use]
    pub const fn input_schema(&self) -> &Map<String, Value> {
        &self.input_schema
    }

    /// MCP's `readOnlyHint`.
    #[must_use]
    pub const fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// MCP's `destructiveHint`.
    #[must_use]
    pub const fn is_destructive(&self) -> bool {
        !self.read_only && !self.additive
    }

    /// MCP's `openWorldHint`.
    #[must_use]
    pub const fn is_open_world(&self) -> bool {
        self.open_world
    }

    /// The tool, for an executor.
    #[must_use]
    pub fn into_tool(self) -> Tool {
        self.tool
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn status_schema() -> Map<String, Value> {
    object(json!({
        "type": "object",
        "properties": {
            "key": {
                "description": "The key that the earlier call's result shows.",
                "type": "string",
            },
            "tool": {
                "description": "The earlier call's tool.",
                "type": "string",
            },
            "arguments": {
                "description": "The earlier call's arguments.",
                "type": "object",
            },
        },
        "additionalProperties": false,
    }))
}

const STATUS: &str = "Tells what became of an earlier call, and changes nothing. Give either the \
    key of its result, or its tool and arguments. Ask here instead of making a call again.";
