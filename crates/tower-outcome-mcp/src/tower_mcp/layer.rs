//! Puts the handler that a tool already has under an executor.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use tower_layer::Layer;
use tower_mcp::protocol::RequestId;
use tower_mcp::{CallToolResult, RequestContext, ToolRequest};
use tower_outcome_core::BoxError;
use tower_outcome_tools::Tool;
use tower_service::Service;

use super::calls::ExecutorCalls;
use super::tools::ExecutorTools;

/// The handler below a layer, for [`Tool::write`] or one of its siblings.
pub type Handler = Box<dyn Fn(Value) -> HandlerFuture + Send + Sync>;

/// What a [`Handler`] returns.
pub type HandlerFuture = Pin<Box<dyn Future<Output = Result<Value, BoxError>> + Send>>;

/// Runs the handler of a tool by an executor.
///
/// Made by [`ExecutorTools::layer`]. See the [module docs](super).
#[derive(Clone)]
pub struct ExecutorLayer {
    tools: ExecutorTools,
    make: Arc<Make>,
}

type Make = dyn Fn(Handler) -> Tool + Send + Sync;

impl ExecutorLayer {
    pub(super) fn new(tools: ExecutorTools, make: Arc<Make>) -> Self {
        Self { tools, make }
    }
}

impl<S> Layer<S> for ExecutorLayer
where
    S: Service<ToolRequest, Response = CallToolResult> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
{
    type Service = ExecutorCalls;

    fn layer(&self, inner: S) -> ExecutorCalls {
        let handler = Box::new(move |arguments| -> HandlerFuture {
            Box::pin(handle(inner.clone(), arguments))
        });
        self.tools.calls((self.make)(handler))
    }
}

impl fmt::Debug for ExecutorLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorLayer")
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

async fn handle<S>(mut inner: S, arguments: Value) -> Result<Value, BoxError>
where
    S: Service<ToolRequest, Response = CallToolResult>,
    S::Error: Into<BoxError>,
{
    let context = RequestContext::new(RequestId::String(NO_REQUEST.to_owned()));
    std::future::poll_fn(|cx| inner.poll_ready(cx))
        .await
        .map_err(Into::into)?;
    let result = inner
        .call(ToolRequest::new(context, arguments))
        .await
        .map_err(Into::into)?;
    if result.is_error {
        return Err(result.all_text().into());
    }
    let text = result.all_text();
    Ok(result.structured_content.unwrap_or(Value::String(text)))
}

/// The id of the request that a handler sees in its context.
const NO_REQUEST: &str = "tower-outcome";
