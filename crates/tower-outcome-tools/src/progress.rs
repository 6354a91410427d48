//! How far a call has come, for the host to pass on.
//!
//! A handler reports from anywhere inside its call; the host that made the call gets what it says
//! ([`ToolCall::with_progress`](crate::ToolCall::with_progress)). A report changes nothing about
//! the call: a host that panics over one does not hurt it, and once the call has ended nothing is
//! reported any more. A call that waits for an identical one reports nothing.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! use serde_json::json;
//! use tower_outcome::MemoryLedger;
//! use tower_outcome_tools::{Executor, Progress, Tool, ToolCall};
//!
//! let print = Tool::opaque_write("print", |_| async {
//!     Progress::of(1.0, 2.0).with_message("half of it").report();
//!     Ok(json!({ "job": 1 }))
//! });
//! let (tell, mut told) = tokio::sync::mpsc::channel(8);
//! let call = ToolCall::new("acme", "print", json!({ "document": 7 }));
//! let call = call.with_progress(move |progress| drop(tell.try_send(progress)));
//! Executor::new(MemoryLedger::default()).with_tool(print).run(call).await;
//! assert_eq!(told.recv().await.unwrap().message(), "half of it");
//! # }
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tower_outcome::Context;
use tower_outcome_core::Gate;

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    done: f64,
    total: Option<f64>,
    message: Box<str>,
}

impl Progress {
    /// So much is done, of nobody knows how much. Let it grow with each report.
    #[must_use]
    pub fn new(done: f64) -> Self {
        Self {
            done,
            total: None,
            message: Box::default(),
        }
    }

    /// So much of `total` is done.
    #[must_use]
    pub fn of(done: f64, total: f64) -> Self {
        Self {
            total: Some(total),
            ..Self::new(done)
        }
    }

    /// Says it in words, which people read. Put nothing secret into them.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<Box<str>>) -> Self {
        self.message = message.into();
        self
    }

    /// Tells the host of the call in whose context this runs. Outside a call, or where the host
    /// does not want to know, nothing happens.
    pub fn report(self) {
        let context = Context::current();
        if let Some(reporter) = context.as_ref().and_then(Context::extension::<Reporter>) {
            reporter.report(self);
        }
    }

    /// How much is done.
    #[must_use]
    pub const fn done(&self) -> f64 {
        self.done
    }

    /// How much there is to do, if that is known.
    #[must_use]
    pub const fn total(&self) -> Option<f64> {
        self.total
    }

    /// The same in words; empty if nobody said anything.
    #[must_use]
    pub const fn message(&self) -> &str {
        &self.message
    }
}

/// Where a host wants reports.
pub(crate) type Sink = Arc<dyn Fn(Progress) + Send + Sync>;

/// Takes reports of one call, as long as it runs.
#[derive(Clone)]
pub(crate) struct Reporter {
    sink: Sink,
    /// Sealed once the call has ended.
    gate: Gate,
}

impl Reporter {
    pub(crate) fn new(sink: Sink, gate: Gate) -> Self {
        Self { sink, gate }
    }

    fn report(&self, progress: Progress) {
        if self.gate.is_sealed() {
            return;
        }
        // The host's bug is not the call's.
        if catch_unwind(AssertUnwindSafe(|| (self.sink)(progress))).is_err() {
            tracing::warn!("the host panicked over a report of progress");
        }
    }
}
