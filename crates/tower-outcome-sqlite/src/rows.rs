//! Entries as rows, and what is asked of one of them.

use rusqlite::types::{FromSqlError, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use serde::de::DeserializeOwned;
use tower_outcome_core::ledger::{
    Answer, Entry, EntryKey, Event, LedgerError, Owner, Resolution, State, Timestamp, machine,
};
use tower_outcome_core::{Code, Fingerprint, IdempotencyKey, Landing};

use crate::fault::failed;

/// Applies `event` to the row of `key`, inside the transaction that `store` is in.
pub(crate) fn apply(
    store: &Connection,
    key: &EntryKey,
    event: Event,
    now: Timestamp,
) -> Result<Answer, LedgerError> {
    let entry = find(store, key).map_err(failed)?;
    let (next, answer) = machine::step(key, entry.as_ref(), event, now)?;
    if let Some(next) = next {
        put(store, &next)?;
    }
    Ok(answer)
}

/// The entry of `key` as it stands at `now`.
pub(crate) fn read(
    store: &Connection,
    key: &EntryKey,
    now: Timestamp,
) -> Result<Option<Entry>, LedgerError> {
    let entry = find(store, key).map_err(failed)?;
    Ok(entry.map(|entry| machine::expired(entry, now)))
}

/// Finds out at once whether the file has the columns that are read and written.
pub(crate) fn prepare(store: &Connection) -> rusqlite::Result<()> {
    for statement in [FIND, PUT] {
        store.prepare_cached(statement)?;
    }
    Ok(())
}

fn find(store: &Connection, key: &EntryKey) -> rusqlite::Result<Option<Entry>> {
    store
        .prepare_cached(FIND)?
        .query_row((&*key.scope, key.key.as_bytes()), entry)
        .optional()
}

fn put(store: &Connection, entry: &Entry) -> Result<(), LedgerError> {
    let writes = serde_json::to_string(&entry.writes).map_err(LedgerError::unavailable)?;
    let resolution = entry.resolution.as_ref().map(serde_json::to_string);
    let resolution = resolution.transpose().map_err(LedgerError::unavailable)?;
    let mut statement = store.prepare_cached(PUT).map_err(failed)?;
    let values = named_params! {
        ":scope": &*entry.key.scope,
        ":key": entry.key.key.as_bytes(),
        ":tool": &*entry.tool,
        ":state": entry.state.as_str(),
        ":epoch": integer(entry.epoch),
        ":generation": entry.generation,
        ":maybe_sent": entry.maybe_sent,
        ":owner": entry.owner.to_bytes(),
        ":lease_until": integer(entry.lease_until.0),
        ":fingerprint": entry.fingerprint.to_text(),
        ":code": entry.code.map(Code::as_str),
        ":landing": landing_text(entry.landing),
        ":result": entry.result.as_deref(),
        ":writes": writes,
        ":created_at": integer(entry.created_at.0),
        ":updated_at": integer(entry.updated_at.0),
        ":last_send_by": entry.last_send_by.map(|time| integer(time.0)),
        ":looks": entry.looks,
        ":look_at": integer(entry.look_at.0),
        ":resolution": resolution,
        ":alias_of": entry.alias_of.as_ref().map(IdempotencyKey::as_bytes),
    };
    let stored = statement.execute(values);
    stored.map(drop).map_err(failed)
}

/// The entry in one of many rows as it stands at `now`, or the name of one that cannot be read.
pub(crate) fn listed(row: &Row<'_>, now: Timestamp) -> rusqlite::Result<Result<Entry, EntryKey>> {
    match entry(row) {
        Ok(entry) => Ok(Ok(machine::expired(entry, now))),
        Err(_) => Ok(Err(name(row)?)),
    }
}

/// What a row is called where it cannot be read.
pub(crate) fn name(row: &Row<'_>) -> rusqlite::Result<EntryKey> {
    let scope = row.get_ref("scope")?.as_bytes()?;
    let key = row.get_ref("key")?.as_bytes()?;
    Ok(EntryKey::resembling(&String::from_utf8_lossy(scope), key))
}

pub(crate) fn key(row: &Row<'_>) -> rusqlite::Result<EntryKey> {
    Ok(EntryKey {
        scope: row.get("scope")?,
        key: IdempotencyKey::from_bytes(row.get("key")?),
    })
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        key: key(row)?,
        tool: row.get("tool")?,
        state: read_text(row, "state", |text| State::parse(text).ok())?,
        epoch: unsigned(row, "epoch")?,
        generation: row.get("generation")?,
        maybe_sent: row.get("maybe_sent")?,
        owner: Owner::from_bytes(row.get("owner")?),
        lease_until: Timestamp(unsigned(row, "lease_until")?),
        fingerprint: read_text(row, "fingerprint", |text| Fingerprint::from_text(text).ok())?,
        code: match row.get_ref("code")? {
            ValueRef::Null => None,
            _ => Some(read_text(row, "code", |text| text.parse().ok())?),
        },
        landing: read_text(row, "landing", landing)?,
        result: row.get("result")?,
        writes: read_text(row, "writes", json)?,
        created_at: Timestamp(unsigned(row, "created_at")?),
        updated_at: Timestamp(unsigned(row, "updated_at")?),
        last_send_by: match row.get_ref("last_send_by")? {
            ValueRef::Null => None,
            _ => Some(Timestamp(unsigned(row, "last_send_by")?)),
        },
        looks: row.get("looks")?,
        look_at: Timestamp(unsigned(row, "look_at")?),
        resolution: match row.get_ref("resolution")? {
            ValueRef::Null => None,
            _ => Some(read_text(row, "resolution", json::<Resolution>)?),
        },
        alias_of: row
            .get::<_, Option<_>>("alias_of")?
            .map(IdempotencyKey::from_bytes),
    })
}

