//! A client that claims its writes, inside a tool or outside of any.

use std::time::Duration;

use serde_json::Value;
use tower_outcome::{Error, ForWrites as _, OutcomeClient, Profile, RequestExt as _, Stack};
use tower_outcome_core::ledger::Ledger;
use tower_outcome_core::{Conclusion, IntentRules};
use tower_outcome_tools::Tool;

use crate::support::Bench;

/// Writes refunds, in a ledger that alone stops a second one.
#[derive(Clone)]
pub(crate) struct Claiming {
    pub(crate) client: OutcomeClient,
    pub(crate) url: String,
    /// What the intent is made by.
    pub(crate) rules: IntentRules,
}

impl Claiming {
    pub(crate) fn new(bench: &Bench, ledger: impl Ledger) -> Self {
        Self::within(bench, ledger, Duration::from_secs(20))
    }

    pub(crate) fn within(bench: &Bench, ledger: impl Ledger, limit: Duration) -> Self {
        let http = reqwest::Client::builder().for_writes().build().unwrap();
        let stack = Stack::new()
            .with_profile(Profile::generic())
            .with_deadline(limit);
        Self {
            client: stack.with_ledger(ledger).over(http).boxed(),
            url: format!("{}/refunds", bench.billing.url()),
            rules: IntentRules::new("refund"),
        }
    }

    pub(crate) async fn refund(&self, arguments: &Value) -> (Conclusion, Result<Value, Error>) {
        let intent = self.rules.intent("acme", arguments).unwrap();
        let request = http::Request::post(&self.url).body(arguments.to_string());
        let request = request.unwrap().with_intent(intent);
        let verdict = self.client.send(request).await;
        (verdict.conclusion(), verdict.into_json())
    }

    pub(crate) fn tool(&self) -> Tool {
        let writer = self.clone();
        Tool::write("refund", move |arguments| {
            let writer = writer.clone();
            async move { Ok(writer.refund(&arguments).await.1?) }
        })
    }
}
