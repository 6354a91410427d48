//! Runs tool calls so that each ends in one of five words, and none is done twice.
//!
//! A call is looked up, its arguments are checked, its key is derived; an identical call in flight
//! is joined, and one that has ended is answered from the ledger. Only then it waits for its
//! [lanes](crate::lanes) and a permit, claims its row and runs the handler, in a task that the
//! caller's drop does not reach. When the handler ends or time runs out, the call's gate is sealed
//! first and the word is chosen then, from the evidence of all writes that the handler made.
//!
//! - Waiting is unsent and holds no claim: a deadline, a drop or a shutdown meanwhile is `failed`.
//! - While a call is in doubt, what is much like it is [held back](crate::NearMisses).
//! - A call that a handler makes through an executor is a part of the outer one: its end is evidence
//!   for the outer word, the outer row says that it may send before it does, it has the outer one's
//!   lanes and permit, and inside the very same call of another executor it needs no claim of its own.
//! - [`Executor::drain`] ends a process; the next one asks its ledger nothing before its first call,
//!   and sends nothing by itself.
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

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use futures_util::future::join_all;
use tower_outcome::Context;
use tower_outcome_core::ledger::{Entry, EntryKey, LedgerError, alias};
use tower_outcome_core::{Code, Conclusion, Envelope, Error, Intent};
use tower_service::Service;

use crate::progress::Sink;
use crate::tool::{Kind, NearMisses, Redaction, Tool};
use crate::tool_call::ToolCall;

mod admission;
mod around;
mod config;
mod doubts;
mod fold;
mod levels;
mod nested;
pub(crate) mod permits;
mod queue;
mod read;
mod replay;
mod room;
mod row;
mod settling;
mod shutdown;
mod stacked;
mod status;
mod task;
mod twins;

use config::Config;

/// Runs tool calls. Cloning shares tools, permits and what is in flight.
///
/// See the [module docs](self).
#[derive(Clone)]
pub struct Executor {
    config: Config,
    state: Arc<State>,
}

/// What runs in this process.
#[derive(Default)]
struct State {
    doubts: doubts::Doubts,
    queue: queue::Queue,
    recent: status::Recent,
    running: Arc<shutdown::Running>,
    twins: twins::Twins,
}

impl Executor {
    /// Runs a call to its end.
    ///
    /// Dropping the future ends a call of which nothing has left; nothing of it will. A call of
    /// which something may have left goes on in a task of its own, and its row ends true.
    pub async fn run(&self, call: ToolCall) -> Envelope {
        let Ok(envelope) = self.start(call).await;
        envelope
    }

    /// Runs calls side by side, each to its end: one envelope for each, in the order of the calls.
    ///
    /// No call ends because another one does. Identical ones are done once; caps and lanes hold, and
    /// the order in which calls of one lane get there is not promised. Dropping the future is
    /// dropping that of each call.
    pub async fn run_all(&self, calls: Vec<ToolCall>) -> Vec<Envelope> {
        join_all(calls.into_iter().map(|call| self.run(call))).await
    }

    fn start(&self, mut call: ToolCall) -> ResponseFuture {
        let (tool, intent) = match self.look_up(&call) {
            Ok(found) => found,
            Err(error) => {
                self.refuse(&call, error.code());
                return ResponseFuture::ready(invalid(&error));
            }
        };
        if self.state.running.is_draining() {
            self.refuse(&call, Code::ShuttingDown);
            return ResponseFuture::ready(narrow(Code::ShuttingDown));
        }
        let deadline = tool.deadline().unwrap_or(self.config.deadline);
        let progress = call.take_progress();
        let near_misses = call.near_misses().unwrap_or(tool.near_misses());
        let run = Run {
            executor: self.clone(),
            redaction: tool.redaction(call.arguments()),
            tool,
            intent,
            arguments: call.into_arguments(),
            deadline: deadline.min(LONGEST_WAIT),
            near_misses,
            progress,
            outer: Context::current(),
            nested: None,
        };
        match run.tool.kind() {
            Kind::Read => ResponseFuture::new(read::run(run)),
            Kind::Status => ResponseFuture::new(status::run(run)),
            Kind::Opaque | Kind::Write => match stacked::place(&run) {
                stacked::Place::Inside(place) => ResponseFuture::new(stacked::run(run, place)),
                stacked::Place::Nowhere => {
                    let envelope = Envelope::new(Code::AlreadyInProgress);
                    ResponseFuture::ready(envelope.with_key(run.intent.key()))
                }
                stacked::Place::OfItsOwn => ResponseFuture::new(task::shielded(run)),
            },
        }
    }

    /// Has the call whose handler makes this one know that nothing came of it.
    fn refuse(&self, call: &ToolCall, code: Code) {
        let tool = self.config.tools.get(call.tool());
        if tool.is_some_and(|tool| tool.kind().writes()) {
            nested::Nest::refuse(call.tool(), code);
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

    /// A call's row under whichever of its keys, and the call there; or the answer to a call about
    /// which the ledger could not be asked.
    async fn find(&self, intent: &Intent) -> Result<(Intent, Option<Entry>), Envelope> {
        let found = alias::find(&*self.config.ledger, intent).await;
        if let Ok((intent, entry)) = &found {
            let key = EntryKey::of(intent);
            self.state.doubts.learn(&key, entry.as_ref());
        }
        found.map_err(|error| self.unasked(intent, &error))
    }

    /// A call at its row, where other keys lead to it.
    async fn place(&self, intent: &Intent) -> Result<Intent, Envelope> {
        let placed = alias::place(&*self.config.ledger, intent).await;
        let placed = placed.map_err(|error| self.unasked(intent, &error))?;
        self.state.recent.note(EntryKey::of(&placed));
        Ok(placed)
    }

    fn unasked(&self, intent: &Intent, error: &LedgerError) -> Envelope {
        let key = EntryKey::of(intent);
        narrow(self.state.doubts.unasked(&key, error))
    }

    fn look_up(&self, call: &ToolCall) -> Result<(Arc<Tool>, Intent), Error> {
        let tool = self.config.tools.get(call.tool());
        let tool = tool.ok_or_else(|| Error::invalid("tool", "there is no tool of this name"))?;
        tool.check(call.arguments())?;
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
            .field("permits", &self.config.permits)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("open", &self.running.open())
            .field("leading", &self.twins.len())
            .field("waiting", &self.queue.len())
            .field("in_doubt", &self.doubts.len())
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
    near_misses: NearMisses,
    progress: Option<Sink>,
    redaction: Redaction,
    /// The call whose handler makes this one.
    outer: Option<Context>,
    /// The same, where an executor runs that call.
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
