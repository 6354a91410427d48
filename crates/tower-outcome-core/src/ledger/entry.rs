//! One row: what is known of one intent.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::request::StoredRequest;
use crate::fingerprint::{Comparison, Fingerprint};
use crate::intent::time;
use crate::{Code, Error, IdempotencyKey, Intent, Landing};

/// Where an entry is found: the owner of the effect, and the intent. Cheap to clone.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EntryKey {
    /// Whoever owns the effect: a tenant, an account.
    pub scope: Arc<str>,
    /// The intent's key.
    pub key: IdempotencyKey,
}

impl EntryKey {
    /// The place of an intent's entry.
    #[must_use]
    pub fn of(intent: &Intent) -> Self {
        Self {
            scope: Arc::clone(intent.shared_scope()),
            key: *intent.key(),
        }
    }

    /// What a store calls a row whose key cannot be read back: bytes that are too many are left out,
    /// and those that are missing are zeros.
    ///
    /// ```
    /// use tower_outcome_core::ledger::EntryKey;
    ///
    /// let named = EntryKey::resembling("acme", &[7; 5]);
    /// assert_eq!(named.key.as_bytes()[..6], [7, 7, 7, 7, 7, 0]);
    /// ```
    #[must_use]
    pub fn resembling(scope: &str, key: &[u8]) -> Self {
        let mut bytes = [0; 32];
        for (byte, stored) in bytes.iter_mut().zip(key) {
            *byte = *stored;
        }
        Self {
            scope: scope.into(),
            key: IdempotencyKey::from_bytes(bytes),
        }
    }

    /// The place of another key of the same scope.
    pub(crate) fn at(&self, key: IdempotencyKey) -> Self {
        Self {
            scope: Arc::clone(&self.scope),
            key,
        }
    }
}

/// What is known of one intent. Holds no argument, header or credential.
#[derive(Clone, PartialEq)]
pub struct Entry {
    /// Where the entry is found.
    pub key: EntryKey,
    /// The tool or operation, for people.
    pub tool: Arc<str>,
    /// What may happen to the entry next.
    pub state: State,
    /// Counts claims; an owner with an older number is fenced off.
    pub epoch: u64,
    /// Part of the wire key; moves only when the provider's refusal is proven.
    pub generation: u32,
    /// Whether a request under this generation may have left. Only proof clears it.
    pub maybe_sent: bool,
    /// Who holds the claim.
    pub owner: Owner,
    /// Until when the owner counts as alive.
    pub lease_until: Timestamp,
    /// Hashes of what must be equal in an identical call.
    pub fingerprint: Fingerprint,
    /// Why the entry is in its state, once it has ended or is in doubt.
    pub code: Option<Code>,
    /// Whether something in doubt may still land.
    pub landing: Landing,
    /// What the provider answered, capped at [`MAX_RESULT`] bytes.
    pub result: Option<Box<[u8]>>,
    /// One record for each write of the call.
    pub writes: Vec<WriteRecord>,
    /// When the intent was first claimed.
    pub created_at: Timestamp,
    /// When the entry last changed.
    pub updated_at: Timestamp,
    /// The latest moment at which its owner may still send something.
    pub last_send_by: Option<Timestamp>,
    /// How often somebody has looked it up since it came to be in doubt.
    pub looks: u32,
    /// From when the next look is due, once it is in doubt.
    pub look_at: Timestamp,
    /// The word of a person, where one has decided.
    pub resolution: Option<Resolution>,
    /// Under which key of the same scope the intent is found, if this is an alias.
    pub alias_of: Option<IdempotencyKey>,
}

impl Entry {
    /// Where the entry is that this one is an alias of.
    ///
    /// None of an alias that is [shared](Self::is_shared): it leads nowhere.
    #[must_use]
    pub fn leads_to(&self) -> Option<EntryKey> {
        let key = self.alias_of.filter(|_| !self.is_shared())?;
        Some(self.key.at(key))
    }

    /// Compares what has to be equal in an identical call with what a call says: see
    /// [`Intent::entry_fingerprint`].
    #[must_use]
    pub fn compare<'a>(&'a self, call: &'a Fingerprint) -> Comparison<'a> {
        self.fingerprint.compare(call, &self.key.key)
    }

    /// Whether this is an alias that several entries have, so that its key tells no longer which of
    /// them is meant.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.state == State::Alias && self.code.is_some()
    }
}

