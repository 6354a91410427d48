//! Entries as rows.

use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type};
use tower_outcome_core::ledger::{Entry, EntryKey, Owner, State, Timestamp, machine};
use tower_outcome_core::{BoxError, Code, Fingerprint, IdempotencyKey, Landing};

use crate::fault::Fault;

/// Writes and reads rows. Each is written only if it still has the revision before.
pub(crate) const EXCHANGE: &str = include_str!("rows.sql");

/// An entry and the number of its row's change.
#[derive(Clone)]
pub(crate) struct Stored {
    pub(crate) entry: Entry,
    pub(crate) revision: i64,
}

/// The parameters of [`EXCHANGE`], column by column.
#[derive(Default)]
pub(crate) struct Columns {
    scope: Vec<Box<str>>,
    key: Vec<Vec<u8>>,
    epoch: Vec<Option<i64>>,
    generation: Vec<Option<i64>>,
    revision: Vec<Option<i64>>,
    lease_until: Vec<Option<i64>>,
    created_at: Vec<Option<i64>>,
    updated_at: Vec<Option<i64>>,
    last_send_by: Vec<Option<i64>>,
    maybe_sent: Vec<Option<bool>>,
    owner: Vec<Option<Vec<u8>>>,
    tool: Vec<Option<Box<str>>>,
    state: Vec<Option<&'static str>>,
    code: Vec<Option<&'static str>>,
    landing: Vec<Option<&'static str>>,
    fingerprint: Vec<Option<String>>,
    writes: Vec<Option<String>>,
    result: Vec<Option<Vec<u8>>>,
    looks: Vec<Option<i64>>,
    look_at: Vec<Option<i64>>,
    resolution: Vec<Option<String>>,
    alias_of: Vec<Option<Vec<u8>>>,
}

impl Columns {
    /// Adds a row to write, or one to read only.
    pub(crate) fn push(&mut self, key: &EntryKey, next: Option<&Stored>) -> Result<(), Fault> {
        let entry = next.map(|next| &next.entry);
        let writes = entry.map(|it| serde_json::to_string(&it.writes));
        let writes = writes
            .transpose()
            .map_err(|_| Fault::unasked("the writes cannot be written down"))?;
        let resolution = entry.and_then(|it| it.resolution.as_ref());
        let resolution = resolution.map(serde_json::to_string);
        let resolution = resolution
            .transpose()
            .map_err(|_| Fault::unasked("the resolution cannot be written down"))?;
        let number = |of: fn(&Entry) -> u64| entry.map(|entry| integer(of(entry)));
        self.scope.push((&*key.scope).into());
        self.key.push(key.key.as_bytes().to_vec());
        self.epoch.push(number(|it| it.epoch));
        self.generation.push(number(|it| it.generation.into()));
        self.revision.push(next.map(|next| next.revision));
        self.lease_until.push(number(|it| it.lease_until.0));
        self.created_at.push(number(|it| it.created_at.0));
        self.updated_at.push(number(|it| it.updated_at.0));
        let last_send_by = entry.and_then(|it| it.last_send_by);
        self.last_send_by
            .push(last_send_by.map(|time| integer(time.0)));
        self.maybe_sent.push(entry.map(|it| it.maybe_sent));
        self.owner
            .push(entry.map(|it| it.owner.to_bytes().to_vec()));
        self.tool.push(entry.map(|it| (&*it.tool).into()));
        self.state.push(entry.map(|it| it.state.as_str()));
        self.code
            .push(entry.and_then(|it| it.code).map(Code::as_str));
        self.landing.push(entry.map(|it| landing_text(it.landing)));
        self.fingerprint
            .push(entry.map(|it| it.fingerprint.to_text()));
        self.writes.push(writes);
        let result = entry.and_then(|it| it.result.as_deref());
        self.result.push(result.map(<[u8]>::to_vec));
        self.looks.push(number(|it| it.looks.into()));
        self.look_at.push(number(|it| it.look_at.0));
        self.resolution.push(resolution);
        let alias_of = entry.and_then(|it| it.alias_of);
        self.alias_of
            .push(alias_of.map(|key| key.as_bytes().to_vec()));
        Ok(())
    }

    /// The values in the order of the statement.
    pub(crate) fn values(&self) -> [&(dyn ToSql + Sync); 22] {
        self.typed().map(|(value, _)| value)
    }

    /// The values with their types, for sessions that have not prepared the statement.
    pub(crate) fn typed(&self) -> [(&(dyn ToSql + Sync), Type); 22] {
        [
            (&self.scope, Type::TEXT_ARRAY),
            (&self.key, Type::BYTEA_ARRAY),
            (&self.epoch, Type::INT8_ARRAY),
            (&self.generation, Type::INT8_ARRAY),
            (&self.revision, Type::INT8_ARRAY),
            (&self.lease_until, Type::INT8_ARRAY),
            (&self.created_at, Type::INT8_ARRAY),
            (&self.updated_at, Type::INT8_ARRAY),
            (&self.last_send_by, Type::INT8_ARRAY),
            (&self.maybe_sent, Type::BOOL_ARRAY),
            (&self.owner, Type::BYTEA_ARRAY),
            (&self.tool, Type::TEXT_ARRAY),
            (&self.state, Type::TEXT_ARRAY),
            (&self.code, Type::TEXT_ARRAY),
            (&self.landing, Type::TEXT_ARRAY),
            (&self.fingerprint, Type::TEXT_ARRAY),
            (&self.writes, Type::TEXT_ARRAY),
            (&self.result, Type::BYTEA_ARRAY),
            (&self.looks, Type::INT8_ARRAY),
            (&self.look_at, Type::INT8_ARRAY),
            (&self.resolution, Type::TEXT_ARRAY),
            (&self.alias_of, Type::BYTEA_ARRAY),
        ]
    }
}

