//! What is asked of many entries at once.
//!
//! Rows that are strange are not where an order would have them. They are named first, by an
//! index of their own, and left out of everything else.

use tokio_postgres::Row;
use tower_outcome_core::ledger::{
    Counts, Cursor, Filter, LedgerError, Listing, Page, State, Timestamp,
};

use crate::fault::{Fault, Refusal};
use crate::rows::{self, column, integer, number};
use crate::session::{Line, Sessions};

/// The oldest `limit` entries that are unknown at `now`.
pub(crate) async fn unresolved(
    line: &mut Line,
    limit: usize,
    now: Timestamp,
) -> Result<Listing, LedgerError> {
    unknown(line, UNRESOLVED, limit, now).await
}

/// The `limit` unknown entries that wait longest for somebody to look them up.
pub(crate) async fn due(
    line: &mut Line,
    limit: usize,
    now: Timestamp,
) -> Result<Listing, LedgerError> {
    unknown(line, DUE, limit, now).await
}

/// Some of the entries that `filter` admits.
pub(crate) async fn page(
    line: &mut Line,
    filter: &Filter,
    now: Timestamp,
) -> Result<Page, LedgerError> {
    let after = filter.after.as_ref().map(Cursor::place).transpose()?;
    let (time, scope, key) = after.as_ref().map_or((-1, "", &[][..]), |(time, key)| {
        let bytes: &[u8] = key.key.as_bytes();
        (integer(time.0), &*key.scope, bytes)
    });
    let now_value = integer(now.0);
    let state = filter.state.map(State::as_str);
    let unchanged_since = filter.older_than.map(|age| integer(now.before(age).0));
    let limit = i64::try_from(filter.limit).unwrap_or(i64::MAX);
    let rows = line
        .query(
            PAGE,
            &[
                &time,
                &scope,
                &key,
                &MOST_LOOKED_AT,
                &now_value,
                &state,
                &filter.tool.as_deref(),
                &filter.scope.as_deref(),
                &unchanged_since,
                &limit,
            ],
        )
        .await?;
    let mut page = Page::default();
    let (strange, rows): (Vec<_>, Vec<_>) = rows.iter().partition(|row| flag(row, "strange"));
    let (found, rest): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| flag(row, "found"));
    for row in strange.iter().chain(&found) {
        page.add(rows::listed(row, now)?, filter, now);
    }
    let last = if found.len() == filter.limit {
        found.last()
    } else {
        rest.last()
    };
    page.next = last.map(|row| place(row)).transpose()?;
    Ok(page)
}

/// How many entries there are in each state at `now`. Has a session of its own, for as long as it
/// takes: nobody else waits for it.
pub(crate) async fn counts(sessions: &Sessions, now: Timestamp) -> Result<Counts, LedgerError> {
    let session = sessions.open().await.map_err(Refusal::into_fault)?;
    let refused = |error| Fault::of_statement(&error);
    let unhurried = session.client.batch_execute(UNHURRIED).await;
    unhurried.map_err(refused)?;
    let text = sessions.statement(COUNTS);
    let rows = session.client.query(&text, &[&integer(now.0)]).await;
    let rows = rows.map_err(refused)?;
    let mut counts = Counts::default();
    for row in &rows {
        let amount = number(row, "number")?;
        let state = column(row, "state", |text| Ok(State::parse(text)?));
        match state {
            Ok(state) => counts.add(state, amount, Timestamp(number(row, "oldest")?)),
            Err(_) => counts.unreadable += amount,
        }
    }
    Ok(counts)
}

async fn unknown(
    line: &mut Line,
    text: &str,
    limit: usize,
    now: Timestamp,
) -> Result<Listing, LedgerError> {
    let mut asked = limit;
    loop {
        let most = i64::try_from(asked).unwrap_or(i64::MAX);
        let rows = line.query(text, &[&integer(now.0), &most]).await?;
        let (strange, ordinary): (Vec<_>, Vec<_>) =
            rows.iter().partition(|row| flag(row, "strange"));
        let listed = strange.iter().chain(&ordinary);
        let listed = listed.map(|row| rows::listed(row, now));
        let listing = Listing::first(limit, listed, |entry| entry.state == State::Unknown)?;
        if listing.entries.len() == limit || ordinary.len() < asked {
            return Ok(listing);
        }
        // Rows that cannot be read have taken the place of others.
        asked = asked.saturating_mul(2);
    }
}

