//! The JSON that every tool call ends in.
//!
//! ```
//! use tower_outcome_core::{Code, Envelope};
//!
//! let envelope = Envelope::new(Code::TimeoutAfterSend);
//! let json: serde_json::Value = serde_json::from_str(&envelope.to_json())?;
//! assert_eq!(json["outcome"], "unknown");
//! assert_eq!(json["code"], "timeout_after_send");
//! assert_eq!(json["retry"], "no");
//! # Ok::<(), serde_json::Error>(())
//! ```

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Code, Conclusion, Error, IdempotencyKey, Landing, Outcome, Retry};

/// One call's end, for a model or a program. The names and order of its members are stable.
///
/// Reading one back refuses a word or an advice that is not its code's.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(try_from = "Unchecked")]
pub struct Envelope {
    outcome: Outcome,
    code: Code,
    message: String,
    data: Value,
    retry: Retry,
    #[serde(skip_serializing_if = "Option::is_none")]
    landing: Option<Landing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deduplicated_until: Option<u64>,
}

impl Envelope {
    /// Wraps the end of a call, without data.
    #[must_use]
    pub fn new(conclusion: impl Into<Conclusion>) -> Self {
        let conclusion = conclusion.into();
        Self {
            outcome: conclusion.outcome(),
            code: conclusion.code(),
            message: conclusion.message().to_owned(),
            data: Value::Null,
            retry: conclusion.retry(),
            landing: conclusion.landing(),
            key: None,
            deduplicated_until: None,
        }
    }

    /// Adds what the call returned.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = data;
        self
    }

    /// Adds a sentence to the message: the field that was refused, say.
    #[must_use]
    pub fn with_detail(mut self, detail: &str) -> Self {
        self.message.push(' ');
        self.message.push_str(detail);
        self
    }

    /// Adds the key, shortened: enough to find the row, too little to use it.
    #[must_use]
    pub fn with_key(mut self, key: &IdempotencyKey) -> Self {
        self.key = Some(key.short());
        self
    }

    /// Adds until when identical calls are recognised, in seconds since the Unix epoch.
    #[must_use]
    pub const fn with_deduplicated_until(mut self, seconds: u64) -> Self {
        self.deduplicated_until = Some(seconds);
        self
    }

    /// The word.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Why the call ended in its word.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    /// What a model or a person is told.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What the call returned, `null` if nothing.
    #[must_use]
    pub const fn data(&self) -> &Value {
        &self.data
    }

    /// Whether the same call may be made again.
    #[must_use]
    pub const fn retry(&self) -> Retry {
        self.retry
    }

    /// Whether an `unknown` may still land; `None` for the other words.
    #[must_use]
    pub const fn landing(&self) -> Option<Landing> {
        self.landing
    }

    /// The key, shortened.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Until when identical calls are recognised, in seconds since the Unix epoch.
    #[must_use]
    pub const fn deduplicated_until(&self) -> Option<u64> {
        self.deduplicated_until
    }

    /// The envelope as one line of JSON.
    ///
    /// # Panics
    ///
    /// Never: strings and a JSON value always serialise.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings and a JSON value always serialise")
    }
}

/// An envelope as somebody wrote it.
#[derive(Deserialize)]
struct Unchecked {
    outcome: Outcome,
    code: Code,
    message: String,
    #[serde(default)]
    data: Value,
    retry: Retry,
    landing: Option<Landing>,
    key: Option<String>,
    deduplicated_until: Option<u64>,
}

impl TryFrom<Unchecked> for Envelope {
    type Error = Error;

    fn try_from(read: Unchecked) -> Result<Self, Error> {
        let code = Conclusion::new(read.code);
        if read.outcome != code.outcome() {
            return Err(Error::invalid("outcome", "is not the word of the code"));
        }
        if ![code.retry(), code.for_this_call().retry()].contains(&read.retry) {
            return Err(Error::invalid("retry", "is not the advice of the code"));
        }
        Ok(Self {
            outcome: read.outcome,
            code: read.code,
            message: read.message,
            data: read.data,
            retry: read.retry,
            landing: read.landing,
            key: read.key,
            deduplicated_until: read.deduplicated_until,
        })
    }
}
