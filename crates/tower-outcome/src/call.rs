//! The record of one write: what every layer that handles it needs to know.
//!
//! The outermost of our layers makes it and puts it into the request's extensions; all attempts
//! share it. Reads have none and pay nothing. Below other people's layers it is the place to look:
//! `request.extensions().get::<Call>()`.

#![cfg(feature = "client")]

use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use futures_util::task::AtomicWaker;
use http::{Method, Request, Uri};
use tokio::sync::Notify;
use tokio::time::Instant;
use tower_outcome_core::gate::State;
use tower_outcome_core::ledger::Grant;
use tower_outcome_core::{Code, Conclusion, Gate, IdempotencyKey, Intent, Outcome, Sealed, Seen};

use crate::context::Context;
use crate::profile::{Profile, Target};
use crate::retry::Decision;
use crate::{Error, OutcomeBody, Watch, classify};

mod attempt;
mod ending;
mod history;
mod key;
mod names;
mod pace;
mod reads;
mod streaming;

use attempt::Track;
pub(crate) use attempt::{Attempt, Ending, Probe};
pub(crate) use ending::End;
pub(crate) use key::{Again, CallKey};
use names::Names;
pub(crate) use names::route;
pub(crate) use reads::{is_marked, is_plain_read, reads};

/// The record of one write. Cloning shares it.
#[derive(Clone)]
pub struct Call {
    record: Arc<Record>,
}

struct Record {
    gate: State,
    method: Method,
    uri: Uri,
    conditional: bool,
    names: OnceLock<Names>,
    profile: Arc<Profile>,
    key: CallKey,
    /// Where a ledger has the write's intent.
    placed: OnceLock<Intent>,
    context: Option<Context>,
    first: Track,
    progress: Mutex<Progress>,
    interim: AtomicWaker,
    changed: Notify,
}

#[derive(Default)]
struct Progress {
    /// How many attempts were made.
    attempts: usize,
    /// What is known of those after the first.
    later: Vec<Arc<Track>>,
    asks_ledger: bool,
    deadline: Option<Instant>,
    decision: Option<Decision>,
    end: Option<End>,
    /// When something was first sent under the key.
    first_sent: Option<Instant>,
    grant: Option<Grant>,
    /// As rendered for the ledger's record, until it is put into the request.
    wire_key: Option<Box<str>>,
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
    /// It was, and there is no more of it.
    Streamed,
    /// Its head is there, and the caller reads on.
    Streaming,
}

impl Call {
    /// The record of `request`, made on the first call; `None` for a read. Where the layers were not
    /// told what the provider promises, the tool call may know it.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` where the request names two keys at once, and `not_sent` where the
    /// context does not allow this write. Nothing was sent.
    pub(crate) fn of(
        request: &mut Request<OutcomeBody>,
        told: Option<&Arc<Profile>>,
    ) -> Result<Option<Self>, Error> {
        if let Some(call) = request.extensions().get::<Self>() {
            return Ok(Some(call.clone()));
        }
        // Nobody else needs it yet: a read takes part in no tool call.
        let context = told.is_none().then(Context::current).flatten();
        let known = context.as_ref().and_then(|it| it.profile_for(request));
        let profile = told.or(known).unwrap_or(&GENERIC);
        let Some(profile) = profile.of_writes(&Target::of(request)) else {
            reads::mark(request);
            return Ok(None);
        };
        let context = context.or_else(Context::current);
        let key = CallKey::of(request, &profile, context.as_ref())?;
        let parent = context.as_ref().map(|context| context.gate().clone());
        let record = Record {
            gate: State::new(parent),
            method: request.method().clone(),
            uri: request.uri().clone(),
            conditional: classify::is_conditional(request.headers()),
            names: OnceLock::new(),
            profile,
            key,
            placed: OnceLock::new(),
            context: context.as_ref().map(Context::without_writes),
            first: Track::default(),
            progress: Mutex::default(),
            interim: AtomicWaker::new(),
            changed: Notify::new(),
        };
        let call = Self {
            record: Arc::new(record),
        };
        if let CallKey::Again(_) = call.record.key {
            call.claimed(Grant {
                epoch: 0,
                generation: 0,
                maybe_sent: true,
            });
        }
        if let Some(context) = &context {
            context.admit(request, &call)?;
        }
        if !request.extensions().is_empty()
            && let Some(watch) = request.extensions().get::<Watch>()
        {
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
            Some(call) => Ok(Some(call.clone())),
            None if reads(request) => Ok(None),
            None => Self::of(request, None),
        }
    }

