//! An executor as an MCP server.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::Value;
use tower_outcome_core::{Code, Envelope};
use tower_outcome_tools::{Executor, ToolCall};

use super::ask::{Ask, AskFunction, Round, boxed};
use super::progress::Reports;
use super::tool::definition;
use crate::{EnvelopeResult, ErrorFlag, ServedTool};

/// Serves an executor's tools. Cloning shares the executor: give each session a clone.
///
/// See the [module docs](super).
#[derive(Clone)]
pub struct ExecutorServer {
    executor: Executor,
    scope: Arc<ScopeFunction>,
    tools: BTreeMap<Box<str>, Arc<Entry>>,
    flag: ErrorFlag,
    info: ServerConfig,
}

struct Entry {
    definition: Tool,
    ask: Option<AskFunction>,
}

type ScopeFunction =
    dyn Fn(&RequestContext<RoleServer>) -> Result<Box<str>, ErrorData> + Send + Sync;

impl ExecutorServer {
    /// Serves no tool of `executor` yet.
    ///
    /// `scope` says whose wish a request is ([`tower_outcome_core::intent`]): the account that the
    /// transport has authenticated, and the conversation if the host names it. Never a session or a
    /// request id, which a repeated call does not share with the first one. An error of it ends the
    /// request unsent.
    #[must_use]
    pub fn new(
        executor: Executor,
        scope: impl Fn(&RequestContext<RoleServer>) -> Result<Box<str>, ErrorData>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let named = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        Self {
            executor,
            scope: Arc::new(scope),
            tools: BTreeMap::new(),
            flag: ErrorFlag::new(),
            info: ServerConfig::new(capabilities)
                .with_instructions(INSTRUCTIONS)
                .with_server_info(named),
        }
    }

    /// Adds a tool. One of the same name is replaced.
    #[must_use]
    pub fn with_tool(self, served: ServedTool) -> Self {
        self.with_entry(served, None)
    }

    /// Adds a tool whose calls go through rounds of input first: a confirmation, a choice.
    ///
    /// `ask` sees each request before the executor does. Nothing is claimed in the meantime, and
    /// nothing of a round but the arguments that it ends with counts for the key.
    #[must_use]
    pub fn with_tool_asking<A, F>(self, served: ServedTool, ask: A) -> Self
    where
        A: Fn(Round) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Ask, ErrorData>> + Send + 'static,
    {
        self.with_entry(served, Some(boxed(ask)))
    }

    /// Says which words are told as errors.
    #[must_use]
    pub const fn with_error_flag(mut self, flag: ErrorFlag) -> Self {
        self.flag = flag;
        self
    }

    /// What clients are told the server is called.
    #[must_use]
    pub fn with_name(mut self, name: &str, version: &str) -> Self {
        self.info.server_info = Implementation::new(name, version);
        self
    }

    /// The executor, to [drain](Executor::drain) once the transport has ended.
    #[must_use]
    pub const fn executor(&self) -> &Executor {
        &self.executor
    }

    fn with_entry(mut self, served: ServedTool, ask: Option<AskFunction>) -> Self {
        let definition = definition(&served);
        let tool = served.into_tool();
        let entry = Arc::new(Entry { definition, ask });
        self.tools.insert(tool.name().into(), entry);
        self.executor = self.executor.with_tool(tool);
        self
    }

    async fn answer(
        &self,
        entry: &Entry,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let scope = (self.scope)(&context)?;
        let occurrence = occurrence(&context)?;
        let token = context.meta.get_progress_token();
        let peer = context.peer.clone();

        let arguments = request.arguments.unwrap_or_default();
        let arguments = match &entry.ask {
            None => arguments,
            Some(ask) => {
                let round = Round {
                    arguments,
                    input_responses: request.input_responses,
                    request_state: request.request_state,
                    context,
                };
                match ask(round).await? {
                    Ask::Call(arguments) => arguments,
                    Ask::Declined => {
                        let unsent = Envelope::new(Code::CancelledBeforeSend);
                        return Ok(self.told(unsent.with_detail(DECLINED)));
                    }
                    Ask::Input(required) => return Ok(required.into()),
                }
            }
        };

        let call = ToolCall::new(scope, &*request.name, Value::Object(arguments));
        let call = call.with_occurrence(occurrence);
        let envelope = match token {
            None => self.executor.run(call).await,
            Some(token) => {
                let (call, reports) = Reports::of(call, token, peer);
                reports.during(self.executor.run(call)).await
            }
        };
        Ok(self.told(envelope))
    }

    fn told(&self, envelope: Envelope) -> CallToolResponse {
        let result = EnvelopeResult::new(envelope).with_error_flag(self.flag);
        CallToolResult::from(result).into()
    }
}

impl ServerHandler for ExecutorServer {
    fn get_info(&self) -> ServerConfig {
        self.info.clone()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.get(name).map(|entry| entry.definition.clone())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.values().map(|entry| entry.definition.clone());
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = self.tools.get(&*request.name) else {
            return Err(ErrorData::invalid_params(
                "there is no tool of this name",
                None,
            ));
        };
        let cancel = context.ct.clone();
        tokio::select! {
            biased;
            // Looked at first, so that a call which was cancelled before it began never begins.
            // Nobody reads the answer; what counts is that the call is dropped.
            () = cancel.cancelled() => Err(ErrorData::invalid_request("cancelled", None)),
            answer = self.answer(entry, request, context) => answer,
        }
    }
}

impl fmt::Debug for ExecutorServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorServer")
            .field("executor", &self.executor)
            .field("tools", &self.tools.keys())
            .field("flag", &self.flag)
            .finish_non_exhaustive()
    }
}

/// The member of `_meta` by which a host or a person makes the same wish once more, on purpose: a
/// number, counted from 0. No model gets to write it, since no schema shows it.
pub const OCCURRENCE: &str = "tower-outcome/occurrence";

fn occurrence(context: &RequestContext<RoleServer>) -> Result<u32, ErrorData> {
    let Some(given) = context.meta.get(OCCURRENCE) else {
        return Ok(0);
    };
    let number = given.as_u64().and_then(|number| number.try_into().ok());
    number.ok_or_else(|| ErrorData::invalid_params("the occurrence is no small number", None))
}

const DECLINED: &str = "The user declined it.";

const INSTRUCTIONS: &str = "Each result has an outcome. ok: it is done. already_done: an earlier \
    identical call did it, and its result is the answer. failed: nothing was changed. unknown: it \
    may have happened; do not repeat it, say that it is being confirmed. skipped: an identical call \
    is running; wait for its result.";
