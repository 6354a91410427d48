//! Which key a write carries.

use http::Request;
use tower_outcome_core::{IdempotencyKey, Intent, KeyFormat};

use crate::context::Context;
use crate::profile::Profile;
use crate::{Error, OutcomeBody};

/// Which key a write carries.
#[derive(Debug)]
pub(crate) enum CallKey {
    /// The caller put a header of its own on the request.
    Caller,
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
        step: &str,
    ) -> Result<Self, Error> {
        let own = profile.key_in(request.headers()).is_some();
        let intent = request.extensions_mut().remove::<Intent>();
        match (intent, context, own) {
            (Some(_), _, true) => Err(two_keys()),
            (Some(intent), _, false) => Ok(Self::Intent(intent)),
            (None, _, true) => Ok(Self::Caller),
            (None, Some(context), false) => Ok(Self::Child(context.key().child(step))),
            (None, None, false) => Ok(Self::None),
        }
    }

    pub(crate) fn derived(&self) -> Option<&IdempotencyKey> {
        match self {
            Self::Child(key) => Some(key),
            Self::Intent(intent) => Some(intent.key()),
            Self::Caller | Self::None => None,
        }
    }
}

/// Method, authority and path.
pub(crate) fn route(request: &Request<OutcomeBody>) -> String {
    let uri = request.uri();
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    // A password in the authority would be one in the ledger.
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{} {}{}", request.method(), host, uri.path())
}

/// The step's label, or the route with its query: what makes one write of a tool call another one.
pub(crate) fn step(request: &Request<OutcomeBody>, context: Option<&Context>) -> String {
    if let Some(label) = context.and_then(Context::label) {
        return label.to_owned();
    }
    let route = route(request);
    match request.uri().query() {
        Some(query) => format!("{route}?{}", digest(query.as_bytes())),
        None => route,
    }
}

/// The step, told apart by the key that the write brought along: another key is another write.
pub(crate) fn label(
    request: &Request<OutcomeBody>,
    profile: &Profile,
    key: &CallKey,
    step: String,
) -> Box<str> {
    let brought = match key {
        CallKey::Caller => profile.key_in(request.headers()).map(digest),
        CallKey::Intent(intent) => Some(digest(intent.key().as_bytes())),
        CallKey::Child(_) | CallKey::None => None,
    };
    match brought {
        Some(brought) => format!("{step}#{brought}").into(),
        None => step.into(),
    }
}

/// 128 bits that name `bytes` and do not show them.
fn digest(bytes: &[u8]) -> String {
    let text = bytes.escape_ascii().to_string();
    let named = IdempotencyKey::from_bytes([0; 32]).child(&text);
    named.wire(0).render(KeyFormat::Base64Url)
}

fn two_keys() -> Error {
    Error::from(tower_outcome_core::Error::invalid(
        "idempotency-key",
        "the request has a key of its own and an intent; one of them is enough",
    ))
}
