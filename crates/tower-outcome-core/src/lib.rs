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

#[cfg(feature = "full")]
pub mod canonical;
#[cfg(feature = "full")]
pub mod code;
#[cfg(feature = "full")]
pub mod envelope;
#[cfg(feature = "full")]
pub mod error;
#[cfg(feature = "full")]
pub mod fingerprint;
pub mod gate;
#[cfg(feature = "full")]
pub mod intent;
#[cfg(feature = "full")]
pub mod key;
#[cfg(feature = "full")]
pub mod ledger;
#[cfg(feature = "full")]
pub mod outcome;

#[cfg(feature = "full")]
pub use code::{Code, Conclusion, Landing, Level, Retry};
#[cfg(feature = "full")]
pub use envelope::Envelope;
#[cfg(feature = "full")]
pub use error::Error;
#[cfg(feature = "full")]
pub use fingerprint::Fingerprint;
pub use gate::{Gate, Pass, Sealed, Seen};
#[cfg(feature = "full")]
pub use intent::{Intent, IntentRules, rule};
#[cfg(feature = "full")]
pub use key::{IdempotencyKey, KeyFormat, KeyStyle, WireKey};
#[cfg(feature = "full")]
pub use ledger::{Ledger, MemoryLedger};
#[cfg(feature = "full")]
pub use outcome::Outcome;

/// An error of any kind, as tower's own layers hand them on.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
