//! Values that a tool declares secret turn up nowhere.

use serde_json::{Value, json};
use tower_outcome::{Code, Outcome};
use tower_outcome_core::Envelope;
use tower_outcome_core::IntentRules;
use tower_outcome_core::ledger::{Entry, EntryKey, Ledger as _};
use tower_outcome_tools::{Executor, NothingSent, Tool, ToolCall};

use crate::support::{Bench, is};

fn secret() -> Value {
    json!({ "card": "4111-1111", "codes": { "pin": 123_456 }, "order": "A-1" })
}

async fn run(bench: &Bench, tool: Tool) -> (Envelope, Option<Entry>) {
    let call = ToolCall::new("acme", tool.name(), secret());
    let intent = IntentRules::new(tool.name()).intent("acme", &secret());
    let tool = tool.with_redacted("/card").with_redacted("/codes");
    let executor: Executor = bench.executor().with_tool(tool);
    let envelope = executor.run(call).await;
    let entry = bench.ledger.read(&EntryKey::of(&intent.unwrap())).await;
    (envelope, entry.unwrap())
}

fn stored(entry: &Entry) -> String {
    let writes: Vec<_> = entry
        .writes
        .iter()
        .map(|write| format!("{} {}", write.label, write.route))
        .collect();
    let result = String::from_utf8_lossy(entry.result.as_deref().unwrap_or_default());
    format!("{result} {}", writes.join(" "))
}

fn is_clean(text: &str) {
    assert!(!text.contains("4111"), "{text}");
    assert!(!text.contains("123456"), "{text}");
}

#[tokio::test]
async fn an_echo_is_marked_in_the_envelope_and_in_the_row() {
    let bench = Bench::start().await;
    let echo = Tool::opaque_write("pay", |arguments| async move {
        Ok(json!({
            "sent": arguments,
            "note": "charged 4111-1111 for A-1",
            "4111-1111": ["123456"],
        }))
    });
    let (envelope, entry) = run(&bench, echo).await;
    is(&envelope, Outcome::Ok, Code::Done);
    is_clean(&envelope.to_json());
    is_clean(&stored(&entry.unwrap()));
    assert_eq!(envelope.data()["sent"]["card"], "[redacted /card]");
    assert_eq!(envelope.data()["sent"]["codes"]["pin"], "[redacted /codes]");
    assert_eq!(envelope.data()["note"], "charged [redacted /card] for A-1");
    assert_eq!(envelope.data()["sent"]["order"], "A-1");
}

#[tokio::test]
async fn what_a_read_returns_is_marked_too() {
    let bench = Bench::start().await;
    let read = Tool::read("look", |arguments| async move { Ok(arguments) });
    is_clean(&run(&bench, read).await.0.to_json());
    let fails = Tool::read("fail", |arguments: Value| async move {
        let card = arguments["card"].as_str().unwrap_or_default();
        Err(tower_outcome_core::Error::invalid("/card", format!("{card} is no card")).into())
    });
    let (envelope, _) = run(&bench, fails).await;
    is(&envelope, Outcome::Failed, Code::ReadFailed);
    is_clean(&envelope.to_json());
    assert!(envelope.message().contains("is no card"), "{envelope:?}");
}

#[tokio::test]
async fn a_reason_that_names_a_value_is_marked() {
    let bench = Bench::start().await;
    let tool = Tool::opaque_write("pay", |arguments: Value| async move {
        let card = arguments["card"].as_str().unwrap_or_default().to_owned();
        Err(NothingSent::because(format!("{card} has expired")).into())
    });
    let (envelope, _) = run(&bench, tool).await;
    is(&envelope, Outcome::Failed, Code::HandlerError);
    assert!(envelope.message().contains("[redacted /card] has expired"));
}

#[tokio::test]
async fn a_route_that_holds_a_value_is_marked_in_the_row_and_in_partial_results() {
    let bench = Bench::start().await;
    let tool = bench.tool("pay", |writer, arguments| async move {
        writer.write("/cards/4111-1111", &arguments).await?;
        writer.write("/pins/123456", &arguments).await?;
        Err("lost interest".into())
    });
    let (envelope, entry) = run(&bench, tool).await;
    is(&envelope, Outcome::Unknown, Code::Partial);
    is_clean(&envelope.to_json());
    let entry = entry.unwrap();
    is_clean(&stored(&entry));
    assert_eq!(entry.writes.len(), 2);
    assert_eq!(bench.billing.commits_at("/cards/4111-1111"), 1);
}
