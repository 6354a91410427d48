//! An envelope as the result of a tool.
//!
//! The same JSON goes out as structured content and as text, so that a host that reads only one of
//! the two misses nothing. [`schema`] is the output schema to advertise with it.
//!
//! ```
//! use tower_outcome_core::{Code, Envelope};
//! use tower_outcome_mcp::EnvelopeResult;
//!
//! let result = EnvelopeResult::new(Envelope::new(Code::TimeoutAfterSend));
//! assert!(result.is_error());
//! assert_eq!(result.structured()["outcome"], "unknown");
//! assert_eq!(result.structured()["retry"], "no");
//! ```

use serde_json::{Value, json};
use tower_outcome_core::{Code, Envelope, Outcome};

use crate::ErrorFlag;

/// An envelope on its way to an MCP client.
///
/// Return it from a `#[tool]` of `rmcp` as it is: inside `Ok` it stays what it is, inside `Err` or
/// `Json` the framework would set its own `isError`. See the [module docs](self).
#[derive(Clone, Debug, PartialEq)]
pub struct EnvelopeResult {
    envelope: Envelope,
    flag: ErrorFlag,
}

impl EnvelopeResult {
    /// A result whose `isError` is that of [`ErrorFlag::new`].
    #[must_use]
    pub const fn new(envelope: Envelope) -> Self {
        Self {
            envelope,
            flag: ErrorFlag::new(),
        }
    }

    /// Sets `isError` by `flag`.
    #[must_use]
    pub const fn with_error_flag(mut self, flag: ErrorFlag) -> Self {
        self.flag = flag;
        self
    }

    /// The envelope.
    #[must_use]
    pub const fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// MCP's `isError`.
    #[must_use]
    pub const fn is_error(&self) -> bool {
        self.flag.is_set_for(&self.envelope)
    }

    /// MCP's `structuredContent`.
    ///
    /// # Panics
    ///
    /// Never: strings and a JSON value always serialise.
    #[must_use]
    pub fn structured(&self) -> Value {
        serde_json::to_value(&self.envelope).expect("strings and a JSON value always serialise")
    }

    /// The same as one line of text, for MCP's `content`.
    #[must_use]
    pub fn text(&self) -> String {
        self.envelope.to_json()
    }
}

impl From<Envelope> for EnvelopeResult {
    fn from(envelope: Envelope) -> Self {
        Self::new(envelope)
    }
}

/// The JSON Schema (2020-12) of every result, to advertise as MCP's `outputSchema`.
///
/// `data` is whatever the tool returned, and members that come later are allowed.
#[must_use]
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "outcome": {
                "description": "What became of the call. `failed` is a promise that nothing \
                    changed; an `unknown` may have happened and must not be repeated.",
                "enum": OUTCOMES.map(Outcome::as_str),
            },
            "code": {
                "description": "Why the call ended in its outcome.",
                "enum": Code::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>(),
            },
            "message": {
                "description": "What is known, and what to do now.",
                "type": "string",
            },
            "data": {
                "description": "What the call returned, or the stored result of an earlier one; \
                    null if nothing.",
            },
            "retry": {
                "description": "Whether the same call may be made again.",
                "enum": ["later", "no", "yes"],
            },
            "landing": {
                "description": "Whether an `unknown` may still happen.",
                "enum": ["in_flight", "settled"],
            },
            "key": {
                "description": "Names this call when asking for its status.",
                "type": "string",
            },
            "deduplicated_until": {
                "description": "Until when identical calls are recognised, in seconds since the \
                    Unix epoch.",
                "type": "integer",
                "minimum": 0,
            },
        },
        "required": ["outcome", "code", "message", "data", "retry"],
    })
}

const OUTCOMES: [Outcome; 5] = [
    Outcome::AlreadyDone,
    Outcome::Failed,
    Outcome::Ok,
    Outcome::Skipped,
    Outcome::Unknown,
];
