//! The same wish makes the same key, whoever spells it.
//!
//! A model that lost an answer asks again: with members in another order, `20.0` for `20`, a
//! reworded reason. An [`Intent`] derives one key from what is wished, so that the second call is
//! known as the first one again. It derives from the scope, the tool, the arguments and the
//! occurrence, and never from a call id, an attempt or the time.
//!
//! **Scope** says whose wish it is, and is part of the key. It is whoever owns the effect: tenant
//! and account. Too wide, and one customer's refund is answered with another's; too narrow (a
//! request id, a session), and the second call is a new wish and pays twice. Add the conversation
//! where the same wish in another conversation is meant anew.
//!
//! **Rules** ([`IntentRules`], [`rule`]) say per tool which members of the arguments make the key.
//! Without rules every member does, free text included. What two equal keys must have in common
//! besides is in the [`Fingerprint`].
//!
//! **Again, on purpose** is [`with_occurrence`](Intent::with_occurrence), set by the host or a
//! person and never by a model.
//!
//! ```
//! use serde_json::json;
//! use tower_outcome_core::Intent;
//!
//! let one = Intent::new("acme/eu", "refund", &json!({ "order": 7, "amount": 20 }))?;
//! let two = Intent::new("acme/eu", "refund", &json!({ "amount": 20.0, "order": 7 }))?;
//! assert_eq!(one.key(), two.key());
//! assert_ne!(one.key(), two.with_occurrence(1).key());
//! # Ok::<(), tower_outcome_core::Error>(())
//! ```

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

pub use self::rules::IntentRules;

use self::members::Members;
use self::names::Kind;
use crate::key::{KeyHasher, KeyStyle, sf};
use crate::{Error, Fingerprint, IdempotencyKey};

mod derive;
mod digits;
mod members;
mod names;
pub(crate) mod plan;
mod room;
pub mod rule;
mod rules;
mod schema;
pub(crate) mod time;

/// One wish: a tool, what it is to do, and whose wish it is. Cheap to clone.
///
/// `Debug` shows no argument values. See the [module docs](self).
#[derive(Clone)]
pub struct Intent {
    inner: Arc<Inner>,
}

#[derive(Clone)]
struct Inner {
    scope: Arc<str>,
    tool: Arc<str>,
    origin: Origin,
    /// All parts of the key but the occurrence.
    base: KeyHasher,
    key: IdempotencyKey,
    fingerprint: Fingerprint,
    occurrence: u32,
    /// The same wish by the rules that are to come.
    successor: Option<Intent>,
    /// The key of the entry where a ledger has it, if that is not its own.
    home: Option<IdempotencyKey>,
}

/// Where the key comes from.
#[derive(Clone)]
enum Origin {
    Arguments { members: Members, version: Arc<str> },
    Explicit,
    Raw(Box<str>),
}

impl Intent {
    /// The wish that `tool` act on `arguments`, every member of which is part of the key.
    ///
    /// # Errors
    ///
    /// Refuses an empty scope or tool, arguments that are no object, and what the
    /// [canonical form](crate::canonical) refuses.
    pub fn new(scope: &str, tool: &str, arguments: &Value) -> Result<Self, Error> {
        let source = derive::Source::Value(arguments);
        let (plan, hasher) = (plan::Plan::default(), KeyHasher::default());
        derive::derive([scope, tool, ""], source, &plan, &hasher)
    }

    /// The wish that the caller names by a key of its own, whatever the arguments.
    ///
    /// The key is hashed with scope and tool, apart from derived keys, so that no caller can meet
    /// another's. Add what must stay equal under it with [`with_part`](Self::with_part).
    ///
    /// # Errors
    ///
    /// Refuses an empty scope or tool, and a blank key.
    pub fn explicit(scope: &str, tool: &str, key: &str) -> Result<Self, Error> {
        refuse_empty(scope, tool)?;
        if key.trim().is_empty() {
            return Err(Error::invalid("key", "is blank"));
        }
        let base = base("tower-outcome/explicit", scope, tool, key);
        let nothing = Fingerprint::none();
        Ok(Self::make([scope, tool], base, Origin::Explicit, nothing))
    }

