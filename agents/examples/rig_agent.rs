//! A rig agent whose refund tool ends in envelopes, and whose reply is held to them.
//!
//! `cargo run -p tower-outcome-agents --example rig_agent`. The model is scripted; nothing leaves
//! this machine. Billing makes the refund and closes the connection without an answer. The model
//! calls again in other words, which sends nothing, and then tells the customer that it is done. A
//! hook flags the claim, and the model says what is known instead. Exits with 1 if it is otherwise.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rig_agent::agent::{AgentHook, HookContext, ModelTurnAction, ModelTurnFinished};
use rig_agent::{AgentBuilder, tool::DynamicTool};
use rig_core::message::{AssistantContent, ToolName};
use rig_core::test_utils::{MockCompletionModel, MockTurn};
use rig_core::tool::{ToolErrorKind, ToolExecutionError, ToolOutput};
use serde_json::{Value, json};
use tower_outcome_core::{BoxError, Envelope, MemoryLedger, Outcome, Retry};
use tower_outcome_mcp::ServedTool;
use tower_outcome_testkit::{Billing, Step};
use tower_outcome_tools::{Action, Executor, ReplyChecker, ToolCall};

#[tokio::main]
async fn main() -> Result<ExitCode, BoxError> {
    let billing = Billing::start_without_keys().await?;
    billing.script([Step::CommitThenClose]);
    let [refund, _] = tower_outcome_agents::tools(&billing.url())?;
    let desk = Arc::new(Desk::default());
    let tool = rig_tool(refund, Arc::clone(&desk))?;

    let order = |amount: Value, reason| json!({ "order": 7, "amount": amount, "reason": reason });
    let model = MockCompletionModel::from_turns([
        MockTurn::tool_call("call_1", "refund", order(json!(20), "arrived broken")),
        MockTurn::tool_call(
            "call_2",
            "refund",
            order(json!(20.0), "it was broken on arrival"),
        ),
        MockTurn::text(CLAIM),
        MockTurn::text(HONEST),
    ]);
    let agent = AgentBuilder::new(model.erase())
        .dynamic_tool(tool)
        .add_hook(HoldToLedger::new(Arc::clone(&desk)))
        .build();
    let reply = agent
        .prompt("My order 7 arrived broken.")
        .max_turns(8)
        .await?;

    let told = desk.told();
    for call in &told {
        println!(
            "the model is told: {}/{}, retryable {:?}",
            call.outcome, call.code, call.retryable
        );
    }
    println!("the customer reads: {reply}");
    println!(
        "billing got {} requests, made {} refunds",
        billing.received().len(),
        billing.commits()
    );
    let codes: Vec<_> = told.iter().map(|call| call.code.as_str()).collect();
    let as_said = codes == ["response_lost", "still_confirming"]
        && told.iter().all(|call| call.retryable == Some(false))
        && reply.to_string() == HONEST
        && billing.commits() == 1
        && billing.received().len() == 1;
    Ok(ExitCode::from(u8::from(!as_said)))
}

/// An envelope as rig's tools return it.
///
/// rig takes a timeout and a network error for something to retry. Behind a write neither is: what
/// may be repeated stands in the envelope alone.
fn to_rig(envelope: &Envelope) -> Result<ToolOutput, ToolExecutionError> {
    let output = ToolOutput::json(json!(envelope));
    match envelope.outcome() {
        Outcome::AlreadyDone | Outcome::Ok | Outcome::Skipped => Ok(output),
        Outcome::Failed | Outcome::Unknown => {
            let error = ToolExecutionError::new(ToolErrorKind::Other, envelope.message());
            Err(error
                .with_code(envelope.code().as_str())
                .with_retryable(envelope.retry() == Retry::Yes)
                .with_model_output(output))
        }
    }
}

/// A served tool as one of rig's. Dropping rig's future is the caller's drop.
fn rig_tool(served: ServedTool, desk: Arc<Desk>) -> Result<DynamicTool, BoxError> {
    let name = ToolName::new(served.name())?;
    let (description, schema) = (
        served.description().to_owned(),
        served.input_schema().clone(),
    );
    let tool = served.into_tool();
    let tool_name: Box<str> = tool.name().into();
    let executor = Executor::new(MemoryLedger::default()).with_tool(tool);
    Ok(DynamicTool::new(
        name,
        description,
        schema.into(),
        move |arguments| {
            let (executor, desk) = (executor.clone(), Arc::clone(&desk));
            let call = ToolCall::new("acme/chat-3", tool_name.clone(), arguments.clone());
            Box::pin(async move {
                let envelope = executor.run(call).await;
                let result = to_rig(&envelope);
                desk.note(&arguments, &envelope, result.as_ref().err());
                result
            })
        },
    ))
}

/// What became of the calls of this conversation.
#[derive(Default)]
struct Desk {
    calls: Mutex<Vec<Told>>,
}

#[derive(Clone)]
struct Told {
    order: String,
    outcome: Outcome,
    code: String,
    retryable: Option<bool>,
}

impl Desk {
    fn note(&self, arguments: &Value, envelope: &Envelope, error: Option<&ToolExecutionError>) {
        let told = Told {
            order: arguments["order"].to_string(),
            outcome: envelope.outcome(),
            code: envelope.code().to_string(),
            retryable: error.and_then(ToolExecutionError::retryable),
        };
        self.calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(told);
    }

    fn told(&self) -> Vec<Told> {
        self.calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// For each order its last word.
    fn actions(&self) -> Vec<Action> {
        let mut actions: Vec<Action> = Vec::new();
        for told in self.told() {
            actions.retain(|action| !action.resource_ids.contains(&told.order));
            actions.push(Action::new("refund", told.outcome).with_resource(told.order));
        }
        actions
    }
}

/// Lets no reply pass that says more than the ledger: the model gets one chance to say it better,
/// then the customer reads what the ledger says.
struct HoldToLedger {
    checker: ReplyChecker,
    desk: Arc<Desk>,
    asked_again: AtomicBool,
}

impl HoldToLedger {
    fn new(desk: Arc<Desk>) -> Self {
        Self {
            checker: ReplyChecker::new(),
            desk,
            asked_again: AtomicBool::new(false),
        }
    }
}

impl AgentHook for HoldToLedger {
    async fn on_model_turn_finished(
        &self,
        _: &HookContext,
        turn: ModelTurnFinished<'_>,
    ) -> ModelTurnAction {
        let mut reply = String::new();
        for content in turn.content {
            match content {
                AssistantContent::Text(text) => reply.push_str(&text.text),
                // Not a reply yet.
                AssistantContent::ToolCall(_) => return ModelTurnAction::continue_run(),
                _ => {}
            }
        }
        let actions = self.desk.actions();
        let verdict = self.checker.check(&reply, &actions);
        if verdict.is_clean() {
            return ModelTurnAction::continue_run();
        }
        for flag in verdict.flags() {
            println!("the checker flags {:?}: {}", flag.reason, flag.sentence);
        }
        let summary = self.checker.summary(&actions);
        if self.asked_again.swap(true, Ordering::Relaxed) {
            return ModelTurnAction::stop(summary);
        }
        ModelTurnAction::retry_with_feedback(format!(
            "Your reply says more than is known. Say no more than this: {summary}"
        ))
    }
}

const CLAIM: &str = "Good news! I have refunded order 7.";
const HONEST: &str = "The refund of order 7 is not confirmed yet. We are checking it.";
