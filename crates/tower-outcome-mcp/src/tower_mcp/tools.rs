//! Makes tools that one executor runs.

use std::fmt;
use std::sync::Arc;

use tower_mcp::extract::{Context, RawArgs, State};
use tower_mcp::{CallToolResult, RequestContext, ToolBuilder, ToolRequest};
use tower_outcome_tools::{Executor, Tool};

use super::calls::ExecutorCalls;
use super::layer::{ExecutorLayer, Handler};
use crate::envelope::schema;
use crate::{ErrorFlag, ServedTool};

/// Makes tools of `tower-mcp` that an executor runs. Cheap to clone.
///
/// See the [module docs](super).
#[derive(Clone)]
pub struct ExecutorTools {
    pub(super) executor: Executor,
    pub(super) scope: Arc<ScopeFunction>,
    pub(super) flag: ErrorFlag,
}

pub(super) type ScopeFunction = dyn Fn(&RequestContext) -> Box<str> + Send + Sync;

impl ExecutorTools {
    /// Makes tools for `executor`.
    ///
    /// `scope` says whose wish a request is ([`tower_outcome_core::intent`]): the account that the
    /// transport has authenticated, and the conversation if the host names it. Never a session or a
    /// request id, which a repeated call does not share with the first one. An empty scope ends the
    /// call in `failed/invalid_arguments`.
    #[must_use]
    pub fn new(
        executor: Executor,
        scope: impl Fn(&RequestContext) -> Box<str> + Send + Sync + 'static,
    ) -> Self {
        Self {
            executor,
            scope: Arc::new(scope),
            flag: ErrorFlag::new(),
        }
    }

    /// Says which words are told as errors.
    #[must_use]
    pub const fn with_error_flag(mut self, flag: ErrorFlag) -> Self {
        self.flag = flag;
        self
    }

    /// A layer for a tool that has a handler: `make` puts it into a tool of the executor, under the
    /// same name.
    ///
    /// Such a tool is known to its own layer alone: the model asks `outcome_status` about it by the
    /// key of an earlier result.
    #[must_use]
    pub fn layer(&self, make: impl Fn(Handler) -> Tool + Send + Sync + 'static) -> ExecutorLayer {
        ExecutorLayer::new(self.clone(), Arc::new(make))
    }

    /// A tool of its own.
    #[must_use]
    pub fn tool(&self, served: ServedTool) -> tower_mcp::Tool {
        let mut builder = ToolBuilder::new(served.name())
            .description(served.description())
            .input_schema(served.input_schema().clone().into())
            .output_schema(schema())
            .annotations(annotations(&served));
        if let Some(title) = served.title() {
            builder = builder.title(title);
        }
        builder
            .extractor_handler(self.calls(served.into_tool()), run)
            .build()
    }

    pub(super) fn calls(&self, tool: Tool) -> ExecutorCalls {
        let name = tool.name().into();
        let executor = self.executor.clone().with_tool(tool);
        let tools = Self {
            executor,
            ..self.clone()
        };
        ExecutorCalls::new(tools, name)
    }
}

impl fmt::Debug for ExecutorTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorTools")
            .field("executor", &self.executor)
            .field("flag", &self.flag)
            .finish_non_exhaustive()
    }
}

async fn run(
    State(calls): State<ExecutorCalls>,
    context: Context,
    RawArgs(arguments): RawArgs,
) -> tower_mcp::Result<CallToolResult> {
    let request = ToolRequest::new(context.into_inner(), arguments);
    let Ok(result) = calls.answer(request).await;
    Ok(result)
}

fn annotations(served: &ServedTool) -> tower_mcp::protocol::ToolAnnotations {
    tower_mcp::protocol::ToolAnnotations {
        title: None,
        read_only_hint: served.is_read_only(),
        destructive_hint: served.is_destructive(),
        idempotent_hint: true,
        open_world_hint: served.is_open_world(),
    }
}
