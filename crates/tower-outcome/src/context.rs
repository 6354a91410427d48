//! The tool call that a write belongs to.
//!
//! A tool's handler rarely holds the request: it calls an SDK. So the context travels in a
//! task-local; the outermost layer of the client below picks it up. A task that the handler spawns
//! has none unless it is given one with [`Context::scope`].
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), tower_outcome::Error> {
//! use serde_json::json;
//! use tower_outcome::{Context, Gate, Intent};
//!
//! let intent = Intent::new("acme/customer-7", "refund", &json!({ "order": 7 }))?;
//! let context = Context::new(&intent, 0, Gate::new());
//! context.scope(async {
//!     let context = Context::current().expect("inside a tool call");
//!     tokio::spawn(context.step("notify").scope(async { /* a second write */ }));
//! }).await;
//! # Ok(()) }
//! ```

#![cfg(feature = "client")]

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Extensions, Request};
use tokio::task::futures::TaskLocalFuture;
use tower_outcome_core::ledger::{LedgerFuture, WriteRecord};
use tower_outcome_core::{Code, Gate, IdempotencyKey, Intent, Outcome, Seen};

use crate::call::Call;
use crate::profile::{Profile, Profiles};
use crate::{Error, OutcomeBody};

mod claimed;
mod part;

pub use claimed::Claimed;
use part::Part;

tokio::task_local! {
    static CURRENT: Context;
}

/// The tool call that a write belongs to. Cloning shares it.
#[derive(Clone)]
pub struct Context {
    shared: Arc<Shared>,
    /// Not in a write's own record: each would keep the other one alive for ever.
    writes: Option<Arc<Mutex<Vec<Write>>>>,
    part: Option<Arc<Part>>,
    profiles: Option<Arc<Profiles>>,
}

struct Shared {
    gate: Gate,
    intent: Intent,
    generation: u32,
    reads_only: bool,
    recorder: Option<Arc<dyn Recorder>>,
    outer: Option<Context>,
    extensions: Extensions,
}

/// One write of a call: all the times that it was made.
struct Write {
    label: Box<str>,
    body: Option<Bytes>,
    calls: Vec<Call>,
}

/// Takes a write down before it may leave.
pub trait Recorder: Send + Sync + 'static {
    /// Returns once the record is durable. After an error the write is not sent.
    fn before_send(&self, write: WriteRecord) -> LedgerFuture<'_, ()>;

    /// Whether only writes may leave whose key the provider honours: see
    /// [`Ledger::needs_honoured_keys`](tower_outcome_core::Ledger::needs_honoured_keys).
    fn needs_honoured_keys(&self) -> bool {
        false
    }

    /// Whether the request itself may be kept with its record: see
    /// [`ClaimLayer::with_stored_requests`](crate::ClaimLayer::with_stored_requests). Only where it is
    /// encrypted, and holds nothing that must not turn up anywhere else.
    fn keeps_requests(&self) -> bool {
        false
    }

    /// The claim that the call runs under, so that a client inside it which asks the same ledger for
    /// the same intent neither waits for it nor claims again. Without it such a client claims.
    fn claimed(&self) -> Option<Claimed<'_>> {
        None
    }
}

impl Context {
    /// The context of a call that is about to run its handler under `gate`.
    #[must_use]
    pub fn new(intent: &Intent, generation: u32, gate: Gate) -> Self {
        Self {
            shared: Arc::new(Shared {
                gate,
                intent: intent.clone(),
                generation,
                reads_only: false,
                recorder: None,
                outer: None,
                extensions: Extensions::new(),
            }),
            writes: Some(Arc::default()),
            part: None,
            profiles: None,
        }
    }

    /// This context for writes to APIs that make these promises: what a stack below goes by that
    /// was not told a profile of its own. See [`Profiles`].
    #[must_use]
    pub fn with_profiles(mut self, profiles: Arc<Profiles>) -> Self {
        self.profiles = Some(profiles);
        self
    }