/// What became of one row of an [`EXCHANGE`].
pub(crate) struct Exchanged {
    /// Which of the rows, from 0.
    pub(crate) index: usize,
    /// Whether it was written.
    pub(crate) written: bool,
    /// Where it was not: the row as the statement found it.
    pub(crate) found: Result<Option<Stored>, Fault>,
    /// The database's time.
    pub(crate) time: Timestamp,
}

impl Exchanged {
    pub(crate) fn read(row: &Row) -> Result<Self, Fault> {
        let frame = || -> Result<_, BoxError> {
            let number: i64 = row.try_get("number")?;
            let index = usize::try_from(number - 1)?;
            Ok((
                index,
                row.try_get("written")?,
                row.try_get::<_, i64>("time")?,
            ))
        };
        let (index, written, time) = frame().map_err(|_| damaged("an answer"))?;
        let found = match row.try_get::<_, Option<i64>>("revision") {
            Ok(None) => Ok(None),
            _ => stored(row).map(Some),
        };
        Ok(Self {
            index,
            written,
            found,
            time: Timestamp(u64::try_from(time).unwrap_or_default()),
        })
    }
}

/// The entry in a row of the table.
pub(crate) fn stored(row: &Row) -> Result<Stored, Fault> {
    let revision = row
        .try_get("revision")
        .map_err(|_| damaged("the column revision"))?;
    let entry = entry(row)?;
    Ok(Stored { entry, revision })
}

/// The entry in one of many rows as it stands at `now`, or the name of one that cannot be read.
pub(crate) fn listed(row: &Row, now: Timestamp) -> Result<Result<Entry, EntryKey>, Fault> {
    match entry(row) {
        Ok(entry) => Ok(Ok(machine::expired(entry, now))),
        Err(_) => Ok(Err(name(row)?)),
    }
}

/// What a row is called where it cannot be read.
fn name(row: &Row) -> Result<EntryKey, Fault> {
    let scope = column(row, "scope", Ok)?;
    Ok(EntryKey::resembling(scope, column(row, "key", Ok)?))
}

pub(crate) fn key(row: &Row) -> Result<EntryKey, Fault> {
    Ok(EntryKey {
        scope: column(row, "scope", |text: &str| Ok(text.into()))?,
        key: column(row, "key", |bytes: &[u8]| {
            Ok(IdempotencyKey::from_bytes(bytes.try_into()?))
        })?,
    })
}

fn entry(row: &Row) -> Result<Entry, Fault> {
    Ok(Entry {
        key: key(row)?,
        tool: column(row, "tool", |text: &str| Ok(text.into()))?,
        state: column(row, "state", |text| Ok(State::parse(text)?))?,
        epoch: number(row, "epoch")?,
        generation: column(row, "generation", |it: i64| Ok(it.try_into()?))?,
        maybe_sent: column(row, "maybe_sent", Ok)?,
        owner: column(row, "owner", |bytes: &[u8]| {
            Ok(Owner::from_bytes(bytes.try_into()?))
        })?,
        lease_until: Timestamp(number(row, "lease_until")?),
        fingerprint: column(row, "fingerprint", |text| Ok(Fingerprint::from_text(text)?))?,
        code: column(row, "code", |text: Option<&str>| {
            Ok(text.map(str::parse).transpose()?)
        })?,
        landing: column(row, "landing", landing)?,
        result: column(row, "result", |bytes: Option<&[u8]>| {
            Ok(bytes.map(Into::into))
        })?,
        writes: column(row, "writes", |text: &str| Ok(serde_json::from_str(text)?))?,
        created_at: Timestamp(number(row, "created_at")?),
        updated_at: Timestamp(number(row, "updated_at")?),
        last_send_by: column(row, "last_send_by", |time: Option<i64>| {
            Ok(time.map(u64::try_from).transpose()?.map(Timestamp))
        })?,
        looks: column(row, "looks", |it: i64| Ok(it.try_into()?))?,
        look_at: Timestamp(number(row, "look_at")?),
        resolution: column(row, "resolution", |text: Option<&str>| {
            Ok(text.map(serde_json::from_str).transpose()?)
        })?,
        alias_of: column(row, "alias_of", |bytes: Option<&[u8]>| {
            let key = bytes.map(<[u8; 32]>::try_from).transpose()?;
            Ok(key.map(IdempotencyKey::from_bytes))
        })?,
    })
}

/// Reads a column that `parse` understands. What it holds stays out of the error.
pub(crate) fn column<'a, C: FromSql<'a>, T>(
    row: &'a Row,
    name: &str,
    parse: impl FnOnce(C) -> Result<T, BoxError>,
) -> Result<T, Fault> {
    let value = row.try_get(name).map_err(BoxError::from).and_then(parse);
    value.map_err(|_| damaged(&format!("the column {name}")))
}

pub(crate) fn number(row: &Row, name: &str) -> Result<u64, Fault> {
    column(row, name, |number: i64| Ok(number.try_into()?))
}

fn damaged(what: &str) -> Fault {
    Fault::unasked(&format!("{what} cannot be read back"))
}

const fn landing_text(landing: Landing) -> &'static str {
    match landing {
        Landing::InFlight => "in_flight",
        Landing::Settled => "settled",
    }
}

fn landing(text: &str) -> Result<Landing, BoxError> {
    [Landing::InFlight, Landing::Settled]
        .into_iter()
        .find(|landing| landing_text(*landing) == text)
        .ok_or_else(|| "no such landing".into())
}

/// A number as the database keeps it. Only a lease without an end is that large.
pub(crate) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
