//! Runs tool calls so that each ends in one of five words, and none is done twice.
//!
//! A call is looked up, its arguments are checked, its key is derived; an identical call in flight
//! is joined, and one that has ended is answered from the ledger. Only then it waits for a permit,
//! claims its row and runs the handler, in a task that the caller's drop does not reach. When the
//! handler ends or time runs out, the call's gate is sealed first and the word is chosen then, from
//! the evidence of all writes that the handler made.
//!
//! Give the handlers clients that ask for the call's context, so that a write which lost it on the
//! way is refused instead of being sent without a key ([`Stack::requiring_context`]).
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! use serde_json::json;
//! use tower_outcome::{MemoryLedger, Outcome};
//! use tower_outcome_tools::{Executor, Tool, ToolCall};
//!
//! let print = Tool::opaque_write("print", |_| async { Ok(json!({ "job": 1 })) });
//! let executor = Executor::new(MemoryLedger::default()).with_tool(print);
//!
//! let call = ToolCall::new("acme/chat-3", "print", json!({ "document": 7 }));
//! assert_eq!(executor.run(call.clone()).await.outcome(), Outcome::Ok);
//! let again = executor.run(call).await; // the model asks twice
//! assert_eq!(again.outcome(), Outcome::AlreadyDone);
//! assert_eq!(again.data()["job"], 1);
//! # }
//! ```
//!
//! [`Stack::requiring_context`]: tower_outcome::Stack::requiring_context

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use tokio::sync::Semaphore;
use tower_outcome::Context;
use tower_outcome_core::ledger::{Entry, EntryKey, Ledger, Owner};
use tower_outcome_core::{Code, Conclusion, Envelope, Error, Intent};
use tower_service::Service;

use crate::tool::{Kind, Tool};
use crate::tool_call::ToolCall;

mod admission;
mod doubts;
mod fold;
mod nested;
mod read;
mod replay;
mod row;
mod settling;
mod task;
mod twins;

/// Runs tool calls. Cloning shares tools, permits and what is in flight.
///
/// See the [module docs](self).
#[derive(Clone)]
pub struct Executor {
    config: Config,
    state: Arc<State>,
}

#[derive(Clone)]
struct Config {
    tools: HashMap<Box<str>, Arc<Tool>>,
    ledger: Arc<dyn Ledger>,
    owner: Owner,
    permits: Option<Arc<Semaphore>>,
    deadline: Duration,
    lease: Duration,
    patience: Duration,
}

/// What runs in this process.
#[derive(Default)]
struct State {
    doubts: doubts::Doubts,
    nested: nested::Nests,
    twins: twins::Twins,
}

impl Executor {
    /// Claims calls in `ledger`, as a new owner: a deadline of 30 seconds, a lease of 90, up to 5
    /// seconds of waiting for an identical call, any number of calls at once, no tools.
    #[must_use]
    pub fn new(ledger: impl Ledger) -> Self {
        Self {
            config: Config {
                tools: HashMap::new(),
                ledger: Arc::new(ledger),
                owner: Owner::random(),
                permits: None,
                deadline: Duration::from_secs(30),
                lease: Duration::from_secs(90),
                patience: Duration::from_secs(5),
            },
            state: Arc::default(),
        }
    }

    /// Adds a tool. One of the same name is replaced.
    #[must_use]
    pub fn with_tool(mut self, tool: Tool) -> Self {
        self.config.tools.insert(tool.name().into(), Arc::new(tool));
        self
    }

    /// Gives each call `limit` to end, waiting for a permit included.
    ///
    /// A call in doubt may take twice [`GRACE`] and one answer of the ledger more.
    #[must_use]
    pub const fn with_deadline(mut self, limit: Duration) -> Self {
        self.config.deadline = limit;
        self
    }

    /// Runs at most `n` writing calls at once. A call keeps its permit until nothing of it is under
    /// way any more, also after its caller was answered or has left. A call that a handler makes
    /// through the same executor needs none.
    #[must_use]
    pub fn with_concurrency(mut self, n: usize) -> Self {
        self.config.permits = Some(Arc::new(Semaphore::new(n.min(Semaphore::MAX_PERMITS))));
        self
    }

    /// Claims for `lease`, anew with each write; also how long late answers are waited for.
    ///
    /// Make it longer than the deadline and the clients' hard limit together.
    #[must_use]
    pub const fn with_lease(mut self, lease: Duration) -> Self {
        self.config.lease = lease;
        self
    }

