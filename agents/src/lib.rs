//! What the examples and tests of agent frameworks share: two tools over one billing service.

use serde_json::{Value, json};
use tower_outcome::{ForWrites as _, Profile, Stack};
use tower_outcome_core::rule::{decimal, id};
use tower_outcome_core::{BoxError, IntentRules, Ledger};
use tower_outcome_mcp::ServedTool;
use tower_outcome_tools::{Executor, Progress, Tool};

/// The tools `refund` and `book`, which write to the billing service at `url`.
///
/// # Errors
///
/// There is no TLS, or a schema is wrong.
pub fn tools(url: &str) -> Result<[ServedTool; 2], BoxError> {
    let http = reqwest::Client::builder().for_writes().build()?;
    // Billing is taken for one that honours no keys: what is told rests on the ledger alone.
    let billing = Stack::new()
        .with_profile(Profile::default())
        .requiring_context()
        .over(http.clone())
        .boxed();
    let write = |name: &'static str, url: String| {
        let (http, billing) = (http.clone(), billing.clone());
        Tool::write(name, move |arguments: Value| {
            let request = http.post(&url).body(arguments.to_string()).build();
            let billing = billing.clone();
            async move {
                Progress::of(0.0, 1.0).with_message("sending").report();
                let answer = billing.send(request?).await.into_json()?;
                Progress::of(1.0, 1.0).with_message("answered").report();
                Ok(answer)
            }
        })
        .with_single_write()
    };

    let refund = write("refund", format!("{url}/refunds")).with_rules(
        IntentRules::new("refund")
            .key("/order", id().trim())
            .key("/amount", decimal(2))
            .ignore("/reason"),
    );
    let refund = ServedTool::new(refund)
        .with_description("Refunds an order, in full or in part.")
        .with_input_schema(json!({
            "type": "object",
            "properties": {
                "order": { "type": "integer" },
                "amount": { "type": "number", "exclusiveMinimum": 0 },
                "reason": { "type": "string" },
            },
            "required": ["order", "amount"],
            "additionalProperties": false,
        }))?;

    let book = ServedTool::new(write("book", format!("{url}/bookings")))
        .with_description("Books a room for a night.")
        .additive()
        .with_input_schema(json!({
            "type": "object",
            "properties": {
                "room": { "type": "integer" },
                "night": { "type": "string", "format": "date" },
            },
            "required": ["room", "night"],
            "additionalProperties": false,
        }))?;
    Ok([refund, book])
}

/// An executor on `ledger`, without tools.
#[must_use]
pub fn executor(ledger: impl Ledger) -> Executor {
    Executor::new(ledger).with_concurrency(16)
}