/// What a statement says of a row besides.
fn flag(row: &Row, what: &str) -> bool {
    row.try_get(what).unwrap_or_default()
}

/// Where the rows that were looked at end.
fn place(row: &Row) -> Result<Cursor, Fault> {
    let created_at = Timestamp(number(row, "created_at")?);
    Ok(Cursor::behind(created_at, &rows::key(row)?))
}

/// The condition of the index `strange`: somebody damaged the row, or a newer version wrote it.
macro_rules! strange {
    () => {
        "(state NOT IN ('alias', 'claimed', 'dispatching', 'done', 'failed', 'free', 'partial', 'unknown')
        OR length(key) <> 32 OR created_at < 0 OR updated_at < 0 OR look_at < 0)"
    };
}

pub(crate) use strange;

/// All that may be in doubt, as far as can be told, and before the others.
macro_rules! strange_first {
    ($others:literal) => {
        concat!(
            r#"
SELECT *, true AS strange
FROM "ledger".entries
WHERE "#,
            strange!(),
            r#" AND state NOT IN ('alias', 'done', 'failed', 'free', 'partial')
UNION ALL (
    SELECT *, false AS strange
    FROM "ledger".entries
    WHERE maybe_sent AND state IN ('claimed', 'dispatching', 'unknown') AND NOT "#,
            strange!(),
            $others,
        )
    };
}

/// The condition is that of the index `unresolved`, without those whose owner is alive.
const UNRESOLVED: &str = strange_first!(
    "
        AND (state = 'unknown' OR lease_until <= $1)
    ORDER BY updated_at
    LIMIT $2
)"
);

/// The condition is that of the index `due`, without those whose owner is alive.
const DUE: &str = strange_first!(
    "
        AND look_at BETWEEN 0 AND $1 AND (state = 'unknown' OR lease_until <= $1)
    ORDER BY look_at
    LIMIT $2
)"
);

/// What was found, and the last row that was looked at if there may be more. On the first page those
/// that are strange as well.
const PAGE: &str = concat!(
    r#"
WITH part AS MATERIALIZED (
    SELECT *,
        CASE
            WHEN state NOT IN ('claimed', 'dispatching') OR lease_until > $5::int8 THEN state
            WHEN state = 'claimed' AND NOT maybe_sent THEN 'free'
            ELSE 'unknown'
        END AS stands
    FROM "ledger".entries
    WHERE (created_at, scope COLLATE "C", key) > ($1::int8, $2::text COLLATE "C", $3::bytea)
        AND NOT "#,
    strange!(),
    r#"
    ORDER BY created_at, scope COLLATE "C", key
    LIMIT $4::int8
), found AS (
    SELECT *, true AS found, false AS strange
    FROM part
    WHERE stands = coalesce($6::text, stands)
        AND tool = coalesce($7::text, tool)
        AND scope = coalesce($8::text, scope)
        AND updated_at < coalesce($9::int8, updated_at + 1)
    ORDER BY created_at, scope COLLATE "C", key
    LIMIT $10::int8
), rest AS (
    SELECT *, false AS found, false AS strange
    FROM part
    WHERE (SELECT count(*) FROM part) = $4::int8
    ORDER BY created_at DESC, scope COLLATE "C" DESC, key DESC
    LIMIT 1
)
SELECT * FROM found UNION ALL SELECT * FROM rest UNION ALL
SELECT *, NULL, false, true
FROM "ledger".entries
WHERE $1::int8 < 0 AND "#,
    strange!()
);

/// Bounds what one question for a page does.
const MOST_LOOKED_AT: i64 = 10_000;

const UNHURRIED: &str = "SET statement_timeout = 0";

const COUNTS: &str = concat!(
    r#"
SELECT
    CASE
        WHEN "#,
    strange!(),
    r#" THEN ''
        WHEN state NOT IN ('claimed', 'dispatching') OR lease_until > $1::int8 THEN state
        WHEN state = 'claimed' AND NOT maybe_sent THEN 'free'
        ELSE 'unknown'
    END AS state,
    count(*) AS number,
    min(updated_at) AS oldest
FROM "ledger".entries
GROUP BY 1"#
);
