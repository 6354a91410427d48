//! An agent loop without a framework: tool calls through an executor, replies through a checker.
//!
//! `cargo run --example own_loop`. The model is scripted. Billing is slower than the deadline, so that
//! the refund is in doubt while the model already claims it; the customer reads what the ledger says.
//! By the next turn the late answer has settled it. Exits with 1 if it is otherwise.

use std::collections::VecDeque;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;
use tower_outcome::{ForWrites as _, MemoryLedger, Stack};
use tower_outcome_core::{BoxError, Envelope, Outcome};
use tower_outcome_testkit::{Billing, Step};
use tower_outcome_tools::{Action, Executor, ReplyChecker, Tool, ToolCall};

#[tokio::main]
async fn main() -> Result<ExitCode, BoxError> {
    let billing = Billing::start_without_keys().await?;
    billing.script([Step::CommitThenHold]);
    let mut agent = Agent {
        model: Model(VecDeque::from(SCRIPT)),
        tools: tools(format!("{}/refunds", billing.url()))?,
        checker: ReplyChecker::new(),
        words: Vec::new(),
    };

    let doubtful = agent.turn("My order 7 arrived broken.").await?;
    billing.release();
    agent.settle(&doubted()?).await;
    let confirmed = agent.turn("So, did it work?").await?;

    println!("billing made {} refunds", billing.commits());
    let as_said = agent.words == ["unknown/timeout_after_send", "already_done/already_done"]
        && doubtful.contains("not confirmed yet")
        && confirmed == CONFIRMED
        && billing.commits() == 1;
    Ok(ExitCode::from(u8::from(!as_said)))
}

struct Agent {
    model: Model,
    tools: Executor,
    checker: ReplyChecker,
    words: Vec<String>,
}

impl Agent {
    /// One turn of the conversation: the model calls tools until it replies.
    async fn turn(&mut self, message: &str) -> Result<String, BoxError> {
        println!("customer: {message}");
        let (mut seen, mut actions) = (vec![message.to_owned()], Vec::new());
        loop {
            let (tool, arguments) = match self.model.next(&seen)? {
                Says::Call(tool, arguments) => (tool, arguments),
                Says::Reply(reply) => return Ok(self.hold_to_ledger(reply, &actions)),
            };
            // From the text that the model wrote: nothing of it is lost in parsing unseen.
            let envelope = match ToolCall::from_json_str("acme/chat-3", tool, arguments) {
                Ok(call) => self.tools.run(call).await,
                Err(error) => Envelope::new(error.code()).with_detail(&error.to_string()),
            };
            let word = format!("{}/{}", envelope.outcome(), envelope.code());
            println!("  {tool} {arguments}: {word}");
            self.words.push(word);
            actions.push(action(tool, arguments, envelope.outcome()));
            seen.push(envelope.to_json());
        }
    }

    /// Waits for the late answer. An agent need not: a call made meanwhile is told that it is not to
    /// be repeated.
    async fn settle(&self, call: &ToolCall) {
        while !self.tools.status(call).await.outcome().is_done() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The reply, or what the ledger says where the reply says something else.
    fn hold_to_ledger(&self, reply: &str, actions: &[Action]) -> String {
        let verdict = self.checker.check(reply, actions);
        for flag in verdict.flags() {
            println!("  flagged, {:?}: {}", flag.reason, flag.sentence);
        }
        let told = if verdict.is_clean() {
            reply.to_owned()
        } else {
            self.checker.summary(actions)
        };
        println!("agent: {told}");
        told
    }
}

fn doubted() -> Result<ToolCall, BoxError> {
    let arguments = r#"{"order":7,"amount":20}"#;
    Ok(ToolCall::from_json_str("acme/chat-3", "refund", arguments)?)
}

fn action(tool: &str, arguments: &str, outcome: Outcome) -> Action {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    Action::new(tool, outcome).with_resource(arguments["order"].to_string())
}

fn tools(url: String) -> Result<Executor, BoxError> {
    let http = reqwest::Client::builder().for_writes().build()?;
    let billing = Stack::new().requiring_context().over(http.clone()).boxed();
    let refund = Tool::write("refund", move |arguments: Value| {
        let request = http.post(&url).body(arguments.to_string()).build();
        let billing = billing.clone();
        async move { Ok(billing.send(request?).await.into_json()?) }
    });
    let refund = refund.key("/order").key("/amount").ignore("/reason");
    Ok(Executor::new(MemoryLedger::default())
        .with_deadline(Duration::from_secs(1))
        .with_tool(refund.with_single_write()))
}

/// Stands for a model: says the next thing of its script, whatever it sees.
struct Model(VecDeque<Says>);

enum Says {
    Call(&'static str, &'static str),
    Reply(&'static str),
}

impl Model {
    fn next(&mut self, _seen: &[String]) -> Result<Says, BoxError> {
        self.0
            .pop_front()
            .ok_or_else(|| "the script has ended".into())
    }
}

const SCRIPT: [Says; 4] = [
    Says::Call(
        "refund",
        r#"{"order":7,"amount":20,"reason":"arrived broken"}"#,
    ),
    Says::Reply("Good news! I have refunded order 7."),
    Says::Call(
        "refund",
        r#"{"amount":20.0,"order":7,"reason":"asked again"}"#,
    ),
    Says::Reply(CONFIRMED),
];

const CONFIRMED: &str = "Yes: order 7 had already been refunded earlier.";
