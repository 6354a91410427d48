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
                let route = Route::of(&record.method, &record.uri);
                let mut label = String::with_capacity(record.room(&route));
                record.push_label(&route, &mut label);
                (route.text(), label)
            }
        }
    }

    fn names(&self) -> &Names {
        let record = &*self.record;
        record.names.get_or_init(|| {
            let named = record.named().is_some();
            let route = Route::of(&record.method, &record.uri);
            let behind = if named { record.room(&route) } else { 0 };
            let room = (route.len() + behind).max(record.room(&route));
            let mut text = String::with_capacity(room);
            if named {
                route.push(&mut text);
            }
            let label = text.len();
            record.push_label(&route, &mut text);
            Names {
                text: text.into(),
                route: route.len(),
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
    fn room(&self, route: &Route<'_>) -> usize {
        let step = match self.named() {
            Some(named) => named.len(),
            None => {
                let query = self.uri.query().map_or(0, |_| DIGEST);
                route.len() + query
            }
        };
        let keyed = matches!(self.key, CallKey::Caller(_) | CallKey::Intent(_));
        step + if keyed { DIGEST } else { 0 }
    }

    fn push_label(&self, route: &Route<'_>, text: &mut String) {
        match self.named() {
            Some(named) => text.push_str(named),
            None => push_step(text, route, &self.uri),
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
    Route::of(method, uri).text()
}

/// The step's label, or the route with its query: what makes one write of a tool call another one.
pub(super) fn step(context: &Context, method: &Method, uri: &Uri) -> String {
    if let Some(label) = context.label() {
        return label.to_owned();
    }
    let route = Route::of(method, uri);
    let mut step = String::with_capacity(route.len() + DIGEST);
    push_step(&mut step, &route, uri);
    step
}

/// A name for a value that it does not show.
pub(super) fn digest(value: &str) -> IdempotencyKey {
    NAMING.child(value)
}

/// The parts of a route.
struct Route<'a>([&'a str; 4]);

impl<'a> Route<'a> {
    fn of(method: &'a Method, uri: &'a Uri) -> Self {
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        // A password in the authority would be one in the ledger.
        let host = match authority.bytes().rposition(|byte| byte == b'@') {
            Some(at) => &authority[at + 1..],
            None => authority,
        };
        Self([method.as_str(), " ", host, uri.path()])
    }

    fn len(&self) -> usize {
        self.0.map(str::len).iter().sum()
    }

    fn push(&self, text: &mut String) {
        for part in self.0 {
            text.push_str(part);
        }
    }

    fn text(&self) -> String {
        let mut text = String::with_capacity(self.len());
        self.push(&mut text);
        text
    }
}

fn push_step(text: &mut String, route: &Route<'_>, uri: &Uri) {
    route.push(text);
    if let Some(query) = uri.query() {
        text.push('?');
        push_digest(text, &digest(query));
    }
}

/// 128 bits that name something and do not show it.
fn push_digest(text: &mut String, named: &IdempotencyKey) {
    let mut digits = [0; DIGEST - 1];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(named.as_bytes()) {
        pair[0] = HEX[usize::from(byte >> 4)];
        pair[1] = HEX[usize::from(byte & 15)];
    }
    // Digits are text.
    text.push_str(str::from_utf8(&digits).unwrap_or_default());
}

/// The parent of all names of queries and of keys.
const NAMING: IdempotencyKey = IdempotencyKey::from_bytes([0; 32]);

/// The length of a digest and of the sign before it.
const DIGEST: usize = 33;

const HEX: &[u8; 16] = b"0123456789abcdef";
