//! What every test needs: a host, a server, and a billing service that counts.

use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientConfig, ClientRequest,
    ProgressNotificationParam, RequestMetaObject, ServerResult, Tool,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, NotificationContext, PeerRequestOptions,
    RequestHandle, RoleClient, RunningService,
};
use rmcp::transport::IntoTransport;
use rmcp::{ClientHandler, ServiceExt as _};
use serde_json::{Value, json};
use tower_outcome_core::{Envelope, Ledger};
use tower_outcome_mcp::ServedTool;
use tower_outcome_mcp::rmcp::ExecutorServer;
use tower_outcome_testkit::Billing;

/// An MCP host that keeps the reports it gets.
#[derive(Clone, Default)]
pub(crate) struct Host {
    reports: Arc<Mutex<Vec<ProgressNotificationParam>>>,
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::default()
    }

    async fn on_progress(
        &self,
        report: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.reports.lock().unwrap().push(report);
    }
}

/// A host's connection to a server.
pub(crate) struct Client {
    pub(crate) running: RunningService<RoleClient, Host>,
    tools: Vec<Tool>,
}

/// What a model is told of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) envelope: Envelope,
    pub(crate) is_error: bool,
}

impl Told {
    /// `outcome/code`.
    pub(crate) fn word(&self) -> String {
        format!("{}/{}", self.envelope.outcome(), self.envelope.code())
    }
}

impl Client {
    /// With the handshake of the older protocols.
    pub(crate) async fn over<T, E, A>(transport: T) -> Self
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        Self::with_lifecycle(transport, ClientLifecycleMode::Initialize).await
    }

    pub(crate) async fn with_lifecycle<T, E, A>(transport: T, mode: ClientLifecycleMode) -> Self
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let running = Host::default()
            .serve_with_lifecycle(transport, mode)
            .await
            .unwrap();
        let tools = running.list_all_tools().await.unwrap();
        Self { running, tools }
    }

    pub(crate) fn tool(&self, name: &str) -> &Tool {
        self.tools.iter().find(|tool| tool.name == name).unwrap()
    }

    /// Makes a call and reads its answer.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Told {
        let handle = self.start(tool, arguments).await;
        self.end(tool, handle).await
    }

    /// Makes a call and leaves its answer for later.
    pub(crate) async fn start(&self, tool: &str, arguments: Value) -> RequestHandle<RoleClient> {
        self.start_with_meta(tool, arguments, json!({})).await
    }

    /// The same with members of `_meta`.
    pub(crate) async fn start_with_meta(
        &self,
        tool: &str,
        arguments: Value,
        meta: Value,
    ) -> RequestHandle<RoleClient> {
        let mut options = PeerRequestOptions::no_options();
        options.meta = Some(RequestMetaObject::from(meta.as_object().unwrap().clone()));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(call(tool, arguments)));
        self.running
            .send_cancellable_request(request, options)
            .await
            .unwrap()
    }

    /// Reads the answer to a call.
    pub(crate) async fn end(&self, tool: &str, handle: RequestHandle<RoleClient>) -> Told {
        match handle.await_response().await.unwrap() {
            ServerResult::CallToolResult(result) => self.read(tool, &result),
            other => panic!("no result of a call: {other:?}"),
        }
    }

    /// Holds a result against the schema that the tool advertises.
    pub(crate) fn read(&self, tool: &str, result: &CallToolResult) -> Told {
        let structured = result.structured_content.as_ref().unwrap();
        let schema = Value::Object((**self.tool(tool).output_schema.as_ref().unwrap()).clone());
        jsonschema::validate(&schema, structured).unwrap();
        let text = &result.content[0].as_text().unwrap().text;
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), *structured);
        Told {
            envelope: serde_json::from_value(structured.clone()).unwrap(),
            // Left out where it is false, by some servers.
            is_error: result.is_error.unwrap_or_default(),
        }
    }

    /// What was reported, each with its token.
    pub(crate) fn reports(&self) -> Vec<ProgressNotificationParam> {
        self.running.service().reports.lock().unwrap().clone()
    }

    /// Waits until the server has read everything that was sent so far.
    pub(crate) async fn round_trip(&self) {
        self.running.list_tools(None).await.unwrap();
    }
}

pub(crate) fn call(tool: &str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}

/// A server of the tools `refund`, `book` and `outcome_status`. Over HTTP the header `x-account`
/// says whose wish a request is.
pub(crate) fn server(billing: &Billing, ledger: impl Ledger) -> ExecutorServer {
    let executor = tower_outcome_agents::executor(ledger);
    let mut server = ExecutorServer::new(executor, |context| {
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let account = parts.and_then(|parts| parts.headers.get("x-account"));
        let account = account.and_then(|value| value.to_str().ok());
        Ok(account.unwrap_or("acme").into())
    })
    .with_tool(ServedTool::outcome_status());
    for tool in tower_outcome_agents::tools(&billing.url()).unwrap() {
        server = server.with_tool(tool);
    }
    server
}

/// A host in memory.
pub(crate) async fn connect(server: &ExecutorServer) -> Client {
    Client::over(in_memory(server)).await
}

pub(crate) fn in_memory(server: &ExecutorServer) -> tokio::io::DuplexStream {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = server.clone();
    tokio::spawn(async move { server.serve(ours).await.unwrap().waiting().await });
    theirs
}

/// The refund that most tests are about.
pub(crate) fn order(number: u32) -> Value {
    json!({ "order": number, "amount": 20, "reason": "arrived broken" })
}