/// Reads a column whose text `parse` understands.
pub(crate) fn read_text<T>(
    row: &Row<'_>,
    column: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let value = row.get_ref(column)?;
    let parsed = value
        .as_str()
        .and_then(|text| parse(text).ok_or(FromSqlError::InvalidType));
    parsed.map_err(|error| {
        let index = row.as_ref().column_index(column).unwrap_or_default();
        rusqlite::Error::FromSqlConversionFailure(index, value.data_type(), Box::new(error))
    })
}

const fn landing_text(landing: Landing) -> &'static str {
    match landing {
        Landing::InFlight => "in_flight",
        Landing::Settled => "settled",
    }
}

fn landing(text: &str) -> Option<Landing> {
    [Landing::InFlight, Landing::Settled]
        .into_iter()
        .find(|landing| landing_text(*landing) == text)
}

fn json<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

/// A number as SQLite keeps it. Only a lease without an end is that large.
pub(crate) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads what [`integer`] wrote. Nothing here is ever negative.
pub(crate) fn unsigned(row: &Row<'_>, column: &str) -> rusqlite::Result<u64> {
    let stored: i64 = row.get(column)?;
    let index = row.as_ref().column_index(column)?;
    u64::try_from(stored).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, stored))
}

const FIND: &str = "SELECT * FROM entries WHERE scope = ?1 AND key = ?2";

const PUT: &str = "
    REPLACE INTO entries (
        scope, key, tool, state, epoch, generation, maybe_sent, owner, lease_until, fingerprint,
        code, landing, result, writes, created_at, updated_at, last_send_by, looks, look_at,
        resolution, alias_of
    ) VALUES (
        :scope, :key, :tool, :state, :epoch, :generation, :maybe_sent, :owner, :lease_until,
        :fingerprint, :code, :landing, :result, :writes, :created_at, :updated_at, :last_send_by,
        :looks, :look_at, :resolution, :alias_of
    )";
