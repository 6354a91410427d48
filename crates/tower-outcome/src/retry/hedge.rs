//! A guard for tower's hedge, which sends a slow request a second time beside the first.
//!
//! ```
//! use http::Request;
//! use tower::hedge::Policy as _;
//! use tower_outcome::Profile;
//! use tower_outcome::retry::HedgeGuard;
//!
//! let guard = HedgeGuard::new().with_profile(Profile::idempotency_key());
//! assert!(guard.clone_request(&Request::get("/refunds").body("").unwrap()).is_some());
//! let write = Request::post("/refunds");
//! assert!(guard.clone_request(&write.body("{}").unwrap()).is_none());
//! let keyed = Request::post("/refunds").header("idempotency-key", "refund-7");
//! assert!(guard.clone_request(&keyed.body("{}").unwrap()).is_some());
//! ```

use std::sync::Arc;

use http::Request;
use tower::hedge::Policy;

use super::facts::Cover;
use super::{ReplayBody, copy, record};
use crate::Profile;
use crate::profile::Target;

/// Hedges reads, and writes whose key the provider honours.
///
/// A write that one of the layers of this crate has on record is never hedged: its attempts follow
/// each other, so that the last one can speak for those before.
#[derive(Clone, Debug, Default)]
pub struct HedgeGuard {
    profile: Arc<Profile>,
}

impl HedgeGuard {
    /// Expects nothing of the provider: hedges reads alone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says what the provider promises.
    #[must_use]
    pub fn with_profile(mut self, profile: impl Into<Arc<Profile>>) -> Self {
        self.profile = profile.into();
        self
    }
}

impl<B: ReplayBody> Policy<Request<B>> for HedgeGuard {
    fn clone_request(&self, request: &Request<B>) -> Option<Request<B>> {
        let profile = self.profile.narrowed(&Target::of(request));
        let recorded = record::is_keyed(request).is_some();
        if recorded || Cover::of(&profile, request) == Cover::None {
            return None;
        }
        copy(request)
    }

    fn can_retry(&self, _: &Request<B>) -> bool {
        true
    }
}
