//! The service behind the wire: refunds, the keys they were made under, and look-ups.

use std::collections::HashMap;

use serde_json::Value;

use crate::{Received, Reply, What, query};

/// What a look-up may ask for. Anything else is answered 400.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LookUp {
    /// `?key=` and `?reference=`.
    #[default]
    Both,
    /// `?key=`, the `Idempotency-Key` that the write carried.
    Key,
    /// `?reference=`, the member `reference` of the JSON that the write carried.
    Reference,
}

/// Everything that was committed.
#[derive(Debug)]
pub(crate) struct Refunds {
    honours_keys: bool,
    pub(crate) look_up_by: LookUp,
    all: Vec<Refund>,
    by_key: HashMap<String, usize>,
}

impl Refunds {
    pub(crate) fn new(honours_keys: bool) -> Self {
        Self {
            honours_keys,
            look_up_by: LookUp::default(),
            all: Vec::new(),
            by_key: HashMap::new(),
        }
    }

    /// Carries a write out, unless its key is known.
    pub(crate) fn commit(&mut self, request: &Received) -> (What, Reply) {
        let key = request.key().map(str::to_owned);
        if self.honours_keys
            && let Some(known) = key.as_ref().and_then(|key| self.by_key.get(key))
        {
            return self.all[*known].replay(request);
        }
        let refund = Refund::new(self.all.len() + 1, key.clone(), request);
        let id = refund.id.clone();
        let reply = refund.reply(request);
        if let Some(key) = key {
            self.by_key.insert(key, self.all.len());
        }
        self.all.push(refund);
        (What::Committed { id }, reply)
    }

    /// Answers a look-up at the path that the writes went to.
    pub(crate) fn look_up(&self, request: &Received) -> Reply {
        let asked = query::pairs(request.query.as_deref().unwrap_or_default());
        if let Some((name, _)) = asked.iter().find(|(name, _)| !self.look_up_by.allows(name)) {
            let refusal = serde_json::json!({ "error": "no such look-up", "member": name });
            return Reply::json(400, refusal.to_string());
        }
        let found: Vec<_> = self
            .all
            .iter()
            .filter(|refund| refund.path == request.path)
            .filter(|refund| asked.iter().all(|(name, value)| refund.has(name, value)))
            .map(Refund::json)
            .collect();
        Reply::json(200, format!(r#"{{"found":[{}]}}"#, found.join(",")))
    }

    pub(crate) fn count(&self, of: impl Fn(&Refund) -> bool) -> usize {
        self.all.iter().filter(|refund| of(refund)).count()
    }
}

/// One write that took effect.
#[derive(Debug)]
pub(crate) struct Refund {
    id: String,
    pub(crate) path: String,
    pub(crate) key: Option<String>,
    request_body: Vec<u8>,
    order: Value,
    amount: Value,
    reference: Value,
}

impl Refund {
    fn new(number: usize, key: Option<String>, request: &Received) -> Self {
        let mut body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let mut member = |name| body.get_mut(name).map(Value::take).unwrap_or_default();
        Self {
            id: format!("re_{number}"),
            path: request.path.clone(),
            key,
            order: member("order"),
            amount: member("amount"),
            reference: member("reference"),
            request_body: request.body.clone(),
        }
    }

    /// A key answers for the request it was first used with, and for no other.
    fn replay(&self, request: &Received) -> (What, Reply) {
        if self.path != request.path || self.request_body != request.body {
            let refusal = "key was used with another request";
            let reply = if request.is_grpc() {
                Reply::grpc_status(GRPC_INVALID_ARGUMENT, refusal)
            } else {
                Reply::json(422, format!(r#"{{"error":"{refusal}"}}"#))
            };
            return (What::KeyReused, reply);
        }
        let reply = self
            .reply(request)
            .with_header("idempotent-replayed", "true");
        let id = self.id.clone();
        (What::Replayed { id }, reply)
    }

    fn reply(&self, request: &Received) -> Reply {
        if request.is_grpc() {
            Reply::grpc(self.message()).with_trailer("grpc-status", "0")
        } else {
            Reply::json(201, self.json())
        }
    }

    /// A protobuf message with the id as its field 1, a string.
    fn message(&self) -> Vec<u8> {
        const FIELD_1_OF_BYTES: u8 = 1 << 3 | 2;
        let length = u8::try_from(self.id.len()).expect("an id is shorter than 128 bytes");
        [&[FIELD_1_OF_BYTES, length], self.id.as_bytes()].concat()
    }

    fn has(&self, name: &str, value: &str) -> bool {
        match name {
            "key" => self.key.as_deref() == Some(value),
            _ => self.reference.as_str() == Some(value),
        }
    }

    /// Written out by hand: the bytes of an answer must not depend on how a map is ordered.
    fn json(&self) -> String {
        let Self {
            id, order, amount, ..
        } = self;
        let reference = match &self.reference {
            Value::Null => String::new(),
            reference => format!(r#","reference":{reference}"#),
        };
        format!(r#"{{"id":"{id}","order":{order},"amount":{amount}{reference}}}"#)
    }
}

impl LookUp {
    fn allows(self, name: &str) -> bool {
        match name {
            "key" => self != Self::Reference,
            "reference" => self != Self::Key,
            _ => false,
        }
    }
}

const GRPC_INVALID_ARGUMENT: u32 = 3;
