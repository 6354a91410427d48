//! The same wish makes the same key, whoever spells it.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::key::digest;
use crate::{Error, Fingerprint, IdempotencyKey};

/// One wish: a tool, what it is to do, and whose wish it is.
#[derive(Clone)]
pub struct Intent {
    inner: Arc<Inner>,
}

#[derive(Clone)]
struct Inner {
    scope: Box<str>,
    tool: Box<str>,
    base: [u8; 32],
    key: IdempotencyKey,
    fingerprint: Fingerprint,
    occurrence: u32,
}

impl Intent {
    /// The wish that `tool` act on `arguments`, every member of which counts.
    ///
    /// # Errors
    ///
    /// Refuses an empty scope or tool, and arguments that are no object.
    pub fn new(scope: &str, tool: &str, arguments: &Value) -> Result<Self, Error> {
        if !arguments.is_object() {
            return Err(Error::invalid("", "the arguments are no object"));
        }
        Self::of(
            b"tower-outcome/key",
            scope,
            tool,
            arguments.to_string().as_bytes(),
        )
    }

    /// The wish that the caller names by a key of its own.
    ///
    /// # Errors
    ///
    /// Refuses an empty scope, tool or key.
    pub fn explicit(scope: &str, tool: &str, key: &str) -> Result<Self, Error> {
        if key.is_empty() {
            return Err(Error::invalid("key", "is empty"));
        }
        Self::of(b"tower-outcome/explicit", scope, tool, key.as_bytes())
    }

    fn of(domain: &[u8], scope: &str, tool: &str, what: &[u8]) -> Result<Self, Error> {
        for (field, text) in [("scope", scope), ("tool", tool)] {
            if text.is_empty() {
                return Err(Error::invalid(field, "is empty"));
            }
        }
        let base = digest(&[domain, scope.as_bytes(), tool.as_bytes(), what]);
        Ok(Self {
            inner: Arc::new(Inner {
                scope: scope.into(),
                tool: tool.into(),
                base,
                key: IdempotencyKey::from_bytes(base),
                fingerprint: Fingerprint::default(),
                occurrence: 0,
            }),
        })
    }

    /// The same wish once more, on purpose: 0 is the first time.
    #[must_use]
    pub fn with_occurrence(mut self, n: u32) -> Self {
        let inner = Arc::make_mut(&mut self.inner);
        inner.occurrence = n;
        inner.key = IdempotencyKey::from_bytes(digest(&[&inner.base, &n.to_be_bytes()]));
        self
    }

    /// Adds what must be equal when this key is met again, such as the body of the request.
    #[must_use]
    pub fn with_part(mut self, name: &str, bytes: &[u8]) -> Self {
        let inner = Arc::make_mut(&mut self.inner);
        inner.fingerprint = std::mem::take(&mut inner.fingerprint).with_part(name, bytes);
        self
    }

    /// Whose wish it is.
    #[must_use]
    pub fn scope(&self) -> &str {
        &self.inner.scope
    }

    /// The tool that is to act.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.inner.tool
    }

    /// The key of the wish.
    #[must_use]
    pub fn key(&self) -> &IdempotencyKey {
        &self.inner.key
    }

    /// What must be equal when the key is met again.
    #[must_use]
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.inner.fingerprint
    }

    /// How many times the same wish was made on purpose before.
    #[must_use]
    pub fn occurrence(&self) -> u32 {
        self.inner.occurrence
    }
}

impl fmt::Debug for Intent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intent")
            .field("scope", &self.scope())
            .field("tool", &self.tool())
            .field("key", self.key())
            .field("occurrence", &self.occurrence())
            .finish_non_exhaustive()
    }
}
