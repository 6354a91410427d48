//! Rounds of input before a call.

use rmcp::model::{
    CallToolResponse, ElicitRequest, ElicitRequestParams, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, ProtocolVersion,
};
use rmcp::service::ClientLifecycleMode;
use serde_json::json;
use tower_outcome_core::MemoryLedger;
use tower_outcome_mcp::rmcp::{Ask, ExecutorServer, Round};
use tower_outcome_testkit::Billing;

use crate::support::{Client, call, in_memory, order};

/// A server that wants a person to confirm each refund.
fn server(billing: &Billing) -> ExecutorServer {
    let executor = tower_outcome_agents::executor(MemoryLedger::default());
    let [refund, _] = tower_outcome_agents::tools(&billing.url()).unwrap();
    ExecutorServer::new(executor, |_| Ok("acme".into())).with_tool_asking(refund, confirm)
}

async fn confirm(round: Round) -> Result<Ask, rmcp::ErrorData> {
    let Some(answers) = round.input_responses else {
        let form = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: "Refund this order?".to_owned(),
            requested_schema: serde_json::from_value(json!({
                "type": "object",
                "properties": { "note": { "type": "string" } },
            }))
            .unwrap(),
        };
        let question = InputRequest::Elicitation(ElicitRequest::new(form));
        let questions = InputRequests::from([("sure".to_owned(), question)]);
        return Ok(Ask::Input(InputRequiredResult::new(
            Some(questions),
            Some("round-1".to_owned()),
        )));
    };
    Ok(match answers["sure"]["action"].as_str() {
        Some("accept") => Ask::Call(round.arguments),
        _ => Ask::Declined,
    })
}

async fn connect(server: &ExecutorServer) -> Client {
    let mode = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    Client::with_lifecycle(in_memory(server), mode).await
}

/// Makes both rounds, as a host does, and gives the person's answer.
async fn refund(client: &Client, action: &str, note: &str) -> String {
    let params = call("refund", order(7));
    let asked = client.running.call_tool_once(params.clone()).await.unwrap();
    let CallToolResponse::InputRequired(asked) = asked else {
        panic!("not asked: {asked:?}");
    };
    let answer = json!({ "action": action, "content": { "note": note } });
    let params = params
        .with_input_responses(InputResponses::from([("sure".to_owned(), answer)]))
        .with_request_state(asked.request_state.unwrap());
    match client.running.call_tool_once(params).await.unwrap() {
        CallToolResponse::Complete(result) => client.read("refund", &result).word(),
        other => panic!("not answered: {other:?}"),
    }
}

#[tokio::test]
async fn nothing_of_a_round_counts_for_the_key() {
    let billing = Billing::start_without_keys().await.unwrap();
    let client = connect(&server(&billing)).await;
    assert_eq!(refund(&client, "accept", "yes").await, "ok/done");
    assert_eq!(
        refund(&client, "accept", "of course").await,
        "already_done/already_done"
    );
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_round_that_asks_or_is_declined_claims_nothing() {
    let billing = Billing::start_without_keys().await.unwrap();
    let server = server(&billing);
    let client = connect(&server).await;
    assert_eq!(
        refund(&client, "decline", "").await,
        "failed/cancelled_before_send"
    );
    let wish = tower_outcome_tools::ToolCall::new("acme", "refund", order(7));
    let status = server.executor().status(&wish).await;
    assert_eq!(status.code().as_str(), "not_sent");
    assert!(billing.received().is_empty());
    assert_eq!(refund(&client, "accept", "").await, "ok/done");
}
