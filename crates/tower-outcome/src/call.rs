//! The record of one write: what every layer that handles it needs to know.
//!
//! The outermost of our layers makes it and puts it into the request's extensions; all attempts
//! share it. Reads have none and pay nothing. Below other people's layers it is the place to look:
//! `request.extensions().get::<Call>()`.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::task::AtomicWaker;
use http::{Method, Request};
use tokio::sync::Notify;
use tokio::time::Instant;
use tower_outcome_core::ledger::Grant;
use tower_outcome_core::{Code, Conclusion, Gate, IdempotencyKey, Intent, Outcome, Sealed, Seen};

use crate::context::Context;
use crate::profile::{Profile, Target};
use crate::retry::Decision;
use crate::{Error, OutcomeBody, Watch};

mod attempt;
mod ending;
mod key;
mod pace;
mod reads;

pub(crate) use attempt::{Attempt, Ending, Probe};
pub(crate) use ending::End;
pub(crate) use key::CallKey;
pub(crate) use reads::{is_marked, reads};

/// The record of one write. Cloning shares it.
#[derive(Clone)]
pub struct Call {
    record: Arc<Record>,
}

struct Record {
    gate: Gate,
    method: Method,
    conditional: bool,
    label: Box<str>,
    route: Box<str>,
    profile: Arc<Profile>,
    key: CallKey,
    context: Option<Context>,
    progress: Mutex<Progress>,
    interim: AtomicWaker,
    settled: Notify,
}

#[derive(Default)]
struct Progress {
    attempts: Vec<Arc<Attempt>>,
    asks_ledger: bool,
    deadline: Option<Instant>,
    decision: Option<Decision>,
    end: Option<End>,
    /// When something was first sent under the key.
    first_sent: Option<Instant>,
    grant: Option<Grant>,
    /// An earlier call made the same write, and it may have left.
    inherits_doubt: bool,
    interim: Option<Conclusion>,
    delivery: Delivery,
    settled: Option<Conclusion>,
    told: Option<Conclusion>,
}

/// How the answer reaches the caller.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Delivery {
    /// With its verdict, once it is complete.
    #[default]
    Judged,
    /// As it is, and not only when it is complete.
    Kept,
    /// Its head is there, and the caller reads on.
    Streaming,
}

impl Call {
    /// The record of `request`, made on the first call; `None` for a read.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` where the request names two keys at once, and `not_sent` where the
    /// context does not allow this write. Nothing was sent.
    pub(crate) fn of(
        request: &mut Request<OutcomeBody>,
        profile: impl FnOnce() -> Arc<Profile>,
    ) -> Result<Option<Self>, Error> {
        if let Some(call) = request.extensions().get::<Self>() {
            return Ok(Some(call.clone()));
        }
        let profile = profile().at(&Target::of(request));
        if profile.reads(request.method()) {
            reads::mark(request);
            return Ok(None);
        }
        let context = Context::current();
        let route = key::route(request);
        let step = key::step(request, context.as_ref(), &route);
        let key = CallKey::of(request, &profile, context.as_ref(), &step)?;
        let record = Record {
            gate: context
                .as_ref()
                .map_or_else(Gate::new, |context| context.gate().child()),
            method: request.method().clone(),
            conditional: CONDITIONS
                .iter()
                .any(|name| request.headers().contains_key(name)),
            label: key::label(request, &profile, &key, step),
            route: route.into(),
            profile,
            key,
            context,
            progress: Mutex::default(),
            interim: AtomicWaker::new(),
            settled: Notify::new(),
        };
        let call = Self {
            record: Arc::new(record),
        };
        if let Some(context) = &call.record.context {
            context.admit(request, &call)?;
        }
        if let Some(watch) = request.extensions().get::<Watch>() {
            watch.attach(&call)?;
        }
        request.extensions_mut().insert(call.clone());
        Ok(Some(call))
    }

