//! Until when a call may run, for its handler.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! use std::time::Duration;
//!
//! use serde_json::json;
//! use tower_outcome::MemoryLedger;
//! use tower_outcome_tools::{Deadline, Executor, NothingSent, Tool, ToolCall};
//!
//! let print = Tool::opaque_write("print", |_| async {
//!     let deadline = Deadline::current().expect("inside a call");
//!     if deadline.left() < Duration::from_secs(5) {
//!         return Err(NothingSent::because("there is no time for it").into());
//!     }
//!     Ok(json!({ "job": 1 }))
//! });
//! let executor = Executor::new(MemoryLedger::default()).with_tool(print);
//! let call = ToolCall::new("acme", "print", json!({ "document": 7 }));
//! assert_eq!(executor.run(call).await.data()["job"], 1);
//! # }
//! ```

use std::time::Duration;

use tokio::time::Instant;
use tower_outcome::Context;

/// When a call is ended, by the clock that its executor goes by.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Deadline(Instant);

impl Deadline {
    pub(crate) const fn new(at: Instant) -> Self {
        Self(at)
    }

    /// That of the call in whose context this runs.
    #[must_use]
    pub fn current() -> Option<Self> {
        Context::current().and_then(|context| Self::of(&context))
    }

    /// That of the call which `context` is of, or of the nearest one around it that has one.
    #[must_use]
    pub fn of(context: &Context) -> Option<Self> {
        context.lineage().find_map(Context::extension).copied()
    }

    /// The moment.
    #[must_use]
    pub const fn at(self) -> Instant {
        self.0
    }

    /// What is left until then; zero once it has passed.
    #[must_use]
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}
