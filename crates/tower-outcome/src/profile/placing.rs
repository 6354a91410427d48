//! Puts the key into a request where the provider looks for it.

use http::{HeaderValue, Request, Uri};
use serde_json::Value;
use tower_outcome_core::Error as Refused;

use super::Profile;
use super::key::Place;
use crate::{Error, OutcomeBody};

impl Profile {
    /// Puts `key` into `request`, and the token for a look-up if the profile asks for one.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` where the request has no place for it, or has a key of its own there.
    pub(crate) fn place(
        &self,
        request: &mut Request<OutcomeBody>,
        key: String,
    ) -> Result<(), Error> {
        match self.key.as_ref().map(|key| &key.place) {
            None | Some(Place::Header(_)) => {}
            Some(Place::Query(name)) => put_into_query(request, name, &key)?,
            Some(Place::Body(name)) if is_form(request) => put_into_form(request, name, &key)?,
            Some(Place::Body(name)) => put_into_json(request, name, &key)?,
        }
        match self.reference() {
            Some(member) if !self.takes_reference(request) => {
                tracing::debug!(
                    member,
                    "the request has a reference of its own, which stays"
                );
            }
            Some(member) if is_form(request) => {
                put_into_form(request, &spelt_in_form(member), &key)?;
            }
            Some(member) => put_into_json(request, member, &key)?,
            None => {}
        }
        if let Some(name) = self.key_header() {
            let value = header_value(key)?;
            request.headers_mut().insert(name.clone(), value);
        }
        Ok(())
    }

    /// Whether a token of ours goes into `request`, by which it can be looked up: the profile has a
    /// place for one, and the caller has put nothing there.
    pub(crate) fn takes_reference(&self, request: &Request<OutcomeBody>) -> bool {
        let Some(member) = self.reference() else {
            return false;
        };
        let body = request.body().bytes().unwrap_or_default();
        if is_form(request) {
            let form = String::from_utf8_lossy(&body);
            return own_pair(&form, &spelt_in_form(member)).is_none();
        }
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let own = tokens(member).try_fold(&body, |place, token| place.get(token));
        own.is_none_or(is_free)
    }
}

/// Takes the text over, which has to be as long as its string.
fn header_value(key: String) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::try_from(key)
        .map_err(|_| Refused::invalid("idempotency-key", "cannot stand in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// `name` is a member, or a pointer to a member of a member.
fn put_into_json(request: &mut Request<OutcomeBody>, name: &str, key: &str) -> Result<(), Error> {
    let bytes = request.body().bytes().unwrap_or_default();
    let mut body: Value = serde_json::from_slice(&bytes).map_err(|_| no_room())?;
    let mut place = &mut body;
    for token in tokens(name) {
        if place.is_null() {
            *place = Value::Object(serde_json::Map::new());
        }
        let members = place.as_object_mut().ok_or_else(no_room)?;
        place = members.entry(token).or_insert(Value::Null);
    }
    if !is_free(place) {
        return Err(two_keys());
    }
    *place = key.into();
    replace_body(request, body.to_string());
    Ok(())
}

fn tokens(name: &str) -> impl Iterator<Item = &str> {
    name.strip_prefix('/').unwrap_or(name).split('/')
}

fn is_free(place: &Value) -> bool {
    place.is_null() || *place == ""
}

fn is_form(request: &Request<OutcomeBody>) -> bool {
    let kind = request.headers().get(http::header::CONTENT_TYPE);
    kind.is_some_and(|kind| {
        kind.as_bytes()
            .starts_with(b"application/x-www-form-urlencoded")
    })
}

/// A member of a member as forms spell it: `/metadata/order` is `metadata[order]`, percent-encoded.
fn spelt_in_form(name: &str) -> String {
    let mut tokens = tokens(name);
    let first = tokens.next().unwrap_or_default().to_owned();
    tokens.fold(first, |name, token| format!("{name}%5B{token}%5D"))
}

fn put_into_form(request: &mut Request<OutcomeBody>, name: &str, key: &str) -> Result<(), Error> {
    let bytes = request.body().bytes().ok_or_else(no_room)?;
    let form = str::from_utf8(&bytes).map_err(|_| no_room())?;
    let form = with_pair(form, name, key)?;
    replace_body(request, form);
    Ok(())
}

fn put_into_query(request: &mut Request<OutcomeBody>, name: &str, key: &str) -> Result<(), Error> {
    let mut parts = request.uri().clone().into_parts();
    let place = parts.path_and_query.as_ref();
    let path = place.map_or("/", |place| place.path());
    let query = place.and_then(|place| place.query()).unwrap_or_default();
    let place = format!("{path}?{}", with_pair(query, name, key)?);
    parts.path_and_query = Some(place.try_into().map_err(|_| no_room())?);
    *request.uri_mut() = Uri::from_parts(parts).map_err(|_| no_room())?;
    Ok(())
}

fn with_pair(pairs: &str, name: &str, key: &str) -> Result<String, Error> {
    if own_pair(pairs, name).is_some() {
        return Err(two_keys());
    }
    let key = key.replace('"', "%22");
    let joint = if pairs.is_empty() { "" } else { "&" };
    Ok(format!("{pairs}{joint}{name}={key}"))
}

/// What the caller has put under a name, with its brackets bare or percent-encoded.
fn own_pair<'a>(pairs: &'a str, name: &str) -> Option<&'a str> {
    let is = |own: &str| {
        let own = own.replace('[', "%5B").replace(']', "%5D");
        own.replace("%5b", "%5B").replace("%5d", "%5D") == name
    };
    let mut own = pairs.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = own.find(|(own, value)| is(own) && !value.is_empty())?;
    Some(value)
}

fn replace_body(request: &mut Request<OutcomeBody>, body: String) {
    let length = http::header::CONTENT_LENGTH;
    if request.headers_mut().remove(&length).is_some() {
        request
            .headers_mut()
            .insert(length, HeaderValue::from(body.len()));
    }
    *request.body_mut() = OutcomeBody::from(body);
}

fn no_room() -> Error {
    let reason = "has no place for the key or reference that the profile asks for";
    Error::from(Refused::invalid("body", reason))
}

fn two_keys() -> Error {
    let reason = "the request has a key of its own and an intent; one of them is enough";
    Error::from(Refused::invalid("idempotency-key", reason))
}
