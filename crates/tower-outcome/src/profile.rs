//! What a provider promises about repeated writes, and what its answers mean.
//!
//! The promises of well-known providers are built in ([`Profile::named`]); yours can be read from a
//! file ([`Profile::from_toml`], whose format the [`mod@file`] module describes).
//!
//! ```
//! use tower_outcome::Profile;
//!
//! // An API that follows the Idempotency-Key draft of the IETF and says when it replays.
//! let profile = Profile::idempotency_key().with_replay_marker("idempotent-replayed");
//! assert!(profile.honours_keys());
//! // Nothing is known of this one, so nothing is ever sent to it twice.
//! assert!(!Profile::generic().honours_keys());
//! // This one honours keys, and forgets them after an hour.
//! assert!(Profile::named("mollie").unwrap().honours_keys());
//! ```

#![cfg(feature = "retry")]

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, Method, StatusCode};

#[cfg(feature = "client")]
mod by_host;
#[cfg(feature = "client")]
mod dialect;
#[cfg(feature = "profiles")]
mod error;
#[cfg(feature = "profiles")]
pub mod file;
mod glob;
#[cfg_attr(
    not(feature = "profiles"),
    allow(dead_code, reason = "files use it all")
)]
mod key;
#[cfg(feature = "profiles")]
mod limits;
#[cfg(feature = "profiles")]
mod named;
#[cfg(feature = "client")]
#[cfg_attr(
    not(feature = "profiles"),
    allow(dead_code, reason = "files use it all")
)]
mod pattern;
#[cfg(feature = "client")]
mod placing;
mod promise;
mod route;
#[cfg(feature = "client")]
#[cfg_attr(
    not(feature = "profiles"),
    allow(dead_code, reason = "files use it all")
)]
mod rule;

#[cfg(feature = "client")]
pub use by_host::Profiles;
#[cfg(feature = "client")]
use dialect::Dialect;
#[cfg(feature = "profiles")]
pub use error::ProfileError;
use key::Key;
#[cfg(feature = "client")]
pub(crate) use pattern::Pattern;
pub use promise::{LookUp, Retention, Scope, StoredFailures};
pub(crate) use route::{Route, Target};
#[cfg(feature = "client")]
pub use rule::Meaning;
#[cfg(feature = "client")]
pub(crate) use rule::{BodyTest, HeaderTest, Rule, scalar};

/// What a provider promises about repeated writes. The default promises nothing.
#[derive(Clone, Debug)]
pub struct Profile {
    name: Cow<'static, str>,
    reads: Option<bool>,
    key: Option<Key>,
    honours_keys: bool,
    scope: Vec<Scope>,
    retention: Option<Retention>,
    min_delay: Duration,
    stored_failures: Option<StoredFailures>,
    look_up: Vec<LookUp>,
    hint: Option<HeaderName>,
    replaying_proxy: bool,
    routes: Vec<Route>,
    /// How keys are spelt and answers read: what the layers ask beside the retry.
    #[cfg(feature = "client")]
    dialect: Dialect,
}

impl Profile {
    /// A provider of which nothing is known. The key is sent along, and never relied upon.
    #[must_use]
    pub const fn generic() -> Self {
        Self::plain("generic", false)
    }

    /// A provider that honours an `Idempotency-Key` header: it does the same request once and
    /// replays its answer (draft-ietf-httpapi-idempotency-key-header, section 2).
    #[must_use]
    pub const fn idempotency_key() -> Self {
        Self::plain("idempotency_key", true)
    }

    const fn plain(name: &'static str, honours_keys: bool) -> Self {
        Self {
            name: Cow::Borrowed(name),
            reads: None,
            key: Some(Key::in_header(IDEMPOTENCY_KEY)),
            honours_keys,
            scope: Vec::new(),
            retention: None,
            min_delay: Duration::ZERO,
            stored_failures: None,
            look_up: Vec::new(),
            hint: None,
            replaying_proxy: false,
            routes: Vec::new(),
            #[cfg(feature = "client")]
            dialect: Dialect::plain(),
        }
    }

    /// Sends no key at all.
    #[must_use]
    pub fn without_key(self) -> Self {
        self.everywhere(|profile| {
            profile.key = None;
            profile.honours_keys = false;
        })
    }

    /// Says that something in between may send a request on twice: no 4xx is proof then.
    #[must_use]
    pub fn with_replaying_proxy(self) -> Self {
        self.everywhere(|profile| profile.replaying_proxy = true)
    }

