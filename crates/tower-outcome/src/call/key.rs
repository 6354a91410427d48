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
    Child(IdempotencyKey, Box<str>),
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
        let own = profile
            .header()
            .is_some_and(|name| request.headers().contains_key(name));
        let intent = request.extensions_mut().remove::<Intent>();
        match (intent, context, own) {
            (Some(_), _, true) => Err(two_keys()),
            (Some(intent), _, false) => Ok(Self::Intent(intent)),
            (None, _, true) => Ok(Self::Caller),
            (None, Some(context), false) => {
                let label = match context.label() {
                    Some(label) => label.into(),
                    None => path_and_query(request),
                };
                Ok(Self::Child(context.key().child(&label), label.into()))
            }
            (None, None, false) => Ok(Self::None),
        }
    }

    pub(crate) fn derived(&self) -> Option<&IdempotencyKey> {
        match self {
            Self::Child(key, _) => Some(key),
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

/// The route with its query: what makes one write of a tool call another one.
///
/// Hashed into the key, and stored only as the label of a write that has no query.
fn path_and_query(request: &Request<OutcomeBody>) -> String {
    let route = route(request);
    match request.uri().query() {
        Some(query) => format!(
            "{route}?{}",
            IdempotencyKey::from_bytes([0; 32]).child(query).short()
        ),
        None => route,
    }
}

fn two_keys() -> Error {
    Error::from(tower_outcome_core::Error::invalid(
        "idempotency-key",
        "the request has a key of its own and an intent; one of them is enough",
    ))
}