    /// Has every write taken down before it may leave.
    ///
    /// # Panics
    ///
    /// If the context has been shared already.
    #[must_use]
    pub fn with_recorder(mut self, recorder: Arc<dyn Recorder>) -> Self {
        self.unshared().recorder = Some(recorder);
        self
    }

    /// Makes the call one that the handler of `outer` makes.
    ///
    /// # Panics
    ///
    /// If the context has been shared already.
    #[must_use]
    pub fn with_outer(mut self, outer: Self) -> Self {
        self.unshared().outer = Some(outer);
        self
    }

    /// Has `value` travel with the context, one of each type.
    ///
    /// # Panics
    ///
    /// If the context has been shared already.
    #[must_use]
    pub fn with_extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.unshared().extensions.insert(value);
        self
    }

    /// Refuses every write: the call said that it only reads.
    ///
    /// # Panics
    ///
    /// If the context has been shared already.
    #[must_use]
    pub fn reads_only(mut self) -> Self {
        self.unshared().reads_only = true;
        self
    }

    /// The context of the running task.
    #[must_use]
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Self::clone).ok()
    }

    /// Runs `future` in this context. Dropping it drops `future`.
    pub fn scope<F: Future>(self, future: F) -> TaskLocalFuture<Self, F> {
        CURRENT.scope(self, future)
    }

    /// The key of the whole call.
    #[must_use]
    pub fn key(&self) -> &IdempotencyKey {
        self.shared.intent.key()
    }

    /// Everything that the handler wrote or tried to: one call for each write, the latest. Where an
    /// earlier try at a write may have left and the latest cannot speak for it, the earlier.
    #[must_use]
    pub fn writes(&self) -> Vec<Call> {
        let writes = self.writes_now();
        writes.map_or_else(Vec::new, |writes| {
            writes.iter().filter_map(Write::spokesman).collect()
        })
    }

    /// Takes writes down before they may leave, if anybody does.
    #[must_use]
    pub fn recorder(&self) -> Option<&Arc<dyn Recorder>> {
        self.shared.recorder.as_ref()
    }

    /// What travels with the context.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.shared.extensions.get()
    }

    /// This call, the call whose handler makes it, the one whose handler makes that, and so on.
    pub fn lineage(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |context| context.shared.outer.as_ref())
    }

    /// Whether `intent` is what this call does, by any version of the rules that either knows: see
    /// [`Intent::is_named_by`].
    #[must_use]
    pub fn is_of(&self, intent: &Intent) -> bool {
        // The call may know one version only, and not the one that the intent has its key from.
        let mut versions = std::iter::successors(Some(intent), |intent| intent.successor());
        versions.any(|intent| self.shared.intent.is_named_by(intent.key()))
    }

    /// Whether `intent` is what this call or one around it does, so that its claim stands already.
    #[must_use]
    pub fn answers_for(&self, intent: &Intent) -> bool {
        self.lineage().any(|context| context.is_of(intent))
    }

    /// What a write's record knows of its call.
    pub(crate) fn without_writes(&self) -> Self {
        Self {
            writes: None,
            ..self.clone()
        }
    }

    pub(crate) fn generation(&self) -> u32 {
        self.shared.generation
    }

    /// Whether the tool call around, if there is one, may know what an API promises.
    pub(crate) fn knows_profiles() -> bool {
        CURRENT
            .try_with(|context| context.profiles.is_some())
            .unwrap_or_default()
    }

    /// What the API that `request` goes to promises, where this call knows it.
    pub(crate) fn profile_for(&self, request: &Request<OutcomeBody>) -> Option<&Arc<Profile>> {
        self.profiles.as_ref()?.at(request.uri().host()?)
    }

    /// Lets `call` be a write of this tool call, or says why it must not be made.
    pub(crate) fn admit(&self, request: &Request<OutcomeBody>, call: &Call) -> Result<(), Error> {
        if self.shared.reads_only {
            return Err(
                Error::new(Code::NotSent).with_detail("a tool that only reads cannot write")
            );
        }
        let body = request.body().bytes();
        let Some(mut writes) = self.writes_now() else {
            return Ok(());
        };
        let Some(write) = writes
            .iter_mut()
            .find(|write| *write.label == *call.label())
        else {
            writes.push(Write {
                label: call.label().into(),
                body,
                calls: vec![call.clone()],
            });
            return Ok(());
        };
        if write.body != body || body.is_none() {
            // It was tried, and did not happen: the call's end has to know.
            call.settle(Code::NotSent.into());
            let label = call.label().into();
            let calls = vec![call.clone()];
            writes.push(Write { label, body, calls });
            return Err(Error::new(Code::NotSent).with_detail(format!(
                "a second, different write to {} in one call needs a label: use Context::step",
                call.route()
            )));
        }
        if !call.is_keyed() && write.calls.iter().any(is_under_way) {
            return Err(Error::new(Code::StillConfirming)
                .with_detail("this write is already being made in this call"));
        }
        match write.spokesman().map(|earlier| may_repeat(&earlier, call)) {
            Some(Err(error)) => Err(error),
            Some(Ok(())) | None => {
                if let Some(earlier) = write.calls.iter().find(|call| may_have_left(call)) {
                    call.inherit_doubt(earlier);
                }
                write.calls.push(call.clone());
                Ok(())
            }
        }
    }

    fn unshared(&mut self) -> &mut Shared {
        Arc::get_mut(&mut self.shared).expect("a context is set up before it is shared")
    }

    fn writes_now(&self) -> Option<MutexGuard<'_, Vec<Write>>> {
        let writes = self.writes.as_ref()?;
        Some(writes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write {
    fn spokesman(&self) -> Option<Call> {
        let done = self
            .calls
            .iter()
            .rev()
            .find(|call| ended(call, Outcome::is_done));
        let open = || {
            let mut calls = self.calls.iter().rev();
            calls.find(|call| may_have_left(call))
        };
        done.or_else(open).or(self.calls.last()).cloned()
    }
}

/// Whether a write may be made once more: what never left may, what left may under a key.
fn may_repeat(earlier: &Call, again: &Call) -> Result<(), Error> {
    if !may_have_left(earlier) || again.is_keyed() {
        return Ok(());
    }
    let code = if ended(earlier, Outcome::is_done) {
        Code::ResultOmitted
    } else {
        Code::StillConfirming
    };
    Err(Error::new(code).with_detail("this write was already made in this call"))
}

/// Whether nobody knows yet whether it leaves.
fn is_under_way(call: &Call) -> bool {
    call.conclusion().is_none() && !call.gate().is_sealed()
}

fn may_have_left(call: &Call) -> bool {
    call.look() != Seen::Never && !ended(call, |word| word == Outcome::Failed)
}

fn ended(call: &Call, as_word: impl Fn(Outcome) -> bool) -> bool {
    call.conclusion().is_some_and(|it| as_word(it.outcome()))
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("key", self.key())
            .field("gate", self.gate())
            .field("label", &self.label())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Context, Gate, Intent};

    fn intent(order: u32) -> Intent {
        Intent::new("acme", "refund", &json!({ "order": order })).expect("it is an intent")
    }

    #[test]
    fn a_call_inside_a_call_knows_what_is_around_it_and_what_travels_with_it() {
        let outer = Context::new(&intent(1), 0, Gate::new()).with_extension("held");
        let inner = Context::new(&intent(2), 0, Gate::new()).with_outer(outer.step("b"));
        let own = |context: &Context| context.extension::<&str>().copied();
        assert_eq!((own(&outer), own(&inner)), (Some("held"), None));
        assert_eq!(inner.lineage().find_map(own), Some("held"));
        assert_eq!(outer.lineage().count(), 1);
        for (order, inside, outside) in [(1, true, true), (2, true, false), (3, false, false)] {
            assert_eq!(inner.answers_for(&intent(order)), inside);
            assert_eq!(outer.answers_for(&intent(order)), outside);
        }
    }
}
