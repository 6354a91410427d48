//! Honest tool calls: checks what a model tells its user against what its tools really did.

#![warn(clippy::unwrap_used)]

pub mod reply;

pub use reply::{Action, Flag, Lexicon, LexiconError, Reason, ReplyChecker, Verdict};
