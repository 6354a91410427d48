//! Honest tool calls: each ends in one word that holds, and a model's reply is held to it.
//!
//! - [`deadline`]: until when a call may run.
//! - [`executor`], [`tool`]: runs tool calls so that a repeat of the same wish never sends twice.
//! - [`lanes`]: one call at a time for one thing.
//! - [`operator`]: lists, shows and resolves what is in doubt, for people.
//! - [`progress`]: how far a call has come.
//! - [`reconciler`]: finds out what became of calls that ended in doubt.
//! - [`reply`]: checks what a model tells its user against what its tools really did.

#![warn(clippy::unwrap_used)]

pub mod deadline;
pub mod executor;
pub mod lanes;
mod line;
pub mod operator;
pub mod progress;
pub mod reconciler;
pub mod reply;
pub mod tool;
mod tool_call;

pub use deadline::Deadline;
pub use executor::Executor;
pub use lanes::{Held, Lane, Lanes};
pub use operator::Operator;
pub use progress::Progress;
pub use reconciler::{Cancelled, Found, LookUp, Reconciler, Report, Resender};
pub use reply::{Action, Flag, Lexicon, LexiconError, Reason, ReplyChecker, Verdict};
pub use tool::{NearMisses, NothingSent, Tool};
pub use tool_call::{MAX_OCCURRENCE, ToolCall};

/// The README's snippets compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
