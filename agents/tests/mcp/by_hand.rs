//! A tool that is written by hand returns an envelope.

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::{ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use serde_json::json;
use tower_outcome_core::{Code, Envelope};
use tower_outcome_mcp::EnvelopeResult;
use tower_outcome_mcp::rmcp::output_schema;

use crate::support::Client;

#[derive(Clone)]
struct Desk {
    #[expect(dead_code, reason = "read by the macros")]
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Desk {
    #[tool(output_schema = output_schema(), annotations(idempotent_hint = true))]
    async fn refund(&self) -> EnvelopeResult {
        Envelope::new(Code::ResponseLost)
            .with_data(json!({ "order": 7 }))
            .into()
    }

    #[tool(output_schema = output_schema())]
    async fn book(&self) -> EnvelopeResult {
        Envelope::new(Code::AlreadyDone).into()
    }
}

#[tool_handler]
impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

#[tokio::test]
async fn an_envelope_is_the_result_of_a_tool_written_by_hand() {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let desk = Desk {
        tool_router: Desk::tool_router(),
    };
    tokio::spawn(async move { desk.serve(ours).await.unwrap().waiting().await });
    let client = Client::over(theirs).await;

    let lost = client.call("refund", json!({})).await;
    assert_eq!(lost.word(), "unknown/response_lost");
    assert!(lost.is_error);
    assert_eq!(lost.envelope.data()["order"], 7);
    let done = client.call("book", json!({})).await;
    assert_eq!(done.word(), "already_done/already_done");
    assert!(!done.is_error);
}
