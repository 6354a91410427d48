//! What decides about a write beside its answer.

use super::{History, KeyOrigin, Sent, View};
use crate::profile::{Profile, Retention};

/// What decides beside the answer's meaning.
pub(super) struct Facts<'a> {
    pub(super) profile: &'a Profile,
    pub(super) sent: &'a Sent<'a>,
    pub(super) history: History,
    /// The request carried a key, and the answer does not say that it was ignored.
    pub(super) keyed: bool,
    pub(super) window: Window,
    pub(super) replayed: bool,
}

/// Whether the provider still knows the key.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Window {
    Closed,
    Open,
    Unknown,
}

impl<'a> Facts<'a> {
    pub(super) fn new(
        profile: &'a Profile,
        sent: &'a Sent<'a>,
        history: History,
        view: Option<&View<'_>>,
    ) -> Self {
        let headers = view.map(View::headers);
        let window = match (sent.key_age, profile.retention()) {
            (None, _) | (Some(_), Some(Retention::Forever)) => Window::Open,
            (Some(age), Some(Retention::For(window))) if age < window => Window::Open,
            (Some(_), Some(Retention::For(_))) => Window::Closed,
            (Some(_), None) => Window::Unknown,
        };
        Self {
            profile,
            sent,
            history,
            keyed: sent.key.is_some() && !headers.is_some_and(|it| profile.ignored_key(it)),
            window,
            replayed: headers.is_some_and(|it| profile.is_replay(it)),
        }
    }

    pub(super) fn is_tainted(&self) -> bool {
        self.history != History::Clean
    }

    pub(super) fn is_explicit(&self) -> bool {
        self.sent.key == Some(KeyOrigin::Explicit)
    }

    /// Whether a ledger knows of no call before this one under a key that nobody else makes.
    pub(super) fn is_new(&self) -> bool {
        !self.is_tainted() && self.sent.claimed && self.sent.key == Some(KeyOrigin::Derived)
    }

    /// Whether all that was sent under the key is one execution to the provider.
    pub(super) fn is_covered(&self) -> bool {
        self.keyed && self.window == Window::Open
    }

    /// Whether a resend would be of that execution as well.
    pub(super) fn protects(&self) -> bool {
        self.is_covered() && !self.sent.moves
    }
}
