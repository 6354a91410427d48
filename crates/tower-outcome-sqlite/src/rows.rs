//! Entries as rows, and what is asked of one of them.

use rusqlite::types::{FromSqlError, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, RowIndex, params};
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
        put(store, entry.as_ref(), &next)?;
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
    for statement in [FIND, PUT, CHANGE] {
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

fn put(store: &Connection, old: Option<&Entry>, entry: &Entry) -> Result<(), LedgerError> {
    let writes = serde_json::to_string(&entry.writes).map_err(LedgerError::unavailable)?;
    let resolution = entry.resolution.as_ref().map(serde_json::to_string);
    let resolution = resolution.transpose().map_err(LedgerError::unavailable)?;
    // What changes a row leaves it where it is, and out of the indexes by what never changes.
    let same = old.is_some_and(|old| old.created_at == entry.created_at);
    let statement = if same { CHANGE } else { PUT };
    let mut statement = store.prepare_cached(statement).map_err(failed)?;
    let stored = statement.execute(params![
        &*entry.key.scope,
        entry.key.key.as_bytes(),
        &*entry.tool,
        entry.state.as_str(),
        integer(entry.epoch),
        entry.generation,
        entry.maybe_sent,
        entry.owner.to_bytes(),
        integer(entry.lease_until.0),
        entry.fingerprint.to_text(),
        entry.code.map(Code::as_str),
        landing_text(entry.landing),
        entry.result.as_deref(),
        writes,
        integer(entry.created_at.0),
        integer(entry.updated_at.0),
        entry.last_send_by.map(|time| integer(time.0)),
        entry.looks,
        integer(entry.look_at.0),
        resolution,
        entry.alias_of.as_ref().map(IdempotencyKey::as_bytes),
    ]);
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

/// Reads the columns of [`columns`], each by its place: a name is searched for among all of them.
fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let mut places = 0..;
    let mut next = || places.next().unwrap_or_default();
    Ok(Entry {
        key: EntryKey {
            scope: row.get(next())?,
            key: IdempotencyKey::from_bytes(row.get(next())?),
        },
        tool: row.get(next())?,
        state: read_text(row, next(), |text| State::parse(text).ok())?,
        epoch: unsigned(row, next())?,
        generation: row.get(next())?,
        maybe_sent: row.get(next())?,
        owner: Owner::from_bytes(row.get(next())?),
        lease_until: Timestamp(unsigned(row, next())?),
        fingerprint: read_text(row, next(), |text| Fingerprint::from_text(text).ok())?,
        code: optional(row, next(), |at| {
            read_text(row, at, |text| text.parse().ok())
        })?,
        landing: read_text(row, next(), landing)?,
        result: row.get(next())?,
        writes: read_text(row, next(), json)?,
        created_at: Timestamp(unsigned(row, next())?),
        updated_at: Timestamp(unsigned(row, next())?),
        last_send_by: optional(row, next(), |at| unsigned(row, at))?.map(Timestamp),
        looks: row.get(next())?,
        look_at: Timestamp(unsigned(row, next())?),
        resolution: optional(row, next(), |at| read_text(row, at, json::<Resolution>))?,
        alias_of: row
            .get::<_, Option<_>>(next())?
            .map(IdempotencyKey::from_bytes),
    })
}

/// Reads a column that may be empty.
fn optional<T>(
    row: &Row<'_>,
    column: usize,
    read: impl FnOnce(usize) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => read(column).map(Some),
    }
}

/// Reads a column whose text `parse` understands.
pub(crate) fn read_text<T>(
    row: &Row<'_>,
    column: impl RowIndex,
    parse: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let value = row.get_ref(column)?;
    let parsed = value
        .as_str()
        .and_then(|text| parse(text).ok_or(FromSqlError::InvalidType));
    parsed.map_err(|error| {
        let index = column.idx(row.as_ref()).unwrap_or_default();
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
pub(crate) fn unsigned(row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<u64> {
    let stored: i64 = row.get(column)?;
    u64::try_from(stored).or_else(|_| {
        let index = column.idx(row.as_ref())?;
        Err(rusqlite::Error::IntegralValueOutOfRange(index, stored))
    })
}

/// The columns of an entry, in the order in which they are read and written.
macro_rules! columns {
    () => {
        "scope, key, tool, state, epoch, generation, maybe_sent, owner, lease_until, fingerprint,
        code, landing, result, writes, created_at, updated_at, last_send_by, looks, look_at,
        resolution, alias_of"
    };
}

pub(crate) use columns;

const FIND: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM entries WHERE scope = ?1 AND key = ?2"
);

const PUT: &str = concat!(
    "REPLACE INTO entries (",
    columns!(),
    ") VALUES (
        ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21
    )"
);

const CHANGE: &str = "
    UPDATE entries SET (
        tool, state, epoch, generation, maybe_sent, owner, lease_until, fingerprint, code, landing,
        result, writes, updated_at, last_send_by, looks, look_at, resolution, alias_of
    ) = (
        ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?16, ?17, ?18, ?19, ?20, ?21
    ) WHERE scope = ?1 AND key = ?2";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;

    #[test]
    fn no_condition_of_an_index_takes_a_table_of_its_own() {
        let path = std::env::temp_dir().join(format!("tower-outcome-rows-{}", std::process::id()));
        let store = file::open(&path).unwrap();
        for statement in [FIND, PUT, CHANGE] {
            let mut explain = store.prepare(&format!("EXPLAIN {statement}")).unwrap();
            let steps = explain.raw_query().mapped(|row| row.get("opcode"));
            let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
            assert!(steps.contains(&"Column".to_owned()));
            assert!(!steps.contains(&"OpenEphemeral".to_owned()), "{statement}");
        }
        drop(store);
        std::fs::remove_file(path).unwrap();
    }
}
