//! The record of one write: what every layer that handles it needs to know.
//!
//! The outermost of our layers makes it and puts it into the request's extensions; all attempts
//! share it. Reads have none and pay nothing. Below other people's layers it is the place to look:
//! `request.extensions().get::<Call>()`.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll};

use futures_util::task::AtomicWaker;
use http::{Method, Request};
use tokio::sync::Notify;
use tower_outcome_core::ledger::Grant;
use tower_outcome_core::{Code, Conclusion, Gate, IdempotencyKey, Intent, Outcome, Sealed, Seen};

use crate::context::Context;
use crate::profile::Profile;
use crate::{Error, OutcomeBody};

mod attempt;
mod key;

pub(crate) use attempt::{Attempt, Probe};
pub(crate) use key::CallKey;

/// The record of one write. Cloning shares it.
#[derive(Clone)]
pub struct Call {
    record: Arc<Record>,
}

struct Record {
    gate: Gate,
    method: Method,
    conditional: bool,
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
    end: Option<End>,
    grant: Option<Grant>,
    interim: Option<Conclusion>,
    settled: Option<Conclusion>,
    told: Option<Conclusion>,
}

/// Why a call ended before an answer came.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    /// The caller went away.
    Cancelled,
    /// Its time ran out.
    Deadline,
}

impl End {
    const fn unsent(self) -> Code {
        match self {
            Self::Cancelled => Code::CancelledBeforeSend,
            Self::Deadline => Code::TimeoutBeforeSend,
        }
    }

