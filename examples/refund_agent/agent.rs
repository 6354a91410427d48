//! The refund with tower-outcome: the same tool, over a stack of layers, run by an executor.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tower_outcome::{BoxError, Envelope, ForWrites as _, KeyedRetry, Profile, Stack};
use tower_outcome_core::IntentRules;
use tower_outcome_core::ledger::{Entry, EntryKey, Ledger, WriteRecord};
use tower_outcome_core::rule::{decimal, id};
use tower_outcome_testkit::Billing;
use tower_outcome_tools::reconciler::LookUpFuture;
use tower_outcome_tools::{Executor, Found, LookUp, Reconciler, Tool, ToolCall};

use crate::story::{Failure, Ours, World};

/// A support agent whose only tool refunds an order.
#[derive(Clone)]
pub(crate) struct Agent {
    tools: Executor,
    world: World,
}

/// Everything that a story may want otherwise.
pub(crate) struct Setting {
    pub(crate) concurrency: usize,
    pub(crate) deadline: Duration,
    pub(crate) lease: Duration,
    pub(crate) patience: Duration,
    pub(crate) profile: Profile,
    pub(crate) retry: KeyedRetry,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            concurrency: 16,
            deadline: Duration::from_millis(400),
            lease: Duration::from_secs(30),
            patience: Duration::from_secs(5),
            profile: Profile::idempotency_key().with_replay_marker("idempotent-replayed"),
            retry: KeyedRetry::new(3),
        }
    }
}

impl Setting {
    /// For stories in which no deadline is to pass.
    pub(crate) fn in_no_hurry(self) -> Self {
        Self {
            deadline: Duration::from_secs(20),
            ..self
        }
    }
}

impl Agent {
    pub(crate) fn new(world: &World, url: &str, setting: Setting) -> Result<Self, Failure> {
        let http = reqwest::Client::builder().for_writes().build()?;
        let billing = Stack::new()
            .with_deadline(Duration::from_secs(10))
            .with_profile(setting.profile)
            .with_retry(setting.retry)
            .requiring_context()
            .over(http.clone())
            .boxed();
        let url = format!("{url}/refunds");
        let refund = Tool::write("refund", move |arguments: Value| {
            let request = http.post(&url).body(arguments.to_string()).build();
            let billing = billing.clone();
            async move { Ok::<_, BoxError>(billing.send(request?).await.into_json()?) }
        });
        let tools = Executor::new(Arc::clone(&world.ledger))
            .with_concurrency(setting.concurrency)
            .with_deadline(setting.deadline)
            .with_lease(setting.lease)
            .with_patience(setting.patience)
            .with_tool(refund.with_rules(rules()).with_single_write());
        Ok(Self {
            tools,
            world: world.clone(),
        })
    }

    /// What the model asks for, and what it is told.
    pub(crate) async fn refund(&self, arguments: Value) -> Envelope {
        let call = ToolCall::new(self.world.scope.as_str(), "refund", arguments);
        self.tools.run(call).await
    }

    /// The same, taken down in the story.
    pub(crate) async fn refund_in(&self, story: &mut Ours, arguments: Value) -> Envelope {
        story.note(format!("the model calls refund {arguments}"));
        let envelope = self.refund(arguments).await;
        story.take(envelope.clone());
        envelope
    }

    /// Looks everything in doubt up at billing, once.
    pub(crate) async fn reconcile(&self, story: &mut Ours, url: &str) -> Result<(), Failure> {
        let look_up = AskBilling {
            http: reqwest::Client::builder().build()?,
            url: format!("{url}/refunds"),
            scope: self.world.scope.clone(),
        };
        let report = Reconciler::new(Arc::clone(&self.world.ledger), look_up)
            .pass()
            .await?;
        let confirmed = report.confirmed.len();
        story.note(format!(
            "the reconciler asks billing: {confirmed} confirmed"
        ));
        story.expect(confirmed == 1, "the reconciler did not confirm the refund");
        Ok(())
    }
}

/// The free-text reason is no part of the wish; 20 and 20.0 are the same amount.
fn rules() -> IntentRules {
    IntentRules::new("refund")
        .key("/order", id().trim())
        .key("/amount", decimal(2))
        .ignore("/reason")
}

/// The refund that all stories are about.
pub(crate) fn order_7() -> Value {
    json!({ "order": 7, "amount": 20, "reason": "arrived broken" })
}

/// Closes a story's books: what the server did, and the row that is left.
pub(crate) async fn close(
    mut story: Ours,
    world: &World,
    billing: &Billing,
) -> Result<Ours, Failure> {
    story.commits = billing.commits();
    story.note("billing:");
    let events = billing.timeline();
    story
        .timeline
        .extend(events.iter().map(ToString::to_string));
    if let Ok(intent) = rules().intent(&world.scope, &order_7()) {
        let key = EntryKey::of(&intent);
        let entry = world.ledger.read(&key).await?;
        story.note("the ledger's row:");
        story.note(entry.as_ref().map_or_else(|| "  none".to_owned(), row));
        story.row = Some(key);
    }
    Ok(story)
}

fn row(entry: &Entry) -> String {
    format!(
        "  key {}.. state {} code {} epoch {} generation {} may have left {}",
        entry.key.key.short(),
        entry.state.as_str(),
        entry.code.map_or("-", tower_outcome_core::Code::as_str),
        entry.epoch,
        entry.generation,
        entry.maybe_sent,
    )
}

/// Finds a refund by a token of ours that its request carried: the reference, or else the key.
struct AskBilling {
    http: reqwest::Client,
    url: String,
    scope: String,
}

impl LookUp for AskBilling {
    fn find<'a>(&'a self, entry: &'a Entry, write: &'a WriteRecord) -> LookUpFuture<'a> {
        Box::pin(async move {
            if *entry.key.scope != *self.scope {
                return Ok(Found::Inconclusive);
            }
            let (name, token) = match &write.reference {
                Some(reference) => ("reference", reference),
                None => ("key", &write.wire_key),
            };
            let url = format!("{}?{name}={token}", self.url);
            let text = self.http.get(url).send().await?.text().await?;
            let answer: Value = serde_json::from_str(&text)?;
            Ok(match answer["found"].get(0) {
                Some(refund) => Found::Done(refund.clone()),
                None => Found::NotFound,
            })
        })
    }
}
