//! What really became of the tool calls that a reply speaks of.

use serde::{Deserialize, Serialize};
use tower_outcome_core::Outcome;

/// One entry of the ledger: a call of this turn, or an unresolved one of the conversation.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Action {
    /// The name of the tool.
    pub tool: String,
    /// What the call acted on: ids of orders, users, messages.
    #[serde(default)]
    pub resource_ids: Vec<String>,
    /// Amounts of money that the call moved, in decimal notation such as `1234.50`.
    #[serde(default)]
    pub amounts: Vec<String>,
    /// The word that the call ended in.
    pub outcome: Outcome,
}

impl Action {
    /// A call of `tool` that ended in `outcome`.
    #[must_use]
    pub fn new(tool: impl Into<String>, outcome: Outcome) -> Self {
        Self {
            tool: tool.into(),
            resource_ids: Vec::new(),
            amounts: Vec::new(),
            outcome,
        }
    }

    /// Adds an id that replies may call the action by.
    #[must_use]
    pub fn with_resource(mut self, id: impl Into<String>) -> Self {
        self.resource_ids.push(id.into());
        self
    }

    /// Adds an amount that replies may name.
    #[must_use]
    pub fn with_amount(mut self, amount: impl Into<String>) -> Self {
        self.amounts.push(amount.into());
        self
    }
}
