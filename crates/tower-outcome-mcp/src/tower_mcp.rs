//! Runs tools of `tower-mcp` by an executor.
//!
//! [`ExecutorTools`] makes them in two ways: a layer puts the handler that a tool already has under
//! the executor, and a [`ServedTool`](crate::ServedTool) becomes a tool of its own. Both answer with
//! an envelope; a cancelled request is the caller's drop, so that what has not left never will and
//! what may have left goes on; reports of [`Progress`](tower_outcome_tools::Progress) go to the
//! client that wants them. The request's id and `_meta` are no part of the key.
//!
//! A call can stand for several requests, and outlives each of them. So the handler below a layer
//! gets a context that belongs to no request: nobody cancels it, and progress is reported by
//! `Progress`. Refuse bad input by [`Tool::with_schema`](tower_outcome_tools::Tool::with_schema): an
//! opaque handler that gets to see it counts as sent.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! use serde_json::{Value, json};
//! use tower_mcp::{CallToolResult, McpRouter, ToolBuilder};
//! use tower_outcome_core::MemoryLedger;
//! use tower_outcome_mcp::{ServedTool, tower_mcp::ExecutorTools};
//! use tower_outcome_tools::{Executor, Tool};
//!
//! let executor = Executor::new(MemoryLedger::default());
//! let tools = ExecutorTools::new(executor, |_| "acme/chat-3".into());
//! let print = ToolBuilder::new("print")
//!     .description("Prints a document.")
//!     .handler(|_: Value| async { Ok(CallToolResult::json(json!({ "job": 1 }))) })
//!     .layer(tools.layer(|handler| Tool::opaque_write("print", handler)))
//!     .build();
//! let arguments = json!({ "document": 7 });
//! assert_eq!(print.call(arguments.clone()).await.structured_content.unwrap()["outcome"], "ok");
//! let again = print.call(arguments).await;
//! assert_eq!(again.structured_content.unwrap()["outcome"], "already_done");
//!
//! let _router = McpRouter::new().tool(print).tool(tools.tool(ServedTool::outcome_status()));
//! # }
//! ```

mod calls;
mod layer;
mod tools;

pub use calls::{ExecutorCalls, ResponseFuture};
pub use layer::{ExecutorLayer, Handler, HandlerFuture};
pub use tools::ExecutorTools;
