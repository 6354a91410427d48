//! Tower layers that make HTTP writes honest and safe to repeat.
//!
//! Every call ends in one of five words ([`Outcome`]), and `failed` is a promise: nothing changed
//! and nothing of this call can change anything later. [`Stack`] puts the layers over a client that
//! is already there:
//!
//! ```no_run
//! # async fn f() -> Result<(), Box<dyn std::error::Error>> {
//! use serde_json::json;
//! use tower_outcome::{ForWrites as _, Intent, MemoryLedger, Outcome, RequestExt as _, Stack};
//!
//! let http = reqwest::Client::builder().for_writes().build()?; // no redirects, no hidden retries
//! let client = Stack::new().with_ledger(MemoryLedger::default()).over(http.clone());
//!
//! let refund = json!({ "order": 7, "amount": 20 });
//! let request = http.post("http://billing/refunds").body(refund.to_string()).build()?;
//! let verdict = client.send(request.with_intent(Intent::new("acme/chat-3", "refund", &refund)?)).await;
//! match verdict.outcome() {
//!     Outcome::Ok | Outcome::AlreadyDone => println!("refunded: {:?}", verdict.reply()),
//!     Outcome::Failed => println!("nothing happened ({})", verdict.code()),
//!     Outcome::Skipped | Outcome::Unknown => println!("being confirmed, do not repeat"),
//! }
//! # Ok(()) }
//! ```
//!
//! # Layers, outermost first
//!
//! | layer | does |
//! |---|---|
//! | [`OutcomeLayer`] | makes the record of the call; turns its end into a [`Verdict`] |
//! | [`DeadlineLayer`] | the only timeout that knows what it means |
//! | [`ShieldLayer`] | keeps a write going that may have left, whatever its caller does |
//! | [`ClaimLayer`] | asks a ledger first, and settles what became of the write |
//! | [`KeyLayer`] | puts the key on the request, above the retry |
//! | tower's `RetryLayer` with [`KeyedRetry`] | repeats what is safe to repeat |
//! | [`transport::Wire`] | hands the request on, and knows whether it left |
//!
//! [`AuditLayer`] changes nothing: it goes into any stack and reports what would be wrong there.
//!
//! Caps and rate limits belong below [`ShieldLayer`]: above it a cap is none, since a write goes on
//! after its caller has left.
//!
//! # Cancel safety
//!
//! Dropping the future of a read drops the read. Dropping the future of a write seals its gate: what
//! had not left never will, and what may have left goes on in a task of its own until its hard
//! limit, so that its late answer is still taken down. An unpolled future has sent nothing.

#![warn(clippy::unwrap_used)]

#[cfg(feature = "client")]
pub mod audit;
#[cfg(feature = "client")]
pub mod body;
#[cfg(feature = "client")]
pub mod call;
#[cfg(feature = "client")]
pub mod claim;
#[cfg(feature = "client")]
pub mod classify;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
pub mod context;
#[cfg(feature = "client")]
pub mod deadline;
#[cfg(feature = "client")]
pub mod error;
#[cfg(feature = "client")]
pub mod keep;
#[cfg(feature = "client")]
pub mod key;
#[cfg(feature = "client")]
pub mod outcome;
#[cfg(feature = "retry")]
pub mod profile;
#[cfg(feature = "client")]
pub mod reply;
#[cfg(feature = "retry")]
pub mod retry;
#[cfg(feature = "client")]
pub mod shield;
#[cfg(feature = "client")]
pub mod stack;
#[cfg(feature = "client")]
pub mod transport;
#[cfg(feature = "client")]
pub mod verdict;
#[cfg(feature = "client")]
pub mod watch;

#[cfg(feature = "client")]
pub use audit::{Audit, AuditLayer};
#[cfg(feature = "client")]
pub use body::OutcomeBody;
#[cfg(feature = "client")]
pub use call::Call;
#[cfg(feature = "client")]
pub use claim::ClaimLayer;
#[cfg(feature = "client")]
pub use client::{Client, OutcomeClient, RequestExt};
#[cfg(feature = "client")]
pub use context::Context;
#[cfg(feature = "client")]
pub use deadline::DeadlineLayer;
#[cfg(feature = "client")]
pub use error::Error;
#[cfg(feature = "client")]
pub use keep::KeepResponseLayer;
#[cfg(feature = "client")]
pub use key::KeyLayer;
#[cfg(feature = "client")]
pub use outcome::OutcomeLayer;
#[cfg(feature = "retry")]
pub use profile::Profile;
#[cfg(feature = "client")]
pub use reply::ReplyBody;
#[cfg(feature = "retry")]
pub use retry::KeyedRetry;
#[cfg(feature = "client")]
pub use shield::ShieldLayer;
#[cfg(feature = "client")]
pub use stack::Stack;
#[cfg(feature = "client")]
pub use tower_outcome_core::{
    BoxError, Code, Conclusion, Envelope, Gate, IdempotencyKey, Intent, KeyFormat, Landing, Ledger,
    MemoryLedger, Outcome, Retry, Seen,
};
#[cfg(feature = "reqwest")]
#[cfg(feature = "client")]
pub use transport::{ForWrites, WritesClient};
#[cfg(feature = "client")]
pub use verdict::Verdict;
#[cfg(feature = "client")]
pub use watch::Watch;

/// The README's snippet compiles.
#[cfg(all(doctest, feature = "reqwest"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