/// What may happen to an entry next.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum State {
    /// The intent is found under another key, which former rules gave it.
    Alias,
    /// An owner may decide to send and has not.
    Claimed,
    /// Something may leave now or have left.
    Dispatching,
    /// Proof is stored. Final.
    Done,
    /// Proof that nothing happened is stored; the next call may send.
    Failed,
    /// Nothing was sent; the next call may send.
    Free,
    /// A part happened. Final, and never worked on by a reconciler.
    Partial,
    /// It may have happened and there is no proof.
    Unknown,
}

impl State {
    /// Every state there is.
    pub const ALL: &[Self] = &[
        Self::Alias,
        Self::Claimed,
        Self::Dispatching,
        Self::Done,
        Self::Failed,
        Self::Free,
        Self::Partial,
        Self::Unknown,
    ];

    /// The state as it stands in stores and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Alias => "alias",
            Self::Claimed => "claimed",
            Self::Dispatching => "dispatching",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Free => "free",
            Self::Partial => "partial",
            Self::Unknown => "unknown",
        }
    }

    /// Reads a stored state back.
    ///
    /// # Errors
    ///
    /// [`Error`] for a word that names no state.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let known = Self::ALL.iter().copied();
        known
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| Error::invalid("state", "no such state"))
    }
}

/// One write of a call, recorded before it may leave, so that it can be looked up afterwards.
#[derive(Clone, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct WriteRecord {
    /// The step's label or the route: one write of the call, however often it is attempted.
    pub label: String,
    /// Method, authority and path. No query: it may hold secrets.
    pub route: String,
    /// The key that the request carries, as rendered.
    pub wire_key: String,
    /// A reference of ours that the request carries beside the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Whether it is promised to be the only write of its call: only then does finding it prove that
    /// the whole call was done.
    #[serde(default)]
    pub only: bool,
    /// The name of the provider profile that reads its answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Cow<'static, str>>,
    /// A fingerprint of the credential that it was sent with, from which nobody can get the
    /// credential back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<String>,
    /// The sealed request, while it may have to be sent again. Only ledgers that
    /// [encrypt](super::Ledger::encrypts) are given one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<StoredRequest>,
}

/// What a person decided of an entry in doubt.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
pub struct Resolution {
    /// Who decided.
    pub by: Box<str>,
    /// Why.
    pub reason: Box<str>,
    /// When.
    pub at: Timestamp,
}

/// One start of a process. An owner is dead only once its lease has ended.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Owner(u128);

impl Owner {
    /// A new owner, from the operating system's randomness.
    ///
    /// # Panics
    ///
    /// If the operating system has no randomness to give.
    #[must_use]
    pub fn random() -> Self {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system gives randomness");
        Self::from_bytes(bytes)
    }

    /// Takes a stored owner back.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// The owner's bytes, for a store.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0 >> 96)
    }
}

/// Milliseconds since the Unix epoch.
///
/// Decides when a lease has ended, never whether something was sent.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The system's clock.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self(since.map_or(0, millis))
    }

    /// This moment and `later` more.
    #[must_use]
    pub fn after(self, later: Duration) -> Self {
        Self(self.0.saturating_add(millis(later)))
    }

    /// The moment that lies `earlier` before this one.
    #[must_use]
    pub fn before(self, earlier: Duration) -> Self {
        Self(self.0.saturating_sub(millis(earlier)))
    }
}

impl fmt::Display for Timestamp {
    /// In UTC, as RFC 3339 has it; the bare number from the year 10000 on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match time::of_unix(self.0) {
            Some(text) => f.write_str(&text),
            None => self.0.fmt(f),
        }
    }
}

fn millis(duration: Duration) -> u64 {
    let whole = duration.as_secs().saturating_mul(1000);
    whole.saturating_add(duration.subsec_millis().into())
}

/// The largest result that is stored, in bytes. A larger one is replayed as `result_omitted`.
pub const MAX_RESULT: usize = 64 * 1024;

/// The longest scope, tool name, and part of a [`Resolution`], in bytes.
pub const MAX_NAME: usize = 512;

/// The largest sealed request that is stored, in bytes. A larger one is never sent again.
pub const MAX_REQUEST: usize = 64 * 1024;

/// For how long a stored result is replayed. Afterwards only the fact that it happened is.
pub const RESULT_RETENTION: Duration = Duration::from_hours(24);

/// For how long an identical call is recognised after it was done.
pub const TOMBSTONE_RETENTION: Duration = Duration::from_hours(400 * 24);
