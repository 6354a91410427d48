//! Which key a write carries.

use std::time::Duration;

use http::Request;
use tower_outcome_core::{IdempotencyKey, Intent};

use super::{Call, names};
use crate::context::Context;
use crate::profile::Profile;
use crate::{Error, OutcomeBody};

/// A write that is made again out of its record.
#[derive(Clone)]
pub(crate) struct Again {
    /// The key that it had, as rendered.
    pub(crate) key: Box<str>,
    /// The time since something may first have left under the key.
    pub(crate) age: Duration,
}

/// Which key a write carries.
pub(crate) enum CallKey {
    /// The one that it had before.
    Again(Again),
    /// The caller put a header of its own on the request. A name for it, not the key itself.
    Caller(IdempotencyKey),
    /// One write of a tool call.
    Child(IdempotencyKey),
    /// Derived from, or given with, an intent.
    Intent(Intent),
    /// None: sent once.
    None,
}

impl CallKey {
    pub(crate) fn of(
        request: &mut Request<OutcomeBody>,
        profile: &Profile,
        context: Option<&Context>,
    ) -> Result<Self, Error> {
        let carried = request.extensions_mut();
        let intent = carried.remove::<Intent>();
        if !carried.is_empty()
            && let Some(again) = carried.remove::<Again>()
        {
            return Ok(Self::Again(again));
        }
        let own = profile.key_in(request.headers());
        match (intent, context, own) {
            (Some(_), _, Some(_)) => Err(two_keys()),
            (Some(intent), _, None) => Ok(Self::Intent(intent)),
            (None, _, Some(own)) => {
                let own = String::from_utf8_lossy(own);
                Ok(Self::Caller(names::digest(&own)))
            }
            (None, Some(context), None) => {
                let step = names::step(context, request.method(), request.uri());
                Ok(Self::Child(context.key().child(&step)))
            }
            (None, None, None) => Ok(Self::None),
        }
    }

    pub(crate) fn derived(&self) -> Option<&IdempotencyKey> {
        match self {
            Self::Child(key) => Some(key),
            Self::Intent(intent) => Some(intent.key()),
            Self::Again(_) | Self::Caller(_) | Self::None => None,
        }
    }
}

impl Call {
    /// The key as the provider sees it, for the ledger's record. The request gets the same.
    pub(crate) fn announced_key(&self) -> Option<String> {
        let key = self.wire_key();
        self.progress().wire_key = key.as_deref().map(Into::into);
        key
    }

    /// Notes where the ledger has the intent: what is sent has that entry's key.
    pub(crate) fn placed(&self, intent: Intent) {
        // A write is claimed once.
        let _ = self.record.placed.set(intent);
    }

    /// The same, for the request.
    pub(crate) fn sent_key(&self) -> Option<String> {
        let announced = self.progress().wire_key.take();
        announced.map(Into::into).or_else(|| self.wire_key())
    }

    /// The key as the provider sees it.
    fn wire_key(&self) -> Option<String> {
        // A claim of the write's own counts; the tool call's covers what has none.
        let outer = self.record.context.as_ref().map_or(0, Context::generation);
        let grant = self.progress().grant;
        let generation = grant.map_or(outer, |grant| grant.generation);
        let style = self.record.profile.key_style();
        match &self.record.key {
            CallKey::Again(again) => Some(again.key.clone().into()),
            CallKey::Child(key) => Some(key.wire(generation).render(style)),
            CallKey::Intent(intent) => {
                let placed = self.record.placed.get().unwrap_or(intent);
                Some(placed.render(generation, style))
            }
            CallKey::Caller(_) | CallKey::None => None,
        }
    }
}

fn two_keys() -> Error {
    Error::from(tower_outcome_core::Error::invalid(
        "idempotency-key",
        "the request has a key of its own and an intent; one of them is enough",
    ))
}
