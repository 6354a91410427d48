//! Honest tool calls over the Model Context Protocol (MCP).
//!
//! A client that loses an answer has to make its request anew, under a new id (MCP 2026-07-28,
//! streamable HTTP; "Unexpected Termination" of stdio), and a client that times out cancels. So a
//! write whose answer is lost becomes a second `tools/call` that nothing links to the first one.
//! Behind an [`Executor`](tower_outcome_tools::Executor) the second call is known as the first one
//! again: by scope, tool and arguments, never by request id, `_meta` or rounds of input.
//!
//! - [`envelope`]: an [`Envelope`](tower_outcome_core::Envelope) as the result of a tool, and its
//!   JSON Schema; [`ErrorFlag`] says which words are told as errors.
//! - [`served`]: what clients are told about a tool, and how much of it is true.
//! - [`mod@rmcp`]: a server that serves an executor, over any transport of `rmcp` (feature `rmcp`).
//! - [`mod@tower_mcp`]: a layer for the tools of `tower-mcp` (feature `tower-mcp`).

#![warn(clippy::unwrap_used)]

pub mod envelope;
mod error_flag;
#[cfg(feature = "rmcp")]
pub mod rmcp;
pub mod served;
#[cfg(feature = "tower-mcp")]
pub mod tower_mcp;

pub use envelope::EnvelopeResult;
pub use error_flag::ErrorFlag;
pub use served::ServedTool;