    /// The name by which [`named`](Self::named) knows it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same, to be kept.
    #[cfg(feature = "client")]
    pub(crate) fn shared_name(&self) -> Cow<'static, str> {
        self.name.clone()
    }

    /// Whether a repeat under the same key is promised to happen once.
    #[must_use]
    pub const fn honours_keys(&self) -> bool {
        self.honours_keys
    }

    /// For how long a key is known to be honoured; `None` where nobody says.
    #[must_use]
    pub const fn retention(&self) -> Option<Retention> {
        self.retention
    }

    /// How long to wait at least before the same key is sent again.
    #[must_use]
    pub const fn min_delay(&self) -> Duration {
        self.min_delay
    }

    /// What a failure leaves under its key; `None` where nobody says.
    #[must_use]
    pub const fn stored_failures(&self) -> Option<StoredFailures> {
        self.stored_failures
    }

    /// What a key belongs to: under another of these the same key is a new one.
    #[must_use]
    pub fn scope(&self) -> &[Scope] {
        &self.scope
    }

    /// The ways in which it can be found out what became of a write.
    #[must_use]
    pub fn look_up(&self) -> &[LookUp] {
        &self.look_up
    }

    /// Whether a request of this method changes nothing on this route.
    #[must_use]
    #[inline]
    pub fn reads(&self, method: &Method) -> bool {
        self.reads.unwrap_or_else(|| is_read(method))
    }

    /// Whether every request of this method only reads, wherever it goes.
    #[inline]
    pub(crate) fn only_reads(&self, method: &Method) -> bool {
        self.routes.is_empty() && self.reads(method)
    }

    /// Whether no key counts, wherever a request goes.
    #[inline]
    pub(crate) const fn honours_no_keys(&self) -> bool {
        self.routes.is_empty() && !self.honours_keys
    }

    /// What is promised to this very request: its route may have promises of its own.
    #[must_use]
    pub fn for_request<B>(&self, request: &http::Request<B>) -> Cow<'_, Self> {
        self.narrowed(&Target::of(request))
    }

    /// What is promised to requests to `target`.
    pub(crate) fn narrowed(&self, target: &Target<'_>) -> Cow<'_, Self> {
        let route = self.routes.iter().find(|route| route.to.matches(target));
        let profile = route.map_or(self, |route| &route.profile);
        if profile.takes_key_on(target.method()) {
            Cow::Borrowed(profile)
        } else {
            Cow::Owned(profile.clone().without_key())
        }
    }

    /// Whether a key that goes along counts, or none goes along.
    fn takes_key_on(&self, method: &Method) -> bool {
        let key = self.key.as_ref();
        key.is_none_or(|key| key.is_taken_on(method))
    }

    /// The key that a request carries already. An empty one is none.
    pub(crate) fn key_in<'a>(&self, headers: &'a HeaderMap) -> Option<&'a [u8]> {
        self.key.as_ref()?.value_in(headers)
    }

    pub(crate) const fn has_replaying_proxy(&self) -> bool {
        self.replaying_proxy
    }

    /// Whether the provider asks for another attempt, or asks for none.
    pub(crate) fn hint(&self, headers: &HeaderMap) -> Option<bool> {
        let value = headers.get(self.hint.as_ref()?)?;
        value.to_str().ok()?.to_ascii_lowercase().parse().ok()
    }

    /// Whether a repeat after a server error runs again, whatever the first time did.
    pub(crate) fn forgets_failures(&self) -> bool {
        self.stored_failures == Some(StoredFailures::ReExecute)
    }

    /// Whether a repeat under the same key tells more than this server error did. What an error
    /// leaves under a key differs from provider to provider.
    pub(crate) fn tells_more_after(&self, error: StatusCode, headers: &HeaderMap) -> bool {
        match self.stored_failures {
            // What a gateway says in the execution's place is not what is stored.
            Some(StoredFailures::Replay) => {
                let gateway = matches!(error.as_u16(), 502..=504);
                gateway || self.hint(headers) == Some(true)
            }
            // It would run again, whatever the first time did.
            Some(StoredFailures::ReExecute) => false,
            Some(
                StoredFailures::LatestState | StoredFailures::Poison | StoredFailures::Redrive,
            )
            | None => true,
        }
    }

    /// The header in which the key goes.
    pub(crate) fn key_header(&self) -> Option<&HeaderName> {
        self.key.as_ref()?.header()
    }

    /// Changes the promises of the API, and those of each of its routes.
    fn everywhere(mut self, change: impl Fn(&mut Self)) -> Self {
        change(&mut self);
        for route in &mut self.routes {
            change(Arc::make_mut(&mut route.profile));
        }
        self
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::generic()
    }
}

/// Methods that change nothing (RFC 9110 section 9.2.1).
#[inline]
pub(crate) fn is_read(method: &Method) -> bool {
    matches!(
        *method,
        Method::GET | Method::HEAD | Method::OPTIONS | Method::TRACE
    )
}

pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
