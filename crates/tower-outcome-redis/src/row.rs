//! An entry as it stands in the store: its revision, and JSON for people.
//!
//! The generation is not stored, for it never moves. The result has a key of its own.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use tower_outcome_core::ledger::{
    Entry, EntryKey, Owner, Resolution, State, Timestamp, WriteRecord,
};
use tower_outcome_core::{BoxError, Fingerprint, Landing};

use crate::fault::Fault;
use crate::keyspace::{hex, hex_key, unhex, unhex_key};

/// An entry and the name of its last change.
#[derive(Clone)]
pub(crate) struct Stored {
    pub(crate) entry: Entry,
    pub(crate) revision: String,
    /// Whether a result was stored with it, if only for a while.
    pub(crate) has_result: bool,
}

impl Stored {
    pub(crate) fn new(entry: Entry, revision: String) -> Self {
        Self {
            has_result: entry.result.is_some(),
            entry,
            revision,
        }
    }

    /// The row as it is stored.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, Fault> {
        let mut row = Vec::with_capacity(USUAL);
        row.extend_from_slice(self.revision.as_bytes());
        Record::write(self, &mut row).map_err(|_| Fault::unasked("an entry cannot be encoded"))?;
        Ok(row)
    }

    /// Reads what [`encode`](Self::encode) wrote. What it holds stays out of the error.
    pub(crate) fn decode(
        key: &EntryKey,
        row: &[u8],
        result: Option<Vec<u8>>,
    ) -> Result<Self, Fault> {
        let read = || -> Result<Self, BoxError> {
            let (revision, json) = row.split_at_checked(REVISION).ok_or("too short")?;
            let record: Record<'_> = serde_json::from_slice(json)?;
            let revision = std::str::from_utf8(revision)?.to_owned();
            record.read(key, revision, result)
        };
        read().map_err(|_| Fault::unasked("an entry cannot be read back"))
    }
}

/// The entry's JSON.
#[derive(Deserialize, Serialize)]
struct Record<'a> {
    format: u32,
    #[serde(borrow)]
    state: Cow<'a, str>,
    #[serde(borrow)]
    tool: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<Cow<'a, str>>,
    epoch: u64,
    maybe_sent: bool,
    landing: Landing,
    #[serde(borrow)]
    owner: Cow<'a, str>,
    lease_until: u64,
    created_at: u64,
    updated_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_send_by: Option<u64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    looks: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    look_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resolution: Option<Cow<'a, Resolution>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alias_of: Option<Cow<'a, str>>,
    fingerprint: Cow<'a, Fingerprint>,
    result: bool,
    writes: Cow<'a, [WriteRecord]>,
}

impl<'a> Record<'a> {
    fn write(stored: &'a Stored, row: &mut Vec<u8>) -> serde_json::Result<()> {
        let entry = &stored.entry;
        let record = Self {
            format: FORMAT,
            state: entry.state.as_str().into(),
            tool: (&*entry.tool).into(),
            code: entry.code.map(|code| code.as_str().into()),
            epoch: entry.epoch,
            maybe_sent: entry.maybe_sent,
            landing: entry.landing,
            owner: hex(&entry.owner.to_bytes()).into(),
            lease_until: entry.lease_until.0,
            created_at: entry.created_at.0,
            updated_at: entry.updated_at.0,
            last_send_by: entry.last_send_by.map(|time| time.0),
            looks: entry.looks,
            look_at: Some(entry.look_at.0),
            resolution: entry.resolution.as_ref().map(Cow::Borrowed),
            alias_of: entry.alias_of.map(|key| hex_key(&key).into()),
            fingerprint: Cow::Borrowed(&entry.fingerprint),
            result: stored.has_result,
            writes: (&*entry.writes).into(),
        };
        serde_json::to_writer(row, &record)
    }

    fn read(
        self,
        key: &EntryKey,
        revision: String,
        result: Option<Vec<u8>>,
    ) -> Result<Stored, BoxError> {
        if !(1..=FORMAT).contains(&self.format) {
            return Err("another version wrote it".into());
        }
        let state = State::parse(&self.state)?;
        // Format 1 had none.
        let look_at = self.look_at.unwrap_or(match state {
            State::Unknown => self.updated_at,
            _ => self.lease_until,
        });
        let entry = Entry {
            key: key.clone(),
            tool: self.tool.into(),
            state,
            epoch: self.epoch,
            generation: GENERATION,
            maybe_sent: self.maybe_sent,
            owner: Owner::from_bytes(unhex(&self.owner).ok_or("no owner")?),
            lease_until: Timestamp(self.lease_until),
            fingerprint: self.fingerprint.into_owned(),
            code: self.code.map(|code| code.parse()).transpose()?,
            landing: self.landing,
            result: result.filter(|_| self.result).map(Into::into),
            writes: self.writes.into_owned(),
            created_at: Timestamp(self.created_at),
            updated_at: Timestamp(self.updated_at),
            last_send_by: self.last_send_by.map(Timestamp),
            looks: self.looks,
            look_at: Timestamp(look_at),
            resolution: self.resolution.map(Cow::into_owned),
            alias_of: match self.alias_of {
                Some(digits) => Some(unhex_key(&digits).ok_or("no key")?),
                None => None,
            },
        };
        Ok(Stored {
            entry,
            revision,
            has_result: self.result,
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Names changes, none of them twice, in this process or another or after a loss.
pub(crate) struct Revisions {
    ledger: String,
    count: AtomicU64,
}

impl Revisions {
    pub(crate) fn new() -> Self {
        Self {
            ledger: hex(&Owner::random().to_bytes()),
            count: AtomicU64::new(0),
        }
    }

    pub(crate) fn next(&self) -> String {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        self.ledger.clone() + &hex(&number.to_be_bytes())
    }
}

/// A store that may lose a move of the generation never moves it.
const GENERATION: u32 = 0;

/// The length of a revision, in bytes. The script has the same number.
const REVISION: usize = 48;

/// Few rows are longer, in bytes.
const USUAL: usize = 768;

/// What this version reads and writes.
const FORMAT: u32 = 2;
