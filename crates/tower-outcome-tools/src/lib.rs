//! Honest tool calls: each ends in one word that holds, and a model's reply is held to it.
//!
//! - [`executor`], [`tool`]: runs tool calls so that a repeat of the same wish never sends twice.
//! - [`lanes`]: one call at a time for one thing.
//! - [`progress`]: how far a call has come.
//! - [`reconciler`]: finds out what became of calls that ended in doubt.
//! - [`reply`]: checks what a model tells its user against what its tools really did.

#![warn(clippy::unwrap_used)]

pub mod executor;
pub mod lanes;
mod line;
pub mod progress;
pub mod reconciler;
pub mod reply;
pub mod tool;
mod tool_call;

pub use executor::Executor;
pub use lanes::{Held, Lane, Lanes};
pub use progress::Progress;
pub use reconciler::{Found, LookUp, Reconciler, Report};
pub use reply::{Action, Flag, Lexicon, LexiconError, Reason, ReplyChecker, Verdict};
pub use tool::{NearMisses, NothingSent, Tool};
pub use tool_call::{MAX_OCCURRENCE, ToolCall};
