//! What is asked of many entries at once.

use rusqlite::{Connection, Params, named_params};
use tower_outcome_core::ledger::entry::{RESULT_RETENTION, TOMBSTONE_RETENTION};
use tower_outcome_core::ledger::{
    Counts, Cursor, Filter, LedgerError, Listing, Page, State, Timestamp,
};

use crate::fault::failed;
use crate::rows::{self, integer, unsigned};

/// The oldest `limit` entries that are unknown at `now`.
pub(crate) fn unresolved(
    store: &Connection,
    limit: usize,
    now: Timestamp,
) -> Result<Listing, LedgerError> {
    unknown(store, UNRESOLVED, [], limit, now)
}

/// The `limit` unknown entries that wait longest for somebody to look them up.
pub(crate) fn due(
    store: &Connection,
    limit: usize,
    now: Timestamp,
) -> Result<Listing, LedgerError> {
    unknown(store, DUE, [integer(now.0)], limit, now)
}

/// Some of the entries that `filter` admits.
pub(crate) fn page(
    store: &Connection,
    filter: &Filter,
    now: Timestamp,
) -> Result<Page, LedgerError> {
    let after = filter.after.as_ref().map(Cursor::place).transpose()?;
    let look = || -> rusqlite::Result<Page> {
        let mut statement = store.prepare_cached(PAGE)?;
        let mut rows = match &after {
            Some((time, key)) => {
                statement.query((integer(time.0), &*key.scope, key.key.as_bytes()))?
            }
            None => statement.query((-1, "", [0; 0]))?,
        };
        let mut page = Page::default();
        let mut looked_at = 0;
        while let Some(row) = rows.next()? {
            if page.entries.len() == filter.limit || looked_at == MOST_LOOKED_AT {
                return Ok(page);
            }
            looked_at += 1;
            let created_at = Timestamp(unsigned(row, "created_at")?);
            page.next = Some(Cursor::behind(created_at, &rows::key(row)?));
            page.add(rows::listed(row, now)?, filter, now);
        }
        page.next = None;
        Ok(page)
    };
    look().map_err(failed)
}

/// How many entries there are in each state at `now`.
pub(crate) fn counts(store: &Connection, now: Timestamp) -> Result<Counts, LedgerError> {
    let look = || -> rusqlite::Result<Counts> {
        let mut statement = store.prepare_cached(COUNTS)?;
        let mut rows = statement.query([integer(now.0)])?;
        let mut counts = Counts::default();
        while let Some(row) = rows.next()? {
            let number = unsigned(row, "number")?;
            let state = rows::read_text(row, "state", |text| State::parse(text).ok());
            match state {
                Ok(state) => counts.add(state, number, Timestamp(unsigned(row, "oldest")?)),
                Err(_) => counts.unreadable += number,
            }
        }
        Ok(counts)
    };
    look().map_err(failed)
}

/// Takes away what has outlived its use at `now`, of at most `limit` entries.
pub(crate) fn purge(
    store: &Connection,
    limit: usize,
    now: Timestamp,
) -> Result<usize, LedgerError> {
    let run = |text, retention, limit: usize| -> rusqlite::Result<usize> {
        store.prepare_cached(text)?.execute(named_params! {
            ":before": integer(now.before(retention).0),
            ":limit": i64::try_from(limit).unwrap_or(i64::MAX),
        })
    };
    let both = || -> rusqlite::Result<usize> {
        let entries = run(DELETE, TOMBSTONE_RETENTION, limit)?;
        let results = run(STRIP, RESULT_RETENTION, limit - entries)?;
        Ok(entries + results)
    };
    both().map_err(failed)
}

fn unknown(
    store: &Connection,
    text: &str,
    values: impl Params,
    limit: usize,
    now: Timestamp,
) -> Result<Listing, LedgerError> {
    let look = || -> rusqlite::Result<Listing> {
        let mut statement = store.prepare_cached(text)?;
        let rows = statement.query_map(values, |row| rows::listed(row, now))?;
        // Whether a lease's end makes a row unknown is the machine's to say, so that the limit
        // counts what it let through.
        Listing::first(limit, rows, |entry| entry.state == State::Unknown)
    };
    look().map_err(failed)
}

/// The condition is that of the index `unresolved`.
const UNRESOLVED: &str = "
    SELECT * FROM entries
    WHERE state IN ('claimed', 'dispatching', 'unknown')
    ORDER BY updated_at, scope, key";

/// The condition is that of the index `due`.
const DUE: &str = "
    SELECT * FROM entries
    WHERE maybe_sent AND state IN ('claimed', 'dispatching', 'unknown') AND look_at <= ?1
    ORDER BY look_at, scope, key";

const PAGE: &str = "
    SELECT * FROM entries
    WHERE (created_at, scope, key) > (?1, ?2, ?3)
    ORDER BY created_at, scope, key";

/// Bounds what one question for a page does.
const MOST_LOOKED_AT: usize = 10_000;

const COUNTS: &str = "
    SELECT
        CASE
            WHEN state NOT IN ('claimed', 'dispatching') OR lease_until > ?1 THEN state
            WHEN state = 'claimed' AND NOT maybe_sent THEN 'free'
            ELSE 'unknown'
        END AS state,
        count(*) AS number,
        min(updated_at) AS oldest
    FROM entries
    GROUP BY 1";

/// The condition is that of the index `ended`: nothing that may still land, and no alias whose entry
/// is there.
const DELETE: &str = "
    DELETE FROM entries
    WHERE (scope, key) IN (
        SELECT scope, key FROM entries
        WHERE (state IN ('done', 'failed', 'free', 'partial') OR NOT maybe_sent)
            AND updated_at < :before AND (state <> 'claimed' OR lease_until < :before)
            AND (state <> 'alias' OR NOT EXISTS (
                SELECT 1 FROM entries AS target
                WHERE target.scope = entries.scope AND target.key = entries.alias_of
            ))
        ORDER BY updated_at
        LIMIT :limit
    )";

/// The condition is that of the index `results`.
const STRIP: &str = "
    UPDATE entries SET result = NULL
    WHERE (scope, key) IN (
        SELECT scope, key FROM entries
        WHERE result IS NOT NULL AND state IN ('done', 'partial')
            AND updated_at < :before
        ORDER BY updated_at
        LIMIT :limit
    )";