    /// The wish that the caller names by a key which goes on the wire as it is.
    ///
    /// For a key that was agreed with the provider or is shared with other clients. It is the same
    /// in every generation of the ledger and has one occurrence: another wish needs another key.
    ///
    /// # Errors
    ///
    /// Refuses an empty scope or tool, and a key that is not 1 to 255 visible ASCII characters.
    pub fn raw(scope: &str, tool: &str, key: &str) -> Result<Self, Error> {
        refuse_empty(scope, tool)?;
        if !(1..=255).contains(&key.len()) || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::invalid(
                "key",
                "is not 1 to 255 visible ASCII characters",
            ));
        }
        let base = base("tower-outcome/raw", scope, tool, key);
        let (origin, nothing) = (Origin::Raw(key.into()), Fingerprint::none());
        Ok(Self::make([scope, tool], base, origin, nothing))
    }

    /// The same wish once more, on purpose: 0 is the first time, which it is without this call.
    ///
    /// Changes nothing on a [`raw`](Self::raw) key.
    #[must_use]
    pub fn with_occurrence(mut self, n: u32) -> Self {
        if !matches!(self.inner.origin, Origin::Raw(_)) {
            let inner = Arc::make_mut(&mut self.inner);
            inner.occurrence = n;
            inner.home = None;
            inner.key = key(&inner.base, n);
            inner.successor = inner.successor.take().map(|it| it.with_occurrence(n));
        }
        self
    }

    /// Adds what must be equal when this key is met again, such as the body of the request.
    #[must_use]
    pub fn with_part(mut self, name: &str, bytes: &[u8]) -> Self {
        let inner = Arc::make_mut(&mut self.inner);
        inner.fingerprint = std::mem::take(&mut inner.fingerprint).with_part(name, bytes);
        inner.successor = inner.successor.take().map(|it| it.with_part(name, bytes));
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
        self.inner.home.as_ref().unwrap_or(&self.inner.key)
    }

    /// The same wish at the entry where a ledger has it, under that entry's key: see
    /// [`alias`](crate::ledger::alias). Another occurrence of it is not there.
    pub(crate) fn at_home(mut self, key: IdempotencyKey) -> Self {
        let home = Some(key).filter(|key| *key != self.inner.key);
        if self.inner.home != home {
            Arc::make_mut(&mut self.inner).home = home;
        }
        self
    }

    /// Whether `key` is a key of the wish: that of its entry, or one that a version of the rules gives.
    #[must_use]
    pub fn is_named_by(&self, key: &IdempotencyKey) -> bool {
        self.key() == key || self.versions().any(|intent| intent.own_key() == key)
    }

    /// The key by the rules of the wish itself, wherever a ledger has it.
    pub(crate) fn own_key(&self) -> &IdempotencyKey {
        &self.inner.key
    }

    /// The same wish by the rules of its key and by all that succeed them.
    pub(crate) fn versions(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |intent| intent.successor())
    }

    /// What must be equal in the entry where a ledger has the wish, by every version of the rules
    /// that is known here.
    #[must_use]
    pub fn entry_fingerprint(&self) -> Fingerprint {
        if self.successor().is_none() && self.inner.home.is_none() {
            return self.fingerprint().clone();
        }
        let versions = self.versions();
        let versions = versions.map(|intent| (intent.own_key(), intent.fingerprint()));
        Fingerprint::of_versions(versions, self.key())
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

    /// Whether the caller chose the key, so that it may stand for something else altogether.
    #[must_use]
    pub fn is_explicit(&self) -> bool {
        !matches!(self.inner.origin, Origin::Arguments { .. })
    }

    /// The version of the rules by which the key was derived, for the record of the call. Empty
    /// without rules or version, and for keys that the caller chose.
    #[must_use]
    pub fn rules_version(&self) -> &str {
        match &self.inner.origin {
            Origin::Arguments { version, .. } => version,
            Origin::Explicit | Origin::Raw(_) => "",
        }
    }

    /// The same wish by the rules that [succeed](IntentRules::succeeding) those of its key, under
    /// which a ledger has to know it as well.
    #[must_use]
    pub fn successor(&self) -> Option<&Self> {
        self.inner.successor.as_ref()
    }

    /// The key as it goes into the request, in a `generation` of the ledger (0 without one).
    ///
    /// A [`raw`](Self::raw) key keeps its own spelling and takes no more than the quotes.
    #[must_use]
    pub fn render(&self, generation: u32, style: impl Into<KeyStyle>) -> String {
        let style = style.into();
        match &self.inner.origin {
            Origin::Raw(key) if style.quoted => sf::quote(key),
            Origin::Raw(key) => key.to_string(),
            Origin::Arguments { .. } | Origin::Explicit => {
                self.key().wire(generation).render(style)
            }
        }
    }

    /// What keeps two wishes of one scope, tool and version of the rules from being the same:
    /// pointers to members, names of parts, `occurrence`.
    ///
    /// None if they are the same, if they have no member in common, or if one of the keys is the
    /// caller's own. A near miss while the other wish is unresolved is likely the same one, spelt
    /// differently. Compares within one process only, and without the rigour of a key.
    ///
    /// ```
    /// use serde_json::json;
    /// use tower_outcome_core::Intent;
    ///
    /// let one = Intent::new("acme", "refund", &json!({ "order": 7, "amount": 20 }))?;
    /// let two = Intent::new("acme", "refund", &json!({ "order": 7, "amount": 25 }))?;
    /// assert_eq!(one.near_miss(&two), Some(vec!["/amount".to_owned()]));
    /// # Ok::<(), tower_outcome_core::Error>(())
    /// ```
    #[must_use]
    pub fn near_miss(&self, other: &Self) -> Option<Vec<String>> {
        let names = |intent: &Self| {
            let inner = &intent.inner;
            [&inner.scope, &inner.tool].map(Arc::clone)
        };
        let (
            Origin::Arguments { members, version },
            Origin::Arguments {
                members: its,
                version: v,
            },
        ) = (&self.inner.origin, &other.inner.origin)
        else {
            return None;
        };
        if names(self) != names(other) || version != v {
            return None;
        }
        let mut differences = members.differences(its)?;
        let parts = self.fingerprint().differences(other.fingerprint());
        differences.extend(parts.map(str::to_owned));
        if self.occurrence() != other.occurrence() {
            differences.push("occurrence".to_owned());
        }
        (!differences.is_empty()).then_some(differences)
    }

    pub(crate) fn shared_scope(&self) -> &Arc<str> {
        &self.inner.scope
    }

    pub(crate) fn shared_tool(&self) -> &Arc<str> {
        &self.inner.tool
    }

    fn make(
        [scope, tool]: [&str; 2],
        base: KeyHasher,
        origin: Origin,
        fingerprint: Fingerprint,
    ) -> Self {
        Self {
            inner: room::shared(Inner {
                scope: names::shared(Kind::Scope, scope),
                tool: names::shared(Kind::Tool, tool),
                origin,
                key: key(&base, 0),
                base,
                fingerprint,
                occurrence: 0,
                successor: None,
                home: None,
            }),
        }
    }

    /// Adds what succeeds all versions that are known.
    fn with_successor(mut self, successor: Self) -> Self {
        let inner = Arc::make_mut(&mut self.inner);
        let last = match inner.successor.take() {
            Some(next) => next.with_successor(successor),
            None => successor,
        };
        inner.successor = Some(last);
        self
    }
}

impl Drop for Intent {
    fn drop(&mut self) {
        room::keep(&mut self.inner);
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

fn refuse_empty(scope: &str, tool: &str) -> Result<(), Error> {
    match (scope, tool) {
        ("", _) => Err(Error::invalid("scope", "is empty")),
        (_, "") => Err(Error::invalid("tool", "is empty")),
        _ => Ok(()),
    }
}

fn base(domain: &str, scope: &str, tool: &str, key: &str) -> KeyHasher {
    KeyHasher::default().parts(&[domain, scope, tool, key].map(str::as_bytes))
}

fn key(base: &KeyHasher, occurrence: u32) -> IdempotencyKey {
    IdempotencyKey::from_bytes(base.finish_with(&[&occurrence.to_be_bytes()]))
}
