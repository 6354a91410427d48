//! The names that a write goes by: made for whoever asks first, as most writes are never asked.

use http::{Method, Uri};
use tower_outcome_core::IdempotencyKey;

use super::{Call, CallKey, Record};
use crate::context::Context;

/// The route of a write, and the label that tells it apart in its tool call.
pub(super) struct Names {
    text: Box<str>,
    /// Where the route ends.
    route: usize,
    /// Where the label begins: with the route, or behind it.
    label: usize,
}

impl Call {
    /// Method, authority and path. No query: it may hold secrets.
    #[must_use]
    pub fn route(&self) -> &str {
        let names = self.names();
        &names.text[..names.route]
    }

    /// Tells the writes of a tool call apart: equal ones are the same write.
    pub(crate) fn label(&self) -> &str {
        let names = self.names();
        &names.text[names.label..]
    }

    pub(crate) fn path(&self) -> &str {
        let path = self.record.uri.path();
        if path.starts_with('/') { path } else { "/" }
    }

    /// Route and label, for whoever keeps them.
    pub(crate) fn described(&self) -> (String, String) {
        match self.record.names.get() {
            Some(_) => (self.route().to_owned(), self.label().to_owned()),
            None => {
                let record = &*self.record;
                let mut label = String::with_capacity(record.room());
                record.push_label(&mut label);
                (route(&record.method, &record.uri), label)
            }
        }
    }

    fn names(&self) -> &Names {
        let record = &*self.record;
        record.names.get_or_init(|| {
            let named = record.named().is_some();
            let behind = if named { record.room() } else { 0 };
            let room = route_len(&record.method, &record.uri) + behind;
            let mut text = String::with_capacity(room.max(record.room()));
            if named {
                push_route(&mut text, &record.method, &record.uri);
            }
            let label = text.len();
            record.push_label(&mut text);
            Names {
                text: text.into(),
                route: route_len(&record.method, &record.uri),
                label,
            }
        })
    }
}

impl Record {
    /// What the step of the tool call is called.
    fn named(&self) -> Option<&str> {
        self.context.as_ref().and_then(Context::label)
    }

    /// How long the label is.
    fn room(&self) -> usize {
        let step = match self.named() {
            Some(named) => named.len(),
            None => {
                let query = self.uri.query().map_or(0, |_| DIGEST);
                route_len(&self.method, &self.uri) + query
            }
        };
        let keyed = matches!(self.key, CallKey::Caller(_) | CallKey::Intent(_));
        step + if keyed { DIGEST } else { 0 }
    }

    fn push_label(&self, text: &mut String) {
        match self.named() {
            Some(named) => text.push_str(named),
            None => push_step(text, &self.method, &self.uri),
        }
        // Another key is another write.
        let key = match &self.key {
            CallKey::Caller(name) => Some(*name),
            CallKey::Intent(intent) => Some(intent.key().child("")),
            CallKey::Again(_) | CallKey::Child(_) | CallKey::None => None,
        };
        if let Some(key) = key {
            text.push('#');
            push_digest(text, &key);
        }
    }
}

/// Method, authority and path.
pub(crate) fn route(method: &Method, uri: &Uri) -> String {
    let mut route = String::with_capacity(route_len(method, uri));
    push_route(&mut route, method, uri);
    route
}

/// The step's label, or the route with its query: what makes one write of a tool call another one.
pub(super) fn step(context: &Context, method: &Method, uri: &Uri) -> String {
    if let Some(label) = context.label() {
        return label.to_owned();
    }
    let mut step = String::with_capacity(route_len(method, uri) + DIGEST);
    push_step(&mut step, method, uri);
    step
}

/// A name for a value that it does not show.
pub(super) fn digest(value: &str) -> IdempotencyKey {
    NAMING.child(value)
}

fn push_route(text: &mut String, method: &Method, uri: &Uri) {
    for part in parts(method, uri) {
        text.push_str(part);
    }
}

fn route_len(method: &Method, uri: &Uri) -> usize {
    parts(method, uri).map(str::len).iter().sum()
}

fn parts<'a>(method: &'a Method, uri: &'a Uri) -> [&'a str; 4] {
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    // A password in the authority would be one in the ledger.
    let host = authority.rsplit('@').next().unwrap_or_default();
    [method.as_str(), " ", host, uri.path()]
}

fn push_step(text: &mut String, method: &Method, uri: &Uri) {
    push_route(text, method, uri);
    if let Some(query) = uri.query() {
        text.push('?');
        push_digest(text, &digest(query));
    }
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
