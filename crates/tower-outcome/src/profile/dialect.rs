//! How a provider wants keys spelt, and what its answers mean.

use std::sync::Arc;

use http::{HeaderMap, HeaderName};
use tower_outcome_core::KeyStyle;

use super::{BodyTest, HeaderTest, Profile, Rule, Target};

/// What the layers ask of a profile beside the promises that the retry rests on.
#[derive(Clone, Debug)]
pub(super) struct Dialect {
    pub(super) key_style: Option<KeyStyle>,
    pub(super) reference: Option<Box<str>>,
    pub(super) replay: Vec<HeaderTest>,
    pub(super) ignored_key: Option<HeaderTest>,
    pub(super) doubts_refusals: bool,
    pub(super) success: Vec<BodyTest>,
    pub(super) rules: Vec<Rule>,
}

impl Dialect {
    pub(super) const fn plain() -> Self {
        Self {
            key_style: None,
            reference: None,
            replay: Vec::new(),
            ignored_key: None,
            doubts_refusals: false,
            success: Vec::new(),
            rules: Vec::new(),
        }
    }
}

impl Profile {
    /// Spells the key in a style: a [`KeyFormat`](crate::KeyFormat), bare or quoted. A bare UUID
    /// unless said otherwise; the draft's structured field wants it quoted.
    #[must_use]
    pub fn with_key_style(self, style: impl Into<KeyStyle>) -> Self {
        let style = style.into();
        self.everywhere(|profile| profile.dialect.key_style = Some(style))
    }

    /// Puts a token of ours into this member of the body, by which the write can be looked up.
    ///
    /// `/metadata/order` is a member of a member; a form spells it `metadata[order]`. A body that
    /// has a value of its own there keeps it, and then cannot be looked up by ours.
    #[must_use]
    pub fn with_reference(self, member: &str) -> Self {
        self.everywhere(|profile| profile.dialect.reference = Some(member.into()))
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
            profile.dialect.replay.push(HeaderTest {
                name: name.clone(),
                is: Vec::new(),
            });
        })
    }

    /// Says that a refusal of the protocol (HTTP/2 `REFUSED_STREAM` or `GOAWAY`) is no proof here: it
    /// speaks for the hop that sent it, and a proxy may have handed the request on before.
    #[must_use]
    pub fn doubting_refusals(self) -> Self {
        self.everywhere(|profile| profile.dialect.doubts_refusals = true)
    }

    /// What is promised to writes to `target`, shared; `None` where such a request only reads.
    pub(crate) fn of_writes(self: &Arc<Self>, target: &Target<'_>) -> Option<Arc<Self>> {
        let route = self.routes.iter().find(|route| route.to.matches(target));
        let profile = route.map_or(self, |route| &route.profile);
        if profile.reads(target.method()) {
            None
        } else if profile.takes_key_on(target.method()) {
            Some(Arc::clone(profile))
        } else {
            Some(Arc::new((**profile).clone().without_key()))
        }
    }

    pub(crate) fn key_style(&self) -> KeyStyle {
        self.dialect.key_style.unwrap_or_default()
    }

    pub(crate) fn reference(&self) -> Option<&str> {
        self.dialect.reference.as_deref()
    }

    pub(crate) const fn trusts_refusals(&self) -> bool {
        !self.dialect.doubts_refusals && !self.replaying_proxy
    }

    pub(crate) fn is_replay(&self, headers: &HeaderMap) -> bool {
        let marks = |test: &HeaderTest| {
            let denies = headers
                .get(&test.name)
                .is_some_and(|value| value == "false");
            test.holds(headers) && !denies
        };
        self.dialect.replay.iter().any(marks)
    }

    /// Whether the provider says that it did not look at the key.
    pub(crate) fn ignored_key(&self, headers: &HeaderMap) -> bool {
        let marker = self.dialect.ignored_key.as_ref();
        marker.is_some_and(|marker| marker.holds(headers))
    }

    pub(crate) fn rules(&self) -> &[Rule] {
        &self.dialect.rules
    }

    pub(crate) fn success(&self) -> &[BodyTest] {
        &self.dialect.success
    }

    /// Whether the head of an answer of this status proves nothing without its body.
    pub(crate) fn body_decides(&self, status: u16) -> bool {
        let asked = self.dialect.rules.iter().any(|rule| rule.asks_body(status));
        asked || ((200..300).contains(&status) && !self.dialect.success.is_empty())
    }
}