    /// Decides whether anything of this call can still leave.
    #[must_use]
    pub fn gate(&self) -> Gate {
        Gate::of(Arc::clone(&self.record))
    }

    /// The key of the write, if it has one that was derived from an intent.
    #[must_use]
    pub fn key(&self) -> Option<&IdempotencyKey> {
        let placed = self.record.placed.get();
        placed
            .map(Intent::key)
            .or_else(|| self.record.key.derived())
    }

    /// What has left so far, over all attempts.
    #[must_use]
    pub fn look(&self) -> Seen {
        self.record.gate.look()
    }

    /// How many attempts were made.
    #[must_use]
    pub fn attempts(&self) -> usize {
        self.progress().attempts
    }

    /// How the last attempt ended by itself.
    #[must_use]
    pub fn last(&self) -> Option<Code> {
        self.last_ending().map(|ending| ending.code)
    }

    pub(crate) fn last_ending(&self) -> Option<Ending> {
        self.last_track(&self.progress())?.ending()
    }

    /// Whether the last attempt got an answer.
    pub(crate) fn was_answered(&self) -> bool {
        let progress = self.progress();
        let last = self.last_track(&progress);
        last.is_some_and(Track::is_answered)
    }

    /// How the call ended, once it has.
    #[must_use]
    pub fn conclusion(&self) -> Option<Conclusion> {
        let progress = self.progress();
        progress.settled.or(progress.told)
    }

    /// Whether `request` makes this write. Layers below may change its host, and what stands before
    /// its path; a request to elsewhere that carries this record was made out of it.
    pub(crate) fn is_made_by<B>(&self, request: &Request<B>) -> bool {
        let (own, path) = (self.path(), request.uri().path());
        request.method() == self.method() && (own.ends_with(path) || path.ends_with(own))
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
            CallKey::Again(_) | CallKey::Caller(_) | CallKey::Child(_) | CallKey::None => None,
        }
    }

    pub(crate) fn context(&self) -> Option<&Context> {
        self.record.context.as_ref()
    }

    pub(crate) fn method(&self) -> &Method {
        &self.record.method
    }

    pub(crate) fn is_conditional(&self) -> bool {
        self.record.conditional
    }

    /// Starts an attempt, unless the call has ended, or an earlier attempt may have left and no key
    /// makes another one safe: a retry that is not ours may stand above.
    pub(crate) fn begin(&self) -> Result<Attempt, Error> {
        // Both under the lock: whoever judges between them would not see the attempt.
        let mut progress = self.progress();
        let again = self.any_left(&progress, 0);
        let admitted = if again && !self.is_keyed() {
            None
        } else {
            Some(self.record.gate.admit())
        };
        match admitted {
            Some(Ok(admission)) => {
                let later = (progress.attempts > 0).then(Arc::<Track>::default);
                progress.first_sent.get_or_insert_with(Instant::now);
                progress.attempts += 1;
                progress.later.extend(later.clone());
                let attempt = Attempt::new(self.clone(), later);
                attempt.admit(admission);
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

    fn progress(&self) -> MutexGuard<'_, Progress> {
        let progress = &self.record.progress;
        progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("route", &self.route())
            .field("key", &self.key())
            .field("seen", &self.look())
            .field("attempts", &self.attempts())
            .finish_non_exhaustive()
    }
}

impl AsRef<State> for Record {
    fn as_ref(&self) -> &State {
        &self.gate
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let progress = self.progress.get_mut();
        let progress = progress.unwrap_or_else(PoisonError::into_inner);
        self.first.abandon(&self.gate);
        for track in &progress.later {
            track.abandon(&self.gate);
        }
    }
}

/// Says why a repeat was refused, and what would allow it.
pub(crate) const REFUSED_REPEAT: &str = "an earlier try at this write may have left, and no key that \
    the provider honours makes another one safe";

/// What is promised where nobody knows better.
static GENERIC: LazyLock<Arc<Profile>> = LazyLock::new(Arc::default);
