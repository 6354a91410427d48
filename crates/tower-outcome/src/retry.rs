//! A policy for tower's retry that never sends a write twice without a key.
//!
//! The request is asked before the answer: a write without a key that the provider promises to
//! honour is not even cloned. What is retried keeps its key and its bytes. Reads are retried when
//! they got no answer or one of the 5xx kind.
//!
//! After an attempt it is asked, in this order: may the request be repeated at all; is there proof
//! that it never left; does the provider's profile expect another attempt to tell more; does the
//! provider forbid one or ask for a wait; is the key still known by the time that it would land;
//! is there time, and budget. The answer is a [`Decision`] with its [`Reason`].
//!
//! Works alone under tower's own `RetryLayer` as well, over any client whose body can be cloned.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
//! use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
//!
//! use http::{Request, Response};
//! use tower::{BoxError, ServiceBuilder, ServiceExt as _, retry::RetryLayer};
//! use tower_outcome::{KeyedRetry, Profile};
//!
//! let sent = Arc::new(AtomicUsize::new(0));
//! let count = Arc::clone(&sent);
//! let client = ServiceBuilder::new()
//!     .layer(RetryLayer::new(KeyedRetry::new(3).with_profile(Profile::idempotency_key())))
//!     .service_fn(move |_: Request<&'static str>| {
//!         count.fetch_add(1, Ordering::SeqCst);
//!         async { Ok::<_, BoxError>(Response::builder().status(503).body(()).unwrap()) }
//!     });
//!
//! let unkeyed = Request::post("/refunds").body("{}").unwrap();
//! client.clone().oneshot(unkeyed).await.unwrap();
//! assert_eq!(sent.swap(0, Ordering::SeqCst), 1); // sent once, whatever came back
//!
//! let keyed = Request::post("/refunds").header("idempotency-key", "refund-7").body("{}").unwrap();
//! client.oneshot(keyed).await.unwrap();
//! assert_eq!(sent.load(Ordering::SeqCst), 3);
//! # }
//! ```
//!
//! # Beside other policies
//!
//! Most policies look at the answer alone and treat a POST as they treat a GET:
//!
//! | a POST | no key, 503 | no key, connection broke after the send | honoured key, 503 |
//! |---|---|---|---|
//! | `KeyedRetry` | sent once | sent once | sent again, same key |
//! | reqwest-retry 0.9, its defaults | sent again | sent again | sent again |
//! | tower-resilience-retry 0.14, its defaults | answer taken | sent again | answer taken |
//!
//! Whether the second POST is a second refund is then the provider's luck. `cargo xtask honesty`
//! of the repository counts how often it is.

#![cfg(feature = "retry")]

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Request, Response};
use tokio::time::Instant;
use tower::retry::Policy;
use tower::retry::budget::TpsBudget;

use crate::Profile;

mod asked;
mod backoff;
mod choice;
mod decision;
#[cfg_attr(
    not(feature = "client"),
    allow(dead_code, reason = "records know more than heads")
)]
mod facts;
#[cfg(feature = "hedge")]
mod hedge;
mod plain;
#[cfg(feature = "client")]
mod record;
#[cfg(not(feature = "client"))]
#[path = "retry/no_record.rs"]
mod record;
mod refresh;
#[cfg(feature = "client")]
mod sparing;

pub use asked::MAX_RETRY_AFTER;
pub(crate) use asked::Pushback;
#[cfg(feature = "client")]
pub(crate) use asked::pushback;
pub use backoff::Backoff;
pub use choice::{LANDING, MAX_DELAY};
pub use decision::{Decision, Reason};
use facts::Facts;
#[cfg(feature = "hedge")]
pub use hedge::HedgeGuard;
use refresh::Refresh;
#[cfg(feature = "client")]
pub(crate) use refresh::renew;
pub use refresh::renewed;
#[cfg(feature = "client")]
pub(crate) use sparing::Spare;
#[cfg(feature = "client")]
pub use sparing::Sparing;

/// Retries what is safe to repeat, with exponential backoff and full jitter.
///
/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct KeyedRetry {
    // Shared, as tower clones the policy for each call.
    settings: Arc<Settings>,
    // Of the call that a clone is made for:
    made: u32,
    /// How often the wait was doubled.
    doubled: u32,
    refreshed: bool,
    /// Something of it may have been looked at. Where there is a record, that knows better.
    may_have_left: bool,
    began: Option<Instant>,
}

#[derive(Clone, Debug)]
struct Settings {
    attempts: u32,
    first_delay: Duration,
    total_time: Duration,
    profile: Arc<Profile>,
    retries_unsent: bool,
    budget: Option<Arc<TpsBudget>>,
    refresh: Option<Refresh>,
}

impl KeyedRetry {
    /// At most `attempts` attempts in all, the first wait up to 100 milliseconds, none begun later
    /// than 5 minutes after the first.
    #[must_use]
    pub fn new(attempts: u32) -> Self {
        Self {
            settings: Arc::new(Settings {
                attempts,
                first_delay: Duration::from_millis(100),
                total_time: MAX_RETRY_AFTER,
                profile: Arc::new(Profile::generic()),
                retries_unsent: false,
                budget: None,
                refresh: None,
            }),
            made: 0,
            doubled: 0,
            refreshed: false,
            may_have_left: false,
            began: None,
        }
    }

    /// Waits up to `delay` before the second attempt, up to twice as long before each further one,
    /// and never longer than [`MAX_DELAY`] unless the provider asks for it.
    #[must_use]
    pub fn with_first_delay(self, delay: Duration) -> Self {
        self.set(|settings| settings.first_delay = delay)
    }

    /// Begins no attempt, and no wait for one, that would come `limit` after the first or later.
    #[must_use]
    pub fn with_total_time(self, limit: Duration) -> Self {
        self.set(|settings| settings.total_time = limit)
    }

