//! The vocabulary of tower-outcome: what became of a write, and what may be done next.
//!
//! Every call ends in one of five words ([`Outcome`]), of which `failed` is a promise: nothing
//! changed, and nothing of this call can change anything later. This crate knows neither tower nor
//! HTTP nor a runtime, so that stores and adapters can depend on it alone.
//!
//! - [`outcome`], [`code`], [`envelope`]: the words, the closed table of codes behind them, and
//!   the JSON that every tool call ends in.
//! - [`gate`]: the one-way gate that decides whether anything of a call can still leave.
//! - [`intent`], [`rule`], [`canonical`], [`key`], [`fingerprint`]: the same wish makes the same
//!   key, whoever spells it.
//! - [`ledger`]: the durable record of every claimed write, and its state machine.

#![warn(clippy::unwrap_used)]

pub mod canonical;
pub mod code;
pub mod envelope;
pub mod error;
pub mod fingerprint;
pub mod gate;
pub mod intent;
pub mod key;
pub mod ledger;
pub mod outcome;

pub use code::{Code, Conclusion, Landing, Level, Retry};
pub use envelope::Envelope;
pub use error::Error;
pub use fingerprint::Fingerprint;
pub use gate::{Gate, Pass, Sealed, Seen};
pub use intent::{Intent, IntentRules, rule};
pub use key::{IdempotencyKey, KeyFormat, KeyStyle, WireKey};
pub use ledger::{Ledger, MemoryLedger};
pub use outcome::Outcome;

/// An error of any kind, as tower's own layers hand them on.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
