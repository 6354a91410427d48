//! A policy for tower's retry that never sends a write twice without a key.
//!
//! The request is asked before the answer: a write without a key that the provider promises to
//! honour is not even cloned. What is retried keeps its key and its bytes. Reads are retried when
//! they got no answer or one of the 5xx kind.
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

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response, StatusCode};
use tower::retry::Policy;
use tower::util::rng::{HasherRng, Rng as _};
use tower_outcome_core::Code;

use crate::call::Call;
use crate::profile::Target;
use crate::transport::Pushback;
use crate::{OutcomeBody, Profile};

mod backoff;

pub use backoff::Backoff;

/// Retries what is safe to repeat, with exponential backoff and full jitter.
///
/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct KeyedRetry {
    attempts: u32,
    made: u32,
    first_delay: Duration,
    profile: Arc<Profile>,
    retries_unsent: bool,
    random: HasherRng,
}

impl KeyedRetry {
    /// At most `attempts` attempts in all, the first wait up to 100 milliseconds.
    #[must_use]
    pub fn new(attempts: u32) -> Self {
        Self {
            attempts,
            made: 0,
            first_delay: Duration::from_millis(100),
            profile: Arc::new(Profile::generic()),
            retries_unsent: false,
            random: HasherRng::default(),
        }
    }

    /// Waits up to `delay` before the second attempt, up to twice as long before each further one,
    /// and never longer than [`MAX_DELAY`] unless the provider asks for it.
    #[must_use]
    pub const fn with_first_delay(mut self, delay: Duration) -> Self {
        self.first_delay = delay;
        self
    }

    /// What the provider promises, where no layer above has said so.
    #[must_use]
    pub fn with_profile(mut self, profile: impl Into<Arc<Profile>>) -> Self {
        self.profile = profile.into();
        self
    }

    /// Retries writes without a key as well, where it is proven that nothing of them left.
    #[must_use]
    pub const fn with_unsent_retries(mut self) -> Self {
        self.retries_unsent = true;
        self
    }

    fn may_clone<B>(&self, request: &Request<B>) -> bool {
        if self.made + 1 >= self.attempts {
            return false;
        }
        match request.extensions().get::<Call>() {
            Some(call) => call.is_keyed() || self.retries_unsent,
            None => {
                let profile = self.profile.narrowed(&Target::of(request));
                let keyed = profile.honours_keys() && profile.key_in(request.headers()).is_some();
                keyed || profile.reads(request.method())
            }
        }
    }

    /// The longest wait before the next attempt; `None` for no next attempt.
    fn ceiling<B, T, E>(
        &self,
        request: &Request<B>,
        result: &Result<Response<T>, E>,
    ) -> Option<Duration> {
        let again = match request.extensions().get::<Call>() {
            Some(call) => self.repeats(call),
            None => result.as_ref().map_or(true, |answer| {
                let profile = self.profile.narrowed(&Target::of(request));
                let status = answer.status();
                let runs_twice = status.is_server_error() && profile.forgets_failures();
                is_passing(status) && (profile.reads(request.method()) || !runs_twice)
            }),
        };
        if self.made >= self.attempts || !again {
            return None;
        }
        let doubled = self
            .first_delay
            .saturating_mul(1 << (self.made - 1).min(16));
        Some(doubled.min(MAX_DELAY))
    }

    fn repeats(&self, call: &Call) -> bool {
        if call.ended().is_some() {
            return false;
        }
        let Some(code) = call.last() else {
            return false;
        };
        let unsent = matches!(
            code,
            Code::ConnectFailed | Code::NotSent | Code::RefusedByProtocol
        );
        let passing = matches!(
            code,
            Code::ConflictAmbiguous | Code::RateLimited | Code::ResponseLost | Code::ServerError
        );
        let again = if call.is_keyed() {
            let lost = code == Code::ServerError && call.profile().forgets_failures();
            unsent || (passing && !lost)
        } else {
            unsent && self.retries_unsent && !call.is_tainted()
        };
        tracing::debug!(route = call.route(), %code, attempt = self.made, again, "retry decided");
        again
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
        self.made += 1;
        let ceiling = self.ceiling(request, result)?;
        let call = request.extensions().get::<Call>();
        let delay = match call.and_then(Call::pushback) {
            Some(Pushback::Never) => return None,
            Some(Pushback::After(delay)) => delay.min(backoff::MAX_RETRY_AFTER),
            None => {
                let jittered = ceiling.mul_f64(self.random.next_f64());
                let asked = result.as_ref().ok().and_then(backoff::retry_after);
                jittered.max(asked.unwrap_or_default())
            }
        };
        Some(Backoff::new(delay, call))
    }

    fn clone_request(&mut self, request: &Request<B>) -> Option<Request<B>> {
        if !self.may_clone(request) {
            return None;
        }
        let mut clone = Request::new(request.body().replay()?);
        clone.method_mut().clone_from(request.method());
        clone.uri_mut().clone_from(request.uri());
        *clone.version_mut() = request.version();
        clone.headers_mut().clone_from(request.headers());
        clone.extensions_mut().clone_from(request.extensions());
        Some(clone)
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

impl ReplayBody for OutcomeBody {
    fn replay(&self) -> Option<Self> {
        self.try_clone()
    }
}

fn is_passing(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
}

/// The longest wait between two attempts that the policy chooses by itself.
pub const MAX_DELAY: Duration = Duration::from_secs(5);