    /// The record of `request`. Where no layer above has made one, nothing is expected of the
    /// provider.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub(crate) fn find(request: &mut Request<OutcomeBody>) -> Result<Option<Self>, Error> {
        match request.extensions().get::<Self>() {
            None if reads(request) => Ok(None),
            _ => Self::of(request, Arc::default),
        }
    }

    /// Decides whether anything of this call can still leave.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.record.gate
    }

    /// The key of the write, if it has one that was derived from an intent.
    #[must_use]
    pub fn key(&self) -> Option<&IdempotencyKey> {
        self.record.key.derived()
    }

    /// What has left so far, over all attempts.
    #[must_use]
    pub fn look(&self) -> Seen {
        self.record.gate.look()
    }

    /// How many attempts were made.
    #[must_use]
    pub fn attempts(&self) -> usize {
        self.progress().attempts.len()
    }

    /// How the last attempt ended by itself.
    #[must_use]
    pub fn last(&self) -> Option<Code> {
        self.last_ending().map(|ending| ending.code)
    }

    pub(crate) fn last_ending(&self) -> Option<Ending> {
        self.progress().attempts.last()?.ending()
    }

    /// Whether the last attempt got an answer.
    pub(crate) fn was_answered(&self) -> bool {
        let progress = self.progress();
        let last = progress.attempts.last();
        last.is_some_and(|attempt| attempt.is_answered())
    }

    /// How the call ended, once it has.
    #[must_use]
    pub fn conclusion(&self) -> Option<Conclusion> {
        let progress = self.progress();
        progress.settled.or(progress.told)
    }

    /// Method, authority and path. No query: it may hold secrets.
    #[must_use]
    pub fn route(&self) -> &str {
        &self.record.route
    }

    /// What the provider promises.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.record.profile
    }

    /// Whether the write carries a key that the provider promises to honour.
    #[must_use]
    pub fn is_keyed(&self) -> bool {
        self.record.profile.honours_keys() && self.has_key()
    }

    /// Whether a ledger answers for the write: its own claim, or that of its tool call.
    pub(crate) fn is_claimed(&self) -> bool {
        self.record.context.is_some() || self.progress().grant.is_some()
    }

    /// Whether the write carries a key, honoured or not.
    pub(crate) fn has_key(&self) -> bool {
        !matches!(self.record.key, CallKey::None)
    }

    pub(crate) fn intent(&self) -> Option<&Intent> {
        match &self.record.key {
            CallKey::Intent(intent) => Some(intent),
            CallKey::Caller | CallKey::Child(_) | CallKey::None => None,
        }
    }

    pub(crate) fn context(&self) -> Option<&Context> {
        self.record.context.as_ref()
    }

    /// The key as the provider sees it.
    pub(crate) fn wire_key(&self) -> Option<String> {
        // A claim of the write's own counts; the tool call's covers what has none.
        let outer = self.record.context.as_ref().map_or(0, Context::generation);
        let grant = self.progress().grant;
        let generation = grant.map_or(outer, |grant| grant.generation);
        let style = self.record.profile.key_style();
        match &self.record.key {
            CallKey::Child(key) => Some(key.wire(generation).render(style)),
            CallKey::Intent(intent) => Some(intent.render(generation, style)),
            CallKey::Caller | CallKey::None => None,
        }
    }

    pub(crate) fn method(&self) -> &Method {
        &self.record.method
    }

    pub(crate) fn is_conditional(&self) -> bool {
        self.record.conditional
    }

    /// Tells the writes of a tool call apart: equal ones are the same write.
    pub(crate) fn label(&self) -> &str {
        &self.record.label
    }

    /// Starts an attempt, unless the call has ended, or an earlier attempt may have left and no key
    /// makes another one safe: a retry that is not ours may stand above.
    pub(crate) fn begin(&self) -> Result<Arc<Attempt>, Error> {
        // Both under the lock: whoever judges between them would not see the attempt.
        let mut progress = self.progress();
        let again = any_left(&progress.attempts);
        let passed = if again && !self.is_keyed() {
            None
        } else {
            Some(self.record.gate.pass())
        };
        match passed {
            Some(Ok(pass)) => {
                let attempt = Attempt::new(pass);
                progress.first_sent.get_or_insert_with(Instant::now);
                progress.attempts.push(Arc::clone(&attempt));
                Ok(attempt)
            }
            Some(Err(Sealed { .. })) => {
                drop(progress);
                Err(Error::new(self.unsent_code()))
            }
            None => {
                drop(progress);
                Err(Error::new(self.first_word()).with_detail(REFUSED_REPEAT))
            }
        }
    }

    /// Has the caller get the answer itself.
    pub(crate) fn keep_response(&self) {
        self.progress().delivery = Delivery::Kept;
    }

    pub(crate) fn keeps_response(&self) -> bool {
        self.progress().delivery != Delivery::Judged
    }

    /// The caller reads on by itself.
    pub(crate) fn begin_streaming(&self) {
        self.progress().delivery = Delivery::Streaming;
    }

    /// The caller has read the answer's end, or let go of it.
    pub(crate) fn end_streaming(&self) {
        self.progress().delivery = Delivery::Kept;
        let conclusion = self.judge(Ok(()));
        self.settle(conclusion);
        self.tell(conclusion);
    }

    /// Whether the caller has the answer's head, and its end will say how the call ended.
    pub(crate) fn is_streaming(&self) -> bool {
        self.progress().delivery == Delivery::Streaming
    }

    /// Whether both are the record of the same call.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.record, &other.record)
    }

    /// Whether the write may have left, or still may, and nobody knows what became of it.
    pub(crate) fn is_unresolved(&self) -> bool {
        let open = |it: Conclusion| matches!(it.outcome(), Outcome::Unknown | Outcome::Skipped);
        let sent = self.look() != Seen::Never;
        match self.conclusion() {
            Some(conclusion) => sent && open(conclusion),
            None => sent || !self.gate().is_sealed(),
        }
    }

    /// Whether an attempt before the last one, or an earlier call, may have left.
    pub(crate) fn is_tainted(&self) -> bool {
        let progress = self.progress();
        let earlier = progress.attempts.len().saturating_sub(1);
        progress.inherits_doubt
            || progress.grant.is_some_and(|grant| grant.maybe_sent)
            || any_left(&progress.attempts[..earlier])
    }

    /// Whether an attempt of this very call, or of the tool call it belongs to, before the last one
    /// may have left.
    pub(crate) fn has_left_before(&self) -> bool {
        let progress = self.progress();
        let earlier = progress.attempts.len().saturating_sub(1);
        progress.inherits_doubt || any_left(&progress.attempts[..earlier])
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        let progress = &self.record.progress;
        progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("route", &self.record.route)
            .field("key", &self.key())
            .field("seen", &self.look())
            .field("attempts", &self.attempts())
            .finish_non_exhaustive()
    }
}

fn any_left(attempts: &[Arc<Attempt>]) -> bool {
    attempts.iter().any(|attempt| {
        // A refusal that was proof in its time is no taint.
        let proven = attempt
            .code()
            .is_some_and(|code| code.outcome() == Outcome::Failed);
        !proven && !attempt.is_proven_unsent()
    })
}

/// Headers that make a 412 the answer to a declared condition (RFC 9110 section 13.1).
const CONDITIONS: [http::HeaderName; 4] = [
    http::header::IF_MATCH,
    http::header::IF_NONE_MATCH,
    http::header::IF_UNMODIFIED_SINCE,
    http::header::IF_MODIFIED_SINCE,
];

/// Says why a repeat was refused, and what would allow it.
pub(crate) const REFUSED_REPEAT: &str = "an earlier try at this write may have left, and no key that \
    the provider honours makes another one safe";
