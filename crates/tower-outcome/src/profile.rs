//! What a provider promises about repeated writes.
//!
//! ```
//! use tower_outcome::Profile;
//!
//! // An API that follows the Idempotency-Key draft of the IETF and says when it replays.
//! let profile = Profile::idempotency_key().with_replay_marker("idempotent-replayed");
//! assert!(profile.honours_keys());
//! // Nothing is known of this one, so nothing is ever sent to it twice.
//! assert!(!Profile::generic().honours_keys());
//! ```

use http::{HeaderMap, HeaderName, HeaderValue};
use tower_outcome_core::{Error, KeyFormat, KeyStyle};

/// What a provider promises about repeated writes. The default promises nothing.
#[derive(Clone, Debug)]
pub struct Profile {
    header: Option<HeaderName>,
    honours_keys: bool,
    key_style: Option<KeyStyle>,
    reference: Option<Box<str>>,
    replay_marker: Option<HeaderName>,
    replaying_proxy: bool,
    doubts_refusals: bool,
}

impl Profile {
    /// A provider of which nothing is known. The key is sent along, and never relied upon.
    #[must_use]
    pub const fn generic() -> Self {
        Self {
            header: Some(IDEMPOTENCY_KEY),
            honours_keys: false,
            key_style: None,
            reference: None,
            replay_marker: None,
            replaying_proxy: false,
            doubts_refusals: false,
        }
    }

    /// A provider that honours an `Idempotency-Key` header: it does the same request once and
    /// replays its answer (draft-ietf-httpapi-idempotency-key-header, section 2).
    #[must_use]
    pub const fn idempotency_key() -> Self {
        let mut profile = Self::generic();
        profile.honours_keys = true;
        profile
    }

    /// Spells the key in a style: a [`KeyFormat`], bare or quoted. A bare UUID unless said
    /// otherwise; the draft's structured field wants it quoted.
    #[must_use]
    pub fn with_key_style(mut self, style: impl Into<KeyStyle>) -> Self {
        self.key_style = Some(style.into());
        self
    }

    /// Sends no key at all.
    #[must_use]
    pub fn without_key(mut self) -> Self {
        self.header = None;
        self.honours_keys = false;
        self
    }

    /// Puts a token of ours into this member of the JSON body, by which the write can be looked up.
    #[must_use]
    pub fn with_reference(mut self, member: &str) -> Self {
        self.reference = Some(member.into());
        self
    }

    /// Names the response header that marks a replayed answer. Lower case.
    ///
    /// # Panics
    ///
    /// If `name` cannot be a header's name.
    #[must_use]
    pub fn with_replay_marker(mut self, name: &'static str) -> Self {
        self.replay_marker = Some(HeaderName::from_static(name));
        self
    }

    /// Says that something in between may send a request on twice: no 4xx is proof then.
    #[must_use]
    pub const fn with_replaying_proxy(mut self) -> Self {
        self.replaying_proxy = true;
        self
    }

    /// Says that a refusal of the protocol (HTTP/2 `REFUSED_STREAM` or `GOAWAY`) is no proof here: it
    /// speaks for the hop that sent it, and a proxy may have handed the request on before.
    #[must_use]
    pub const fn doubting_refusals(mut self) -> Self {
        self.doubts_refusals = true;
        self
    }

    /// Whether a repeat under the same key is promised to happen once.
    #[must_use]
    pub const fn honours_keys(&self) -> bool {
        self.honours_keys
    }

    /// The key that a request carries already. An empty one is none.
    pub(crate) fn key_in<'a>(&self, headers: &'a HeaderMap) -> Option<&'a [u8]> {
        let key = headers.get(self.header.as_ref()?)?.as_bytes();
        (!key.trim_ascii().is_empty()).then_some(key)
    }

    pub(crate) const fn header(&self) -> Option<&HeaderName> {
        self.header.as_ref()
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
        let marker = self
            .replay_marker
            .as_ref()
            .and_then(|name| headers.get(name));
        marker.is_some_and(|value| value != "false")
    }

    pub(crate) fn key_style(&self) -> KeyStyle {
        self.key_style.unwrap_or_else(|| KeyFormat::Uuid.into())
    }

    pub(crate) fn header_value(key: &str) -> Result<HeaderValue, Error> {
        let mut value = HeaderValue::try_from(key)
            .map_err(|_| Error::invalid("idempotency-key", "cannot stand in a header"))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::generic()
    }
}

pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
