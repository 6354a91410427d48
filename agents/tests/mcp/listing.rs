//! What a host is told about the tools.

use serde_json::json;
use tower_outcome_core::MemoryLedger;
use tower_outcome_testkit::Billing;

use crate::support::{connect, server};

#[tokio::test]
async fn each_tool_comes_with_schemas_and_hints_that_hold() {
    let billing = Billing::start_without_keys().await.unwrap();
    let client = connect(&server(&billing, MemoryLedger::default())).await;
    let hints = |name: &str| {
        let hints = client.tool(name).annotations.clone().unwrap();
        serde_json::to_value(hints).unwrap()
    };

    let writes = json!({
        "readOnlyHint": false, "destructiveHint": true, "idempotentHint": true,
        "openWorldHint": true,
    });
    assert_eq!(hints("refund"), writes);
    let adds = json!({
        "readOnlyHint": false, "destructiveHint": false, "idempotentHint": true,
        "openWorldHint": true,
    });
    assert_eq!(hints("book"), adds);
    let reads = json!({ "readOnlyHint": true, "openWorldHint": false });
    assert_eq!(hints("outcome_status"), reads);

    let refund = client.tool("refund");
    assert_eq!(refund.input_schema["required"], json!(["order", "amount"]));
    assert_eq!(refund.output_schema.as_ref().unwrap()["type"], "object");
    assert!(refund.description.as_ref().unwrap().starts_with("Refunds"));
}

#[tokio::test]
async fn a_server_tells_the_model_what_the_words_mean() {
    let billing = Billing::start_without_keys().await.unwrap();
    let client = connect(&server(&billing, MemoryLedger::default())).await;
    let info = client.running.peer_info().unwrap();
    let instructions = info.instructions.as_deref().unwrap();
    for word in ["ok", "already_done", "failed", "unknown", "skipped"] {
        assert!(instructions.contains(&format!("{word}: ")), "{word}");
    }
}
