//! What is asked of many entries at once.
//!
//! Rows that are strange are not where an order would have them. They are named first, by an
//! index of their own, and left out of everything else.

use rusqlite::{Connection, Params, named_params};
use tower_outcome_core::ledger::entry::{RESULT_RETENTION, TOMBSTONE_RETENTION};
use tower_outcome_core::ledger::{
    Counts, Cursor, EntryKey, Filter, LedgerError, Listing, Page, State, Timestamp,
};

use crate::fault::failed;
use crate::rows::{self, columns, integer, unsigned};

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
        let mut page = Page::default();
        if after.is_none() {
            for name in names(store, STRANGE)? {
                page.add(Err(name), filter, now);
            }
        }
        let mut statement = store.prepare_cached(PAGE)?;
        let mut rows = match &after {
            Some((time, key)) => {
                statement.query((integer(time.0), &*key.scope, key.key.as_bytes()))?
            }
            None => statement.query((-1, "", [0; 0]))?,
        };
        let mut looked_at = 0;
        while let Some(row) = rows.next()? {
            if page.entries.len() == filter.limit || looked_at == MOST_LOOKED_AT {
                return Ok(page);
            }
            looked_at += 1;
            // One whose scope is no text is nothing to go on from.
            if let Ok(key) = rows::key(row) {
                let created_at = Timestamp(unsigned(row, "created_at")?);
                page.next = Some(Cursor::behind(created_at, &key));
            }
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
        let mut listing = Listing::first(limit, rows, |entry| entry.state == State::Unknown)?;
        listing.unreadable.extend(names(store, STRANGE_AND_OPEN)?);
        Ok(listing)
    };
    look().map_err(failed)
}

fn names(store: &Connection, text: &str) -> rusqlite::Result<Vec<EntryKey>> {
    let mut statement = store.prepare_cached(text)?;
    let names = statement.query_map([], rows::name)?;
    names.collect()
}

/// The condition of the index `strange`: somebody damaged the row, or a newer version wrote it.
macro_rules! strange {
    () => {
        "(state <> 'alias' AND state <> 'claimed' AND state <> 'dispatching' AND state <> 'done'
            AND state <> 'failed' AND state <> 'free' AND state <> 'partial' AND state <> 'unknown'
        OR length(key) <> 32 OR created_at < 0 OR updated_at < 0 OR look_at < 0)"
    };
}

/// The condition that the indexes `unresolved` and `due` share.
macro_rules! open {
    () => {
        "(state = 'claimed' OR state = 'dispatching' OR state = 'unknown')"
    };
}

const STRANGE: &str = concat!("SELECT scope, key FROM entries WHERE ", strange!());

/// All that may be in doubt, as far as can be told.
const STRANGE_AND_OPEN: &str = concat!(
    "SELECT scope, key FROM entries WHERE ",
    strange!(),
    " AND state NOT IN ('alias', 'done', 'failed', 'free', 'partial')"
);

/// The condition is that of the index `unresolved`.
const UNRESOLVED: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM entries WHERE ",
    open!(),
    " AND NOT ",
    strange!(),
    " ORDER BY updated_at, scope, key"
);

/// The condition is that of the index `due`.
const DUE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM entries WHERE maybe_sent AND ",
    open!(),
    " AND look_at <= ?1 AND NOT ",
    strange!(),
    " ORDER BY look_at, scope, key"
);

const PAGE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM entries
    WHERE (created_at, scope, key) > (?1, ?2, ?3) AND NOT ",
    strange!(),
    " ORDER BY created_at, scope, key"
);

/// Bounds what one question for a page does.
const MOST_LOOKED_AT: usize = 10_000;

const COUNTS: &str = concat!(
    "SELECT
        CASE
            WHEN ",
    strange!(),
    " THEN ''
            WHEN state NOT IN ('claimed', 'dispatching') OR lease_until > ?1 THEN state
            WHEN state = 'claimed' AND NOT maybe_sent THEN 'free'
            ELSE 'unknown'
        END AS state,
        count(*) AS number,
        min(updated_at) AS oldest
    FROM entries
    GROUP BY 1"
);

/// The condition is that of the index `ended`: nothing that may still land, and no alias whose entry
/// is there.
const DELETE: &str = concat!(
    "DELETE FROM entries
    WHERE rowid IN (
        SELECT rowid FROM entries
        WHERE (state = 'done' OR state = 'failed' OR state = 'free' OR state = 'partial' OR NOT maybe_sent)
            AND updated_at < :before AND (state <> 'claimed' OR lease_until < :before)
            AND (state <> 'alias' OR NOT EXISTS (
                SELECT 1 FROM entries AS target
                WHERE target.scope = entries.scope AND target.key = entries.alias_of
            ))
            AND NOT ",
    strange!(),
    " ORDER BY updated_at
        LIMIT :limit
    )"
);

/// The condition is that of the index `results`.
const STRIP: &str = concat!(
    "UPDATE entries SET result = NULL
    WHERE rowid IN (
        SELECT rowid FROM entries
        WHERE result IS NOT NULL AND (state = 'done' OR state = 'partial')
            AND updated_at < :before AND NOT ",
    strange!(),
    " ORDER BY updated_at
        LIMIT :limit
    )"
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;

    #[test]
    fn every_look_goes_by_its_own_index() {
        let path = std::env::temp_dir().join(format!("tower-outcome-lists-{}", std::process::id()));
        let store = file::open(&path).unwrap();
        for (index, text) in [
            ("strange", STRANGE),
            ("strange", STRANGE_AND_OPEN),
            ("unresolved", UNRESOLVED),
            ("due", DUE),
            ("by_age", PAGE),
            ("ended", DELETE),
            ("results", STRIP),
        ] {
            let mut explain = store
                .prepare(&format!("EXPLAIN QUERY PLAN {text}"))
                .unwrap();
            let steps = explain.raw_query().mapped(|row| row.get("detail"));
            let plan: String = steps
                .collect::<Result<Vec<String>, _>>()
                .unwrap()
                .join("\n");
            assert!(plan.contains(&format!("INDEX {index}")), "{plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{plan}");
        }
        drop(store);
        std::fs::remove_file(path).unwrap();
    }
}
