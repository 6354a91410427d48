//! Where a provider takes the key.

use http::{HeaderMap, HeaderName, Method};

/// Where a key goes in the request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Place {
    /// A member of a JSON body, or a pair of a form.
    Body(Box<str>),
    /// A header, which is metadata to gRPC.
    Header(HeaderName),
    /// A pair of the query.
    Query(Box<str>),
}

/// Where a provider takes the key.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) place: Place,
    /// The methods on which it counts; `None` for all that write.
    pub(crate) methods: Option<Box<[Method]>>,
}

impl Key {
    pub(crate) const fn in_header(name: HeaderName) -> Self {
        Self {
            place: Place::Header(name),
            methods: None,
        }
    }

    pub(crate) fn is_taken_on(&self, method: &Method) -> bool {
        let methods = self.methods.as_deref();
        methods.is_none_or(|methods| methods.contains(method))
    }

    pub(crate) const fn header(&self) -> Option<&HeaderName> {
        match &self.place {
            Place::Header(name) => Some(name),
            Place::Body(_) | Place::Query(_) => None,
        }
    }

    /// The key that a request carries already. An empty one is none.
    pub(crate) fn value_in<'a>(&self, headers: &'a HeaderMap) -> Option<&'a [u8]> {
        let header = self.header()?;
        // Most requests carry none, which takes less to see than a name takes to hash.
        if headers.len() <= FEW && !headers.keys().any(|name| name == header) {
            return None;
        }
        let key = headers.get(header)?.as_bytes();
        (!key.trim_ascii().is_empty()).then_some(key)
    }
}

/// So many headers are sooner gone through than one is looked up.
const FEW: usize = 8;
