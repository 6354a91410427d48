//! Serves an executor through `rmcp`, and hands envelopes to tools that are written by hand.
//!
//! [`ExecutorServer`] is a [`ServerHandler`](rmcp::ServerHandler) for any transport:
//!
//! | MCP | becomes |
//! |---|---|
//! | `tools/list` | the served tools, with schemas and hints that hold |
//! | `tools/call` | a call of the executor; its envelope is the result, never a protocol error |
//! | `notifications/cancelled`, or a closed response stream | the caller's drop: what has not left never will, what may have left goes on |
//! | `_meta.progressToken` | reports of [`Progress`](tower_outcome_tools::Progress) are sent on |
//! | `_meta["tower-outcome/occurrence"]` | the same wish once more, on purpose ([`OCCURRENCE`]) |
//! | `inputResponses`, `requestState` | a round of input before the call ([`Ask`]); no part of its key |
//! | the request's id, all other `_meta` | nothing |
//!
//! Arguments come parsed: of a member that stands twice `rmcp` keeps one, and of digits those that a
//! double holds.
//!
//! A tool that is written by hand returns an [`EnvelopeResult`](crate::EnvelopeResult):
//! `#[tool(output_schema = tower_outcome_mcp::rmcp::output_schema())]` tells clients what it is.
//! Let it look at the request's `ct` before the call only: behind the executor a cancel must not
//! end the wait for a write.
//!
//! ```no_run
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//!
//! use rmcp::ServiceExt as _;
//! use serde_json::json;
//! use tower_outcome_core::MemoryLedger;
//! use tower_outcome_mcp::{ServedTool, rmcp::ExecutorServer};
//! use tower_outcome_tools::{Executor, Tool};
//!
//! let print = Tool::opaque_write("print", |_| async { Ok(json!({ "job": 1 })) });
//! let executor = Executor::new(MemoryLedger::default());
//! let server = ExecutorServer::new(executor, |_| Ok("acme/chat-3".into()))
//!     .with_tool(ServedTool::new(print).with_description("Prints a document."))
//!     .with_tool(ServedTool::outcome_status());
//! let executor = server.executor().clone();
//! server.serve(tokio::io::duplex(1024).0).await?.waiting().await?;
//! executor.drain(Duration::from_secs(30)).await; // what clients left behind
//! # Ok(()) }
//! ```

mod ask;
mod progress;
mod result;
mod server;
mod tool;

pub use ask::{Ask, Round};
pub use result::output_schema;
pub use server::{ExecutorServer, OCCURRENCE};
