//! Sends a stored request again.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body::Body;
use serde_json::Value;
use tower_outcome::profile::{Retention, StoredFailures};
use tower_outcome::retry::LANDING;
use tower_outcome::transport::{IntoTransport, Transport};
use tower_outcome::{
    Code, KeyedRetry, Outcome, OutcomeBody, OutcomeClient, Profile, Stack, StoredRequests,
    stored_request,
};
use tower_outcome_core::ledger::WriteRecord;
use tower_outcome_core::{BoxError, Level};

/// Sends the requests of one provider again, under the keys that they had.
///
/// A request is sent again only where all of this holds; otherwise its entry stays open:
///
/// - its ledger keeps it (see [`StoredRequests`]), and it was the only write of its call;
/// - the fingerprint of the credential is the one that it was sent with;
/// - the profile promises that keys are honoured on its route, and for how long; the key will be
///   known to the provider for a minute after the last moment at which this sends;
/// - the profile says what a failure leaves under a key, and it is not that a repeat runs again.
///
/// The answer is judged by the profile, as one to a request that may have been sent before: a refusal
/// is proof only where the provider says that it speaks of the one execution under the key.
///
/// ```no_run
/// # fn f() -> Result<(), Box<dyn std::error::Error>> {
/// use tower_outcome::{ForWrites as _, Profile, StoredRequests};
/// use tower_outcome_tools::Resender;
///
/// let requests = StoredRequests::new([7; 32]).with_credential("acme, live"); // as where it was sent
/// let http = reqwest::Client::builder().for_writes().build()?;
/// let stripe = Profile::named("stripe_v1").ok_or("no such profile")?;
/// let resender = Resender::new(stripe, requests, http).with_authorization(|headers| {
///     headers.insert("authorization", "Bearer ...".parse().unwrap());
/// });
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Resender {
    profile: Arc<Profile>,
    requests: StoredRequests,
    client: OutcomeClient,
    authorize: Arc<dyn Fn(&mut HeaderMap) + Send + Sync>,
}

/// What a resend proved.
pub(super) struct Resent {
    /// `None` where it proved nothing.
    pub(super) code: Option<Code>,
    /// The answer, if it is JSON.
    pub(super) data: Option<Value>,
}

impl Resender {
    /// Sends what `profile` has read when it was sent first, over `client`. `requests` is what its
    /// [`ClaimLayer`](tower_outcome::ClaimLayer) had.
    #[must_use]
    pub fn new<T>(profile: impl Into<Arc<Profile>>, requests: StoredRequests, client: T) -> Self
    where
        T: IntoTransport,
        T::Transport: Transport<
                Future: Send + 'static,
                Body: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
            > + Clone
            + Send
            + Sync
            + 'static,
    {
        let profile = profile.into();
        let stack = Stack::new()
            .with_profile(Arc::clone(&profile))
            .with_deadline(RESEND_LIMIT)
            .with_retry(KeyedRetry::new(1));
        Self {
            profile,
            requests,
            client: stack.over(client).boxed(),
            authorize: Arc::new(|_| {}),
        }
    }

    /// Has `authorize` put the credentials back, which are not kept with a request.
    #[must_use]
    pub fn with_authorization(
        mut self,
        authorize: impl Fn(&mut HeaderMap) + Send + Sync + 'static,
    ) -> Self {
        self.authorize = Arc::new(authorize);
        self
    }

    pub(super) fn sends(&self, write: &WriteRecord) -> bool {
        write.profile.as_deref() == Some(self.profile.name())
    }

    pub(super) fn min_delay(&self) -> Duration {
        self.profile.min_delay()
    }

    /// The request, if it may be sent at all.
    pub(super) fn prepare(
        &self,
        write: &WriteRecord,
        key_age: Duration,
    ) -> Option<Request<OutcomeBody>> {
        let mut request = stored_request::restore(write, key_age)?;
        let profile = self.profile.for_request(&request);
        let known = match profile.retention() {
            Some(Retention::Forever) => true,
            Some(Retention::For(window)) => key_age + RESEND_LIMIT + LANDING < window,
            None => false,
        };
        let once = matches!(
            profile.stored_failures(),
            Some(
                StoredFailures::LatestState
                    | StoredFailures::Poison
                    | StoredFailures::Redrive
                    | StoredFailures::Replay
            )
        );
        if !(profile.honours_keys() && known && once) {
            return None;
        }
        (self.authorize)(request.headers_mut());
        let credential = self.requests.credential(request.headers());
        (credential.is_some() && credential == write.credential).then_some(request)
    }

    pub(super) async fn send(&self, request: Request<OutcomeBody>) -> Resent {
        let verdict = self.client.send(request).await;
        let answered = verdict.reply();
        let code = match verdict.outcome() {
            Outcome::AlreadyDone | Outcome::Ok => Some(verdict.code()),
            // Without an answer it speaks of this one request, which is not the first.
            Outcome::Failed if answered.is_some() => {
                (verdict.conclusion().level() == Level::Intent).then(|| verdict.code())
            }
            Outcome::Failed | Outcome::Skipped | Outcome::Unknown => None,
        };
        let body = answered.and_then(|reply| reply.body().bytes());
        Resent {
            code,
            data: body.and_then(|bytes| serde_json::from_slice(bytes).ok()),
        }
    }
}

impl fmt::Debug for Resender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resender")
            .field("profile", &self.profile.name())
            .finish_non_exhaustive()
    }
}

/// For how long one resend may be under way.
pub const RESEND_LIMIT: Duration = Duration::from_secs(30);
