//! What a model asked for.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use tower_outcome_core::{Error, Intent, IntentRules};

use crate::progress::{Progress, Sink};
use crate::tool::NearMisses;

/// One call of a tool. `Debug` shows no arguments.
///
/// The scope says whose wish it is: see [`tower_outcome_core::intent`].
#[derive(Clone)]
pub struct ToolCall {
    scope: Box<str>,
    tool: Box<str>,
    arguments: Value,
    /// The text of the arguments, which shows what a value has lost.
    text: Option<Box<str>>,
    occurrence: u32,
    near_misses: Option<NearMisses>,
    progress: Option<Sink>,
}

impl ToolCall {
    /// A call of `tool` with `arguments`, for whoever `scope` names.
    #[must_use]
    pub fn new(scope: impl Into<Box<str>>, tool: impl Into<Box<str>>, arguments: Value) -> Self {
        Self {
            scope: scope.into(),
            tool: tool.into(),
            arguments,
            text: None,
            occurrence: 0,
            near_misses: None,
            progress: None,
        }
    }

    /// The same, from the JSON text that a model wrote. A member that stands twice and digits that
    /// no number can hold are seen, and end the call in `failed/invalid_arguments`.
    ///
    /// # Errors
    ///
    /// Refuses what is no JSON.
    pub fn from_json_str(
        scope: impl Into<Box<str>>,
        tool: impl Into<Box<str>>,
        text: &str,
    ) -> Result<Self, Error> {
        let arguments =
            serde_json::from_str(text).map_err(|_| Error::invalid("arguments", "are no JSON"))?;
        let mut call = Self::new(scope, tool, arguments);
        call.text = Some(text.into());
        Ok(call)
    }

    /// The same wish once more, on purpose: set by the host or a person, never by a model. Counts
    /// from 0 to [`MAX_OCCURRENCE`].
    #[must_use]
    pub const fn with_occurrence(mut self, n: u32) -> Self {
        self.occurrence = n;
        self
    }

    /// Makes this call though one like it is unresolved: set by the host or a person who knows that
    /// the two differ, never by a model. See [`NearMisses`].
    #[must_use]
    pub const fn with_near_misses(mut self, near_misses: NearMisses) -> Self {
        self.near_misses = Some(near_misses);
        self
    }

    /// Tells `report` how far the call has come. It runs inside the call: let it hand on what it
    /// gets and return. See [`progress`](crate::progress).
    #[must_use]
    pub fn with_progress(mut self, report: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(report));
        self
    }

    /// The tool's name.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    pub(crate) fn intent(&self, rules: &IntentRules) -> Result<Intent, Error> {
        if self.occurrence > MAX_OCCURRENCE {
            return Err(Error::invalid("occurrence", "is over the limit of 100"));
        }
        let intent = match &self.text {
            Some(text) => rules.intent_from_str(&self.scope, text)?,
            None => rules.intent(&self.scope, &self.arguments)?,
        };
        if intent.tool() != &*self.tool {
            return Err(Error::invalid("tool", "its rules are for another tool"));
        }
        Ok(intent.with_occurrence(self.occurrence))
    }

    pub(crate) const fn arguments(&self) -> &Value {
        &self.arguments
    }

    pub(crate) const fn near_misses(&self) -> Option<NearMisses> {
        self.near_misses
    }

    pub(crate) fn take_progress(&mut self) -> Option<Sink> {
        self.progress.take()
    }

    pub(crate) fn into_arguments(self) -> Value {
        self.arguments
    }
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("scope", &self.scope)
            .field("tool", &self.tool)
            .field("occurrence", &self.occurrence)
            .finish_non_exhaustive()
    }
}

/// The highest occurrence of one wish. Each lower one is looked up before a call is made.
pub const MAX_OCCURRENCE: u32 = 100;