    /// What the provider promises, where no layer above has said so.
    #[must_use]
    pub fn with_profile(self, profile: impl Into<Arc<Profile>>) -> Self {
        self.set(|settings| settings.profile = profile.into())
    }

    /// Retries writes without a key as well, where it is proven that nothing of them left.
    #[must_use]
    pub fn with_unsent_retries(self) -> Self {
        self.set(|settings| settings.retries_unsent = true)
    }

    /// Takes every further attempt out of a budget that calls fill and share, so that retries stay
    /// a fraction of the traffic when a provider is down.
    #[must_use]
    pub fn with_budget(self, budget: impl Into<Arc<TpsBudget>>) -> Self {
        self.set(|settings| settings.budget = Some(budget.into()))
    }

    /// Fetches new credentials after the first 401 of a call, and has the next attempt carry these
    /// headers in the place of those of the same names. The key stays as it is; a second 401 is
    /// final. The attempt counts like any other.
    ///
    /// Where the policy works alone, [`renewed`] has to stand below the retry.
    #[must_use]
    pub fn with_refresh<F>(self, fetch: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = HeaderMap> + Send + 'static,
    {
        self.set(|settings| settings.refresh = Some(Refresh::new(fetch)))
    }

    fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }
}

impl<B, T, E> Policy<Request<B>, Response<T>, E> for KeyedRetry
where
    B: ReplayBody,
{
    type Future = Backoff;

    fn retry(
        &mut self,
        request: &mut Request<B>,
        result: &mut Result<Response<T>, E>,
    ) -> Option<Backoff> {
        let recorded = record::of(request);
        let answered = match recorded {
            Some(call) => record::is_done(call),
            // Whatever else could be known, that is an answer.
            None => result.as_ref().is_ok_and(|it| it.status().is_success()),
        };
        if answered {
            self.end(Reason::Answered, recorded);
            return None;
        }
        let facts = match recorded {
            Some(call) => record::facts(call, result),
            None => self.plain_facts(request, result),
        };
        let decision = self.decide(&facts);
        if let Some(call) = recorded {
            record::note(call, decision);
        } else if let (Ok(answer), None) = (result, decision.wait)
            && decision.reason != Reason::Answered
        {
            answer.extensions_mut().insert(decision);
        }
        self.wait_for(decision, &facts, request)
    }

    fn clone_request(&mut self, request: &Request<B>) -> Option<Request<B>> {
        self.unless_vetoed(request, || copy(request))
    }
}

impl KeyedRetry {
    fn plain_facts<B, T, E>(&self, request: &Request<B>, result: &Result<Response<T>, E>) -> Facts {
        let facts = plain::facts(&self.settings.profile, request, result);
        Facts {
            tainted: facts.tainted || self.may_have_left,
            key_age: self.elapsed(),
            ..facts
        }
    }

    /// The wait that was decided on, and what is to be done to the request meanwhile.
    fn wait_for<B>(
        &mut self,
        decision: Decision,
        facts: &Facts,
        request: &mut Request<B>,
    ) -> Option<Backoff> {
        let wait = decision.wait?;
        let refresh = self.settings.refresh.as_ref();
        let refresh = refresh.filter(|_| decision.reason == Reason::Refreshed);
        self.refreshed |= refresh.is_some();
        let refresh = refresh.map(|refresh| refresh.begin(request, facts.key_header.clone()));
        Some(Backoff::new(wait, facts.gate.as_ref(), refresh))
    }

    /// Makes the copy for the attempt after the next, unless nothing may follow that one.
    fn unless_vetoed<B>(
        &mut self,
        request: &Request<B>,
        copy: impl FnOnce() -> Option<Request<B>>,
    ) -> Option<Request<B>> {
        if self.made == 0 {
            self.deposit();
        }
        let veto = self.veto(request);
        let copied = match veto {
            Some(_) => None,
            None => {
                self.begin();
                copy()
            }
        };
        if copied.is_none() {
            self.end(veto.unwrap_or(Reason::Unreplayable), record::of(request));
        }
        copied
    }

    /// Notes that no attempt follows the one that is made now.
    #[inline]
    fn end(&self, reason: Reason, recorded: Option<&record::Record>) {
        let decision = Decision {
            attempt: self.made + 1,
            reason,
            wait: None,
        };
        log(decision);
        if let Some(call) = recorded {
            record::note(call, decision);
        }
    }
}

/// A body that can be sent again, byte for byte.
pub trait ReplayBody: Sized {
    /// Another body with the same bytes; `None` if they are not at hand.
    fn replay(&self) -> Option<Self>;
}

impl<B: Clone> ReplayBody for B {
    fn replay(&self) -> Option<Self> {
        Some(self.clone())
    }
}

/// Another request with the same bytes; `None` if they are not at hand.
#[inline]
fn copy<B: ReplayBody>(request: &Request<B>) -> Option<Request<B>> {
    // Made in its place: a request is large to move.
    let mut copied = request.body().replay().map(Request::new);
    if let Some(copy) = &mut copied {
        copy.method_mut().clone_from(request.method());
        copy.uri_mut().clone_from(request.uri());
        *copy.version_mut() = request.version();
        if !request.headers().is_empty() {
            copy.headers_mut().clone_from(request.headers());
        }
        if !request.extensions().is_empty() {
            copy.extensions_mut().clone_from(request.extensions());
        }
    }
    copied
}

#[cfg(feature = "tracing")]
#[inline]
fn log(decision: Decision) {
    let Decision {
        attempt,
        reason,
        wait,
    } = decision;
    tracing::debug!(attempt, %reason, ?wait, "retry decided");
}

#[cfg(not(feature = "tracing"))]
const fn log(_: Decision) {}