    const fn sent(self) -> Code {
        match self {
            Self::Cancelled => Code::ResponseLost,
            Self::Deadline => Code::TimeoutAfterSend,
        }
    }
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
        profile: &Arc<Profile>,
    ) -> Result<Option<Self>, Error> {
        if let Some(call) = request.extensions().get::<Self>() {
            return Ok(Some(call.clone()));
        }
        if is_read(request.method()) {
            return Ok(None);
        }
        let context = Context::current();
        let key = CallKey::of(request, profile, context.as_ref())?;
        let record = Record {
            gate: context
                .as_ref()
                .map_or_else(Gate::new, |context| context.gate().child()),
            method: request.method().clone(),
            conditional: CONDITIONS
                .iter()
                .any(|name| request.headers().contains_key(name)),
            route: key::route(request).into(),
            profile: Arc::clone(profile),
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
        request.extensions_mut().insert(call.clone());
        Ok(Some(call))
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
        self.progress().attempts.last()?.code()
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
        self.record.profile.honours_keys() && !matches!(self.record.key, CallKey::None)
    }

    pub(crate) fn intent(&self) -> Option<&Intent> {
        match &self.record.key {
            CallKey::Intent(intent) => Some(intent),
            CallKey::Caller | CallKey::Child(..) | CallKey::None => None,
        }
    }

    pub(crate) fn context(&self) -> Option<&Context> {
        self.record.context.as_ref()
    }

    /// The key as the provider sees it.
    pub(crate) fn wire_key(&self) -> Option<String> {
        let generation = match &self.record.context {
            Some(context) => context.generation(),
            None => self.progress().grant.map_or(0, |grant| grant.generation),
        };
        let style = self.record.profile.key_style();
        match &self.record.key {
            CallKey::Child(key, _) => Some(key.wire(generation).render(style)),
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

    /// The step's label or the route: equal ones are the same write of a call.
    pub(crate) fn label(&self) -> &str {
        match &self.record.key {
            CallKey::Child(_, label) => label,
            CallKey::Caller | CallKey::Intent(_) | CallKey::None => &self.record.route,
        }
    }

    /// Starts an attempt, unless the call has ended.
    pub(crate) fn begin(&self) -> Result<Arc<Attempt>, Sealed> {
        let attempt = Attempt::new(self.record.gate.pass()?);
        self.progress().attempts.push(Arc::clone(&attempt));
        Ok(attempt)
    }

    /// Whether an attempt before the last one, or an earlier call, may have left.
    pub(crate) fn is_tainted(&self) -> bool {
        let progress = self.progress();
        let earlier = progress.attempts.len().saturating_sub(1);
        progress.grant.is_some_and(|grant| grant.maybe_sent)
            || any_left(&progress.attempts[..earlier])
    }

    /// Whether an attempt of this very call before the last one may have left.
    pub(crate) fn has_left_before(&self) -> bool {
        let progress = self.progress();
        let earlier = progress.attempts.len().saturating_sub(1);
        any_left(&progress.attempts[..earlier])
    }

    fn may_have_left(&self) -> bool {
        let progress = self.progress();
        // What passed the gate without an attempt of ours was sent by somebody else's transport.
        let unaccounted = progress.attempts.is_empty() && self.look() != Seen::Never;
        unaccounted
            || progress.grant.is_some_and(|grant| grant.maybe_sent)
            || any_left(&progress.attempts)
    }

    /// Ends the call: nothing of it leaves from here on.
    pub(crate) fn end(&self, end: End) -> Seen {
        // The reason first: whoever is woken by the seal asks for it.
        self.progress().end.get_or_insert(end);
        self.record.gate.seal()
    }

    pub(crate) fn ended(&self) -> Option<End> {
        self.progress().end.or_else(|| {
            let sealed = self.record.context.as_ref()?.gate().is_sealed();
            sealed.then_some(End::Deadline)
        })
    }

    /// The code for an attempt that could not be made because the call has ended.
    pub(crate) fn unsent_code(&self) -> Code {
        self.ended().map_or(Code::NotSent, End::unsent)
    }

    /// The code for an attempt that was given up because the call has ended.
    pub(crate) fn lost_code(&self) -> Code {
        let proven = self
            .progress()
            .attempts
            .last()
            .and_then(|it| it.done_by_head());
        proven.unwrap_or_else(|| self.ended().map_or(Code::ResponseLost, End::sent))
    }

    /// A ledger answers for this call: its word has to wait for the ledger's.
    pub(crate) fn ask_ledger(&self) {
        self.progress().asks_ledger = true;
    }

    pub(crate) fn claimed(&self, grant: Grant) {
        self.progress().grant = Some(grant);
    }

    /// The doubt is on record wherever it has to be; the caller can be told.
    pub(crate) fn give_interim(&self, conclusion: Conclusion) {
        self.progress().interim = Some(conclusion);
        self.record.interim.wake();
    }

    /// The same, from a transport, where no ledger has to be asked first.
    pub(crate) fn give_interim_unless_claimed(&self, code: Code) {
        if !self.progress().asks_ledger {
            self.give_interim(code.into());
        }
    }

    pub(crate) fn interim(&self) -> Option<Conclusion> {
        self.progress().interim
    }

    pub(crate) fn poll_interim(&self, cx: &mut TaskContext<'_>) -> Poll<()> {
        self.record.interim.register(cx.waker());
        match self.interim() {
            Some(_) => Poll::Ready(()),
            None => Poll::Pending,
        }
    }

    /// Chooses the word for the whole call. Seals the gate first, so that the word stays true.
    pub(crate) fn judge(&self, ended: Result<(), Conclusion>) -> Conclusion {
        self.record.gate.seal();
        let settled = self.progress().settled;
        let conclusion = match ended {
            Ok(()) => match settled {
                Some(settled) => return settled,
                None => self.last().unwrap_or(Code::ResponseLost).into(),
            },
            Err(conclusion) if conclusion.outcome() == Outcome::Failed && self.may_have_left() => {
                self.doubt().into()
            }
            Err(conclusion) => conclusion,
        };
        if self.has_read_entry() {
            conclusion
        } else {
            conclusion.for_this_call()
        }
    }

    /// Fixes what became of the write. The first word stays.
    pub(crate) fn settle(&self, conclusion: Conclusion) {
        self.progress().settled.get_or_insert(conclusion);
        self.record.settled.notify_waiters();
    }

    /// Notes what the caller was told.
    pub(crate) fn tell(&self, conclusion: Conclusion) -> Conclusion {
        self.progress().told = Some(conclusion);
        conclusion
    }

    /// Waits until nothing of the write is under way any more, and tells what became of it.
    ///
    /// Later than the caller's verdict where the answer was late. Dropping the future changes
    /// nothing.
    pub async fn settled(&self) -> Conclusion {
        loop {
            let mut change = std::pin::pin!(self.record.settled.notified());
            change.as_mut().enable();
            if let Some(settled) = self.progress().settled {
                return settled;
            }
            change.await;
        }
    }

    /// Why there is no proof, from the latest attempt that may have left.
    fn doubt(&self) -> Code {
        let progress = self.progress();
        let mut codes = progress.attempts.iter().rev().filter_map(|it| it.code());
        let doubt = codes.find(|code| code.outcome() == Outcome::Unknown);
        drop(codes);
        match (progress.end, doubt) {
            (Some(end), _) => end.sent(),
            (None, Some(doubt)) => doubt,
            (None, None) => Code::ResponseLost,
        }
    }

    /// Whether an earlier identical call would be known here.
    fn has_read_entry(&self) -> bool {
        self.record.context.is_some()
            || self.progress().grant.is_some()
            || matches!(self.record.key, CallKey::None)
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

/// Methods that change nothing (RFC 9110 section 9.2.1).
pub(crate) fn is_read(method: &Method) -> bool {
    matches!(
        *method,
        Method::GET | Method::HEAD | Method::OPTIONS | Method::TRACE
    )
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
