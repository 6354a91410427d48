//! What is known of an answer behind its head.

use http::HeaderMap;
use http::response::Parts;

/// What is known.
#[derive(Clone, Copy)]
pub(super) struct End<'a> {
    pub(super) body: Option<&'a [u8]>,
    pub(super) lost: bool,
    pub(super) trailers: Option<&'a HeaderMap>,
}

impl End<'_> {
    pub(super) const LOST: Self = Self {
        body: None,
        lost: true,
        trailers: None,
    };

    /// Whether messages may stand between head and end. Those of a failed head are no messages.
    pub(super) fn may_have_spoken(&self, head: &Parts) -> bool {
        let empty = self.body.is_some_and(<[u8]>::is_empty);
        !empty && (head.status.is_success() || self.trailers.is_some())
    }
}