    /// Waits up to `patience` for an identical call in flight; then the call is `skipped`. At most a
    /// year.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.config.patience = patience.min(LONGEST_WAIT);
        self
    }

    /// Runs a call to its end.
    ///
    /// Dropping the future ends a call of which nothing has left; nothing of it will. A call of
    /// which something may have left goes on in a task of its own, and its row ends true.
    pub async fn run(&self, call: ToolCall) -> Envelope {
        let Ok(envelope) = self.start(call).await;
        envelope
    }

    /// What became of a call, from the ledger alone. Sends nothing and claims nothing.
    pub async fn status(&self, call: &ToolCall) -> Envelope {
        let intent = match self.look_up(call) {
            Ok((tool, _)) if tool.kind() == Kind::Read => {
                return invalid(&Error::invalid("tool", "only reads, and leaves no record"));
            }
            Ok((_, intent)) => intent,
            Err(error) => return invalid(&error),
        };
        let key = EntryKey::of(&intent);
        let envelope = match self.read(&key).await {
            Ok(entry) => replay::status(entry.as_ref(), intent.fingerprint()),
            Err(refused) => refused,
        };
        envelope.with_key(intent.key())
    }

    fn start(&self, call: ToolCall) -> ResponseFuture {
        let (tool, intent) = match self.look_up(&call) {
            Ok(found) => found,
            Err(error) => return ResponseFuture::ready(invalid(&error)),
        };
        let deadline = tool.deadline().unwrap_or(self.config.deadline);
        let deadline = deadline.min(LONGEST_WAIT);
        let run = Run {
            executor: self.clone(),
            tool,
            intent,
            arguments: call.into_arguments(),
            deadline,
            outer: Context::current(),
            nested: None,
        };
        match run.tool.kind() {
            Kind::Read => ResponseFuture::new(read::run(run)),
            Kind::Opaque | Kind::Write => ResponseFuture::new(task::shielded(run)),
        }
    }

    /// A row, or the answer to a call about which the ledger could not be asked.
    async fn read(&self, key: &EntryKey) -> Result<Option<Entry>, Envelope> {
        let doubts = &self.state.doubts;
        match self.config.ledger.read(key).await {
            Ok(entry) => {
                doubts.learn(key, entry.as_ref());
                Ok(entry)
            }
            Err(error) => Err(narrow(doubts.unasked(key, &error))),
        }
    }

    fn look_up(&self, call: &ToolCall) -> Result<(Arc<Tool>, Intent), Error> {
        let tool = self.config.tools.get(call.tool());
        let tool = tool.ok_or_else(|| Error::invalid("tool", "there is no tool of this name"))?;
        Ok((Arc::clone(tool), call.intent(tool.rules())?))
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor")
            .field("tools", &self.config.tools.keys())
            .field("owner", &self.config.owner)
            .field("deadline", &self.config.deadline)
            .field("lease", &self.config.lease)
            .field("patience", &self.config.patience)
            .finish_non_exhaustive()
    }
}

impl Service<ToolCall> for Executor {
    type Response = Envelope;
    type Error = Infallible;
    type Future = ResponseFuture;

    /// Always ready: waiting for a permit is part of the call, under its deadline.
    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: ToolCall) -> ResponseFuture {
        self.start(call)
    }
}

/// Response future of [`Executor`].
///
/// Dropping it ends a call of which nothing has left. Any other goes on in a task of its own.
pub struct ResponseFuture {
    // Boxed: a call runs in a task, and its ledger and its handler box as well.
    inner: Pin<Box<dyn Future<Output = Envelope> + Send>>,
}

impl ResponseFuture {
    fn new(inner: impl Future<Output = Envelope> + Send + 'static) -> Self {
        Self {
            inner: Box::pin(inner),
        }
    }

    fn ready(envelope: Envelope) -> Self {
        Self::new(std::future::ready(envelope))
    }
}

impl Future for ResponseFuture {
    type Output = Result<Envelope, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        self.inner.as_mut().poll(cx).map(Ok)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

/// One call that is ready to be made.
struct Run {
    executor: Executor,
    tool: Arc<Tool>,
    intent: Intent,
    arguments: serde_json::Value,
    deadline: Duration,
    /// The call whose handler makes this one.
    outer: Option<Context>,
    /// The same, where that call runs under this executor.
    nested: Option<nested::Nested>,
}

fn invalid(error: &Error) -> Envelope {
    Envelope::new(error.code()).with_detail(&error.to_string())
}

fn narrow(code: Code) -> Envelope {
    Envelope::new(Conclusion::new(code).for_this_call())
}

/// For how long a call that has ended may still come back with proof before its doubt is taken
/// down and told.
pub const GRACE: Duration = Duration::from_millis(100);

/// The longest time that can be added to any moment without thinking of its end.
const LONGEST_WAIT: Duration = Duration::from_hours(365 * 24);
