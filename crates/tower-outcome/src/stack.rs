//! All layers, in their order, over a client that is already there.
//!
//! ```no_run
//! # fn f() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use tower_outcome::{ForWrites as _, MemoryLedger, OutcomeClient, Profile, Stack};
//!
//! let billing: OutcomeClient = Stack::new()
//!     .with_deadline(Duration::from_secs(5))
//!     .with_ledger(MemoryLedger::default())
//!     .with_profile(Profile::idempotency_key())
//!     .over(reqwest::Client::builder().for_writes().build()?)
//!     .boxed();
//! # Ok(()) }
//! ```

#![cfg(feature = "client")]

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tower::retry::Retry;
use tower_layer::Layer;
use tower_outcome_core::Ledger;

use crate::claim::{ClaimLayer, ClaimService};
use crate::deadline::{Deadline, DeadlineLayer};
use crate::keep::{KeepResponse, KeepResponseLayer};
use crate::key::{Key, KeyLayer};
use crate::outcome::{OutcomeLayer, OutcomeService};
use crate::retry::{KeyedRetry, Sparing};
use crate::shield::{Shield, ShieldLayer};
use crate::transport::{IntoTransport, Transport, Wire};
use crate::{Client, Profile};

/// All layers, in their order.
///
/// See the [module docs](self).
#[derive(Clone)]
pub struct Stack {
    claim: ClaimLayer,
    deadline: Duration,
    hard_limit: Duration,
    profile: Option<Arc<Profile>>,
    requires_context: bool,
    retry: KeyedRetry,
    keys: KeyLayer,
    shield: ShieldLayer,
}

impl Stack {
    /// A deadline of 10 seconds, 3 attempts where a key allows them, no ledger, and nothing
    /// expected of the provider.
    #[must_use]
    pub fn new() -> Self {
        Self {
            claim: ClaimLayer::without_ledger(),
            deadline: Duration::from_secs(10),
            hard_limit: Duration::from_mins(1),
            profile: None,
            requires_context: false,
            retry: KeyedRetry::new(3),
            keys: KeyLayer::new(),
            shield: ShieldLayer::new(),
        }
    }

    /// Gives each call `limit` to end.
    #[must_use]
    pub const fn with_deadline(mut self, limit: Duration) -> Self {
        self.deadline = limit;
        self
    }

    /// Lets a write that may have left run on for `limit` after its call has ended.
    #[must_use]
    pub const fn with_hard_limit(mut self, limit: Duration) -> Self {
        self.hard_limit = limit;
        self
    }

    /// Claims writes with an intent in `ledger` first.
    #[must_use]
    pub fn with_ledger(self, ledger: impl Ledger) -> Self {
        self.with_claims(ClaimLayer::new(ledger))
    }

    /// Claims writes with an intent, with settings of your own.
    #[must_use]
    pub fn with_claims(mut self, claim: ClaimLayer) -> Self {
        self.claim = claim;
        self
    }

    /// Says what the provider promises. Without it a tool call may know ([`Profiles`]).
    ///
    /// [`Profiles`]: crate::profile::Profiles
    #[must_use]
    pub fn with_profile(mut self, profile: impl Into<Arc<Profile>>) -> Self {
        self.profile = Some(profile.into());
        self
    }

    /// Retries by `retry` instead.
    #[must_use]
    pub fn with_retry(mut self, retry: KeyedRetry) -> Self {
        self.retry = retry;
        self
    }

    /// Refuses writes that belong to no tool call.
    #[must_use]
    pub const fn requiring_context(mut self) -> Self {
        self.requires_context = true;
        self
    }

    /// Lets `slots` writes be under way at a time: see [`ShieldLayer::with_slots`].
    #[must_use]
    pub fn with_slots(mut self, slots: usize) -> Self {
        self.shield = ShieldLayer::with_slots(slots);
        self
    }

    /// Stops all clients made of this stack and its clones: see [`ShieldLayer::drain`].
    pub async fn drain(&self, limit: Duration) -> usize {
        self.shield.drain(limit).await
    }

    /// Over a client that is already there, in verdicts.
    pub fn over<T: IntoTransport>(&self, client: T) -> Client<Writes<T::Transport>>
    where
        T::Transport:
            Transport<Future: Send + 'static, Body: Send + 'static> + Clone + Send + 'static,
    {
        Client::new(self.layer(Wire::new(client.into_transport())))
    }

    /// Over a client that is already there, with the answers and errors that its callers expect:
    /// see [`KeepResponseLayer`].
    pub fn keep<T: IntoTransport>(&self, client: T) -> KeptWrites<T::Transport> {
        let wire = Wire::new(client.into_transport());
        KeepResponseLayer::from(self.outcome()).layer(self.inner(wire))
    }

    fn outcome(&self) -> OutcomeLayer {
        let mut outcome = OutcomeLayer::new();
        if let Some(profile) = &self.profile {
            outcome = outcome.with_profile(Arc::clone(profile));
        }
        if self.requires_context {
            outcome.requiring_context()
        } else {
            outcome
        }
    }

    /// Everything below the outermost layer.
    fn inner<T>(&self, wire: Wire<T>) -> Shielded<T> {
        let layers = (
            DeadlineLayer::new(self.deadline),
            self.shield.clone(),
            self.claim.clone(),
            self.keys.clone(),
            self.retry.clone().into_layer(),
        );
        layers.layer(wire.with_hard_limit(self.hard_limit))
    }
}

impl Default for Stack {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack")
            .field("deadline", &self.deadline)
            .field("profile", &self.profile)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

impl<T: Transport> Layer<Wire<T>> for Stack {
    type Service = Writes<T>;

    fn layer(&self, wire: Wire<T>) -> Writes<T> {
        self.outcome().layer(self.inner(wire))
    }
}

/// What a [`Stack`] makes of a transport.
pub type Writes<T> = OutcomeService<Shielded<T>>;

/// What a [`Stack`] makes of a transport whose answers are kept.
pub type KeptWrites<T> = KeepResponse<Shielded<T>>;

type Shielded<T> = Deadline<Shield<ClaimService<Key<Retry<Sparing, Wire<T>>>>>>;
