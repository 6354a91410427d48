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

// Each module says itself which feature it needs.
pub mod audit;
pub mod body;
pub mod call;
pub mod claim;
pub mod classify;
pub mod client;
pub mod context;
pub mod deadline;
pub mod error;
pub mod keep;
pub mod key;
pub mod outcome;
pub mod profile;
pub mod reply;
pub mod retry;
pub mod shield;
pub mod stack;
pub mod stored_request;
pub mod transport;
pub mod verdict;
pub mod watch;

#[cfg(feature = "client")]
pub use self::{
    audit::{Audit, AuditLayer},
    body::OutcomeBody,
    call::Call,
    claim::ClaimLayer,
    client::{Client, OutcomeClient, RequestExt},
    context::Context,
    deadline::DeadlineLayer,
    error::Error,
    keep::KeepResponseLayer,
    key::KeyLayer,
    outcome::OutcomeLayer,
    reply::ReplyBody,
    shield::ShieldLayer,
    stack::Stack,
    stored_request::StoredRequests,
    verdict::Verdict,
    watch::Watch,
};
#[cfg(feature = "retry")]
pub use self::{profile::Profile, retry::KeyedRetry};
#[cfg(feature = "client")]
pub use tower_outcome_core::{
    BoxError, Code, Conclusion, Envelope, Gate, IdempotencyKey, Intent, KeyFormat, Landing, Ledger,
    MemoryLedger, Outcome, Retry, Seen,
};
#[cfg(feature = "reqwest")]
pub use transport::{ForWrites, WritesClient};
