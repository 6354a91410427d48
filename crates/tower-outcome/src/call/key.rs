//! Which key a write carries.

use http::Request;
use tower_outcome_core::{IdempotencyKey, Intent};

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
    [request.method().as_str(), " ", host, uri.path()].concat()
}

/// The step's label, or the route with its query: what makes one write of a tool call another one.
pub(crate) fn step(
    request: &Request<OutcomeBody>,
    context: Option<&Context>,
    route: &str,
) -> String {
    // Room for the digests of a query and of a key.
    let mut step = String::with_capacity(route.len() + 2 * DIGEST);
    if let Some(label) = context.and_then(Context::label) {
        step.push_str(label);
        return step;
    }
    step.push_str(route);
    if let Some(query) = request.uri().query() {
        step.push('?');
        push_digest(&mut step, &NAMING.child(query));
    }
    step
}

/// The step, told apart by the key that the write brought along: another key is another write.
pub(crate) fn label(
    request: &Request<OutcomeBody>,
    profile: &Profile,
    key: &CallKey,
    mut step: String,
) -> Box<str> {
    let brought = match key {
        CallKey::Caller => profile
            .key_in(request.headers())
            .map(|key| NAMING.child(&String::from_utf8_lossy(key))),
        CallKey::Intent(intent) => Some(intent.key().child("")),
        CallKey::Child(_) | CallKey::None => None,
    };
    if let Some(brought) = brought {
        step.push('#');
        push_digest(&mut step, &brought);
    }
    step.into()
}

/// 128 bits that name something and do not show it.
fn push_digest(text: &mut String, named: &IdempotencyKey) {
    for byte in &named.as_bytes()[..16] {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or_default());
        }
    }
}

/// The parent of all names of queries and of keys.
const NAMING: IdempotencyKey = IdempotencyKey::from_bytes([0; 32]);

/// The length of a digest and of the sign before it.
const DIGEST: usize = 33;

fn two_keys() -> Error {
    Error::from(tower_outcome_core::Error::invalid(
        "idempotency-key",
        "the request has a key of its own and an intent; one of them is enough",
    ))
}
