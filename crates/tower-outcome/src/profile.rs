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

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use tower_outcome_core::{Error, KeyStyle};

#[cfg(feature = "profiles")]
mod error;
#[cfg(feature = "profiles")]
pub mod file;
#[cfg_attr(
    not(feature = "profiles"),
    allow(dead_code, reason = "files use it all")
)]
mod key;
#[cfg(feature = "profiles")]
mod named;
#[cfg_attr(
    not(feature = "profiles"),
    allow(dead_code, reason = "files use it all")
)]
mod pattern;
mod placing;
mod promise;
mod route;
#[cfg_attr(
    not(feature = "profiles"),
    allow(dead_code, reason = "files use it all")
)]
mod rule;

#[cfg(feature = "profiles")]
pub use error::ProfileError;
pub(crate) use key::{Key, Place};
pub(crate) use pattern::Pattern;
pub use promise::{LookUp, Retention, Scope, StoredFailures};
pub(crate) use route::{Route, Target};
pub use rule::Meaning;
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
    reference: Option<Box<str>>,
    look_up: Vec<LookUp>,
    replay: Vec<HeaderTest>,
    ignored_key: Option<HeaderTest>,
    hint: Option<HeaderName>,
    replaying_proxy: bool,
    doubts_refusals: bool,
    success: Vec<BodyTest>,
    rules: Vec<Rule>,
    routes: Vec<Route>,
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
            reference: None,
            look_up: Vec::new(),
            replay: Vec::new(),
            ignored_key: None,
            hint: None,
            replaying_proxy: false,
            doubts_refusals: false,
            success: Vec::new(),
            rules: Vec::new(),
            routes: Vec::new(),
        }
    }

    /// Spells the key in a style: a [`KeyFormat`](crate::KeyFormat), bare or quoted. A bare UUID
    /// unless said otherwise; the draft's structured field wants it quoted.
    #[must_use]
    pub fn with_key_style(self, style: impl Into<KeyStyle>) -> Self {
        let style = style.into();
        self.everywhere(|profile| {
            if let Some(key) = &mut profile.key {
                key.style = Some(style);
            }
        })
    }

    /// Sends no key at all.
    #[must_use]
    pub fn without_key(self) -> Self {
        self.everywhere(|profile| {
            profile.key = None;
            profile.honours_keys = false;
        })
    }

    /// Puts a token of ours into this member of the JSON body, by which the write can be looked up.
    #[must_use]
    pub fn with_reference(self, member: &str) -> Self {
        self.everywhere(|profile| profile.reference = Some(member.into()))
    }

    /// Names the response header that marks a replayed answer. Lower case.
    ///
    /// # Panics
    ///
    /// If `name` cannot be a header's name.
    #[must_use]
    pub fn with_replay_marker(self, name: &'static str) -> Self {
        let name = HeaderName::from_static(name);
        self.everywhere(|profile| {
            profile.replay.push(HeaderTest {
                name: name.clone(),
                is: Vec::new(),
            });
        })
    }

    /// Says that something in between may send a request on twice: no 4xx is proof then.
    #[must_use]
    pub fn with_replaying_proxy(self) -> Self {
        self.everywhere(|profile| profile.replaying_proxy = true)
    }

    /// Says that a refusal of the protocol (HTTP/2 `REFUSED_STREAM` or `GOAWAY`) is no proof here: it
    /// speaks for the hop that sent it, and a proxy may have handed the request on before.
    #[must_use]
    pub fn doubting_refusals(self) -> Self {
        self.everywhere(|profile| profile.doubts_refusals = true)
    }

    /// The name by which [`named`](Self::named) knows it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
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
    pub fn reads(&self, method: &Method) -> bool {
        self.reads.unwrap_or_else(|| crate::call::is_read(method))
    }

    /// What is promised to requests to `target`.
    pub(crate) fn narrowed(&self, target: &Target<'_>) -> Cow<'_, Self> {
        let route = self.routes.iter().find(|route| route.to.matches(target));
        let profile = route.map_or(self, |route| &route.profile);
        let key = profile.key.as_ref();
        if key.is_none_or(|key| key.is_taken_on(target.method())) {
            Cow::Borrowed(profile)
        } else {
            Cow::Owned(profile.clone().without_key())
        }
    }

    /// The same, shared.
    pub(crate) fn at(self: Arc<Self>, target: &Target<'_>) -> Arc<Self> {
        let chosen = match self.narrowed(target) {
            Cow::Borrowed(same) if std::ptr::eq(same, &raw const *self) => None,
            narrowed => Some(Arc::new(narrowed.into_owned())),
        };
        chosen.unwrap_or(self)
    }

    /// The key that a request carries already. An empty one is none.
    pub(crate) fn key_in<'a>(&self, headers: &'a HeaderMap) -> Option<&'a [u8]> {
        self.key.as_ref()?.value_in(headers)
    }

    pub(crate) fn reference(&self) -> Option<&str> {
        self.reference.as_deref()
    }

    pub(crate) const fn has_replaying_proxy(&self) -> bool {
        self.replaying_proxy
    }

    pub(crate) const fn trusts_refusals(&self) -> bool {
        !self.doubts_refusals && !self.replaying_proxy
    }

    pub(crate) fn is_replay(&self, headers: &HeaderMap) -> bool {
        let marks = |test: &HeaderTest| {
            let denies = headers
                .get(&test.name)
                .is_some_and(|value| value == "false");
            test.holds(headers) && !denies
        };
        self.replay.iter().any(marks)
    }

    /// Whether the provider says that it did not look at the key.
    pub(crate) fn ignored_key(&self, headers: &HeaderMap) -> bool {
        let marker = self.ignored_key.as_ref();
        marker.is_some_and(|marker| marker.holds(headers))
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

    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub(crate) fn success(&self) -> &[BodyTest] {
        &self.success
    }

    /// Whether the head of an answer of this status proves nothing without its body.
    pub(crate) fn body_decides(&self, status: u16) -> bool {
        let asked = self.rules.iter().any(|rule| rule.asks_body(status));
        asked || ((200..300).contains(&status) && !self.success.is_empty())
    }

    pub(crate) fn key_style(&self) -> KeyStyle {
        self.key.as_ref().map(Key::style).unwrap_or_default()
    }

    pub(crate) fn header_value(key: &str) -> Result<HeaderValue, Error> {
        let mut value = HeaderValue::try_from(key)
            .map_err(|_| Error::invalid("idempotency-key", "cannot stand in a header"))?;
        value.set_sensitive(true);
        Ok(value)
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

pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
