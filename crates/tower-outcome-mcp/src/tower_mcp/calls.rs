//! Requests of one tool, as calls of an executor.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tower_mcp::{CallToolResult, Content, ToolRequest};
use tower_outcome_core::{Code, Envelope};
use tower_outcome_tools::ToolCall;
use tower_service::Service;

use super::tools::ExecutorTools;
use crate::EnvelopeResult;

/// Answers the requests of one tool.
///
/// Made by [`ExecutorTools::layer`]. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct ExecutorCalls {
    tools: ExecutorTools,
    name: Box<str>,
}

impl ExecutorCalls {
    pub(super) fn new(tools: ExecutorTools, name: Box<str>) -> Self {
        Self { tools, name }
    }

    pub(super) fn answer(&self, request: ToolRequest) -> ResponseFuture {
        let ToolRequest { ctx, args } = request;
        let (executor, flag) = (self.tools.executor.clone(), self.tools.flag);
        let call = ToolCall::new((self.tools.scope)(&ctx), self.name.clone(), args);
        let call = match ctx.progress_token() {
            None => call,
            Some(_) => {
                let ctx = ctx.clone();
                call.with_progress(move |progress| {
                    let message = Some(progress.message()).filter(|text| !text.is_empty());
                    ctx.report_progress_sync(progress.done(), progress.total(), message);
                })
            }
        };
        // Boxed: the future that waits for the cancel has no name.
        let inner = Box::pin(async move {
            let envelope = tokio::select! {
                biased;
                // Looked at first, so that a call which was cancelled before it began never begins.
                // Nobody reads the answer; what counts is that the call is dropped.
                () = ctx.cancelled() => Envelope::new(Code::CancelledBeforeSend),
                envelope = executor.run(call) => envelope,
            };
            EnvelopeResult::new(envelope).with_error_flag(flag).into()
        });
        ResponseFuture { inner }
    }
}

impl Service<ToolRequest> for ExecutorCalls {
    type Response = CallToolResult;
    type Error = Infallible;
    type Future = ResponseFuture;

    /// Always ready: waiting for a permit is part of the call, under its deadline.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: ToolRequest) -> ResponseFuture {
        self.answer(request)
    }
}

/// Response future of [`ExecutorCalls`].
///
/// Dropping it ends a call of which nothing has left. Any other goes on in a task of its own.
pub struct ResponseFuture {
    inner: Pin<Box<dyn Future<Output = CallToolResult> + Send>>,
}

impl Future for ResponseFuture {
    type Output = Result<CallToolResult, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.inner.as_mut().poll(cx).map(Ok)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

impl From<EnvelopeResult> for CallToolResult {
    fn from(result: EnvelopeResult) -> Self {
        Self {
            content: vec![Content::text(result.text())],
            is_error: result.is_error(),
            structured_content: Some(result.structured()),
            meta: None,
        }
    }
}
