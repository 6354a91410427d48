//! One spelling for every JSON value: the canonical form of RFC 8785.
//!
//! Two texts of one value get the same bytes, so that their hashes are equal. RFC 8785 reads
//! every number as a double, and so gives one spelling to some values that are not equal. In a key
//! that would report an action that never happened, which is why both functions here refuse it:
//!
//! - a member that stands twice in one object (only text shows it: see [`from_str`]),
//! - a number beyond 2^53-1, where neighbouring integers share a double,
//! - a number beyond the range of a double, such as `1e400`,
//! - half of a surrogate pair, which is no character.
//!
//! A value may be nested 127 levels deep. The result is the same with the features
//! `arbitrary_precision` and `preserve_order` of `serde_json` on or off, which any crate of a build
//! may decide.
//!
//! ```
//! use tower_outcome_core::canonical;
//!
//! let bytes = canonical::from_str(r#"{ "b": 2e1, "a": "\u00fc" }"#)?;
//! assert_eq!(bytes, r#"{"a":"ü","b":20}"#.as_bytes());
//! assert!(canonical::from_str(r#"{ "a": 1, "a": 2 }"#).is_err());
//! # Ok::<(), tower_outcome_core::Error>(())
//! ```

use serde_json::Value;

pub(crate) use self::memory::Memory;
pub(crate) use self::number::Number;
pub(crate) use self::order::compare;
pub(crate) use self::pointer::push_token;
pub(crate) use self::writer::Writer;
use crate::Error;
use crate::intent::plan::Plan;
use crate::key::KeyHasher;

mod memory;
mod number;
mod order;
mod plain;
mod pointer;
mod string;
pub(crate) mod text;
mod writer;

/// The canonical bytes of a value.
///
/// # Errors
///
/// Refuses what RFC 8785 would merge; see the [module docs](self). A member that stood twice in
/// the text is no longer to be seen in a value.
pub fn to_vec(value: &Value) -> Result<Vec<u8>, Error> {
    let mut canonicalizer = Canonicalizer::new();
    canonicalizer.value(value)?;
    Ok(canonicalizer.memory.out)
}

/// The canonical bytes of a JSON text.
///
/// # Errors
///
/// Refuses what is no JSON (RFC 8259), and what RFC 8785 would merge; see the
/// [module docs](self).
pub fn from_str(text: &str) -> Result<Vec<u8>, Error> {
    let mut canonicalizer = Canonicalizer::new();
    canonicalizer.text(text)?;
    Ok(canonicalizer.memory.out)
}

/// Makes canonical bytes in a buffer that it keeps: once warm, it allocates no more.
#[derive(Clone, Debug)]
pub struct Canonicalizer {
    memory: Memory,
    exact: bool,
}

impl Canonicalizer {
    /// Refuses what RFC 8785 would merge; see the [module docs](self).
    #[must_use]
    pub fn new() -> Self {
        Self {
            memory: Memory::default(),
            exact: true,
        }
    }

    /// Rounds every number to a double as RFC 8785 has it, for bytes that others must reproduce.
    /// Not for keys.
    #[must_use]
    pub fn rounding() -> Self {
        Self {
            exact: false,
            ..Self::new()
        }
    }

    /// The canonical bytes of a value.
    ///
    /// # Errors
    ///
    /// As [`to_vec`]; a rounding one refuses only numbers that no double holds.
    pub fn value(&mut self, value: &Value) -> Result<&[u8], Error> {
        self.memory.clear();
        plain::write(&mut self.memory.out, value, self.exact, 0)
            .map_err(|refusal| Error::invalid(refusal.pointer, refusal.reason))?;
        Ok(&self.memory.out)
    }

    /// The canonical bytes of a JSON text.
    ///
    /// # Errors
    ///
    /// As [`from_str`]; a rounding one refuses only numbers that no double holds.
    pub fn text(&mut self, text: &str) -> Result<&[u8], Error> {
        self.memory.clear();
        let (plan, hasher) = (Plan::default(), KeyHasher::default());
        let mut writer = Writer::new(&mut self.memory, &plan, &hasher, self.exact);
        text::read(text, &mut writer)?;
        Ok(&self.memory.out)
    }
}

impl Default for Canonicalizer {
    fn default() -> Self {
        Self::new()
    }
}
