//! Where a provider takes the key, and which keys it takes.

use http::{HeaderMap, HeaderName, Method};
use tower_outcome_core::{IdempotencyKey, KeyFormat, KeyStyle};

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

/// Where a provider takes the key, and which keys it takes.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) place: Place,
    pub(crate) style: Option<KeyStyle>,
    /// The methods on which it counts; `None` for all that write.
    pub(crate) methods: Option<Box<[Method]>>,
}

impl Key {
    pub(crate) const fn in_header(name: HeaderName) -> Self {
        Self {
            place: Place::Header(name),
            style: None,
            methods: None,
        }
    }

    pub(crate) fn style(&self) -> KeyStyle {
        self.style.unwrap_or_else(|| KeyFormat::Uuid.into())
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
        let key = headers.get(self.header()?)?.as_bytes();
        (!key.trim_ascii().is_empty()).then_some(key)
    }
}

/// Which keys a provider takes.
#[derive(Debug)]
pub(crate) struct Limits {
    pub(crate) min: u64,
    pub(crate) max: u64,
    /// Characters and ranges such as `A-Z`; `None` for any.
    pub(crate) characters: Option<Box<str>>,
}

impl Limits {
    /// What is wrong with keys of this style, if something is.
    pub(crate) fn fault(&self, style: KeyStyle) -> Option<String> {
        // Any key does: all of a style are of one length, and differ in their digits only.
        let sample = IdempotencyKey::from_bytes([0x5a; 32]).wire(0).render(style);
        let length = sample.len() as u64;
        if length < self.min || length > self.max {
            return Some(format!(
                "makes keys of {length} characters; {} to {} are taken",
                self.min, self.max
            ));
        }
        let characters = self.characters.as_deref()?;
        let strange = sample.chars().find(|letter| !allows(characters, *letter))?;
        Some(format!("makes keys with {strange:?}, which is not taken"))
    }
}

/// Whether `letter` is among `characters`; a dash between two of them makes a range.
fn allows(characters: &str, letter: char) -> bool {
    let letters: Vec<char> = characters.chars().collect();
    let mut rest = letters.as_slice();
    loop {
        rest = match rest {
            [] => return false,
            [first, '-', last, ..] if (*first..=*last).contains(&letter) => return true,
            [_, '-', _, rest @ ..] => rest,
            [first, ..] if *first == letter => return true,
            [_, rest @ ..] => rest,
        };
    }
}
