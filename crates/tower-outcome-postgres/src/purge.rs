//! What has outlived its use goes, a little at a time.

use std::time::Duration;

use tower_outcome_core::ledger::entry::{RESULT_RETENTION, TOMBSTONE_RETENTION};
use tower_outcome_core::ledger::{LedgerError, Timestamp};

use crate::lists::strange;
use crate::rows::integer;
use crate::session::Line;

/// Takes away what has outlived its use at `now`, of at most `limit` rows.
pub(crate) async fn purge(
    line: &mut Line,
    limit: usize,
    now: Timestamp,
) -> Result<usize, LedgerError> {
    let results = run(line, STRIP, limit, now, RESULT_RETENTION).await?;
    let entries = run(line, DELETE, limit - results, now, TOMBSTONE_RETENTION).await?;
    Ok(results + entries)
}

async fn run(
    line: &mut Line,
    text: &str,
    limit: usize,
    now: Timestamp,
    retention: Duration,
) -> Result<usize, LedgerError> {
    let before = integer(now.before(retention).0);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = line.query(text, &[&before, &limit]).await?;
    Ok(rows.len())
}

/// The condition is that of the index `results`. Rows that somebody works on are left for later.
const STRIP: &str = concat!(
    r#"
UPDATE "ledger".entries
SET result = NULL, revision = revision + 1
WHERE ctid = ANY (ARRAY(
    SELECT ctid
    FROM "ledger".entries
    WHERE result IS NOT NULL AND state IN ('done', 'partial')
        AND updated_at < $1::int8 AND NOT "#,
    strange!(),
    r#"
    ORDER BY updated_at
    LIMIT $2::int8
    FOR UPDATE SKIP LOCKED
))
RETURNING 1"#
);

/// The condition is that of the index `ended`: nothing that may still land, and a claim only if
/// nothing of it was sent and its owner is gone, and an alias only if its entry is gone.
const DELETE: &str = concat!(
    r#"
DELETE FROM "ledger".entries
WHERE ctid = ANY (ARRAY(
    SELECT ctid
    FROM "ledger".entries AS entry
    WHERE result IS NULL AND (state IN ('done', 'failed', 'free', 'partial') OR NOT maybe_sent)
        AND (state <> 'claimed' OR lease_until < $1::int8)
        AND updated_at < $1::int8
        AND (state <> 'alias' OR NOT EXISTS (
            SELECT FROM "ledger".entries AS target
            WHERE target.scope = entry.scope AND target.key = entry.alias_of
        ))
        AND NOT "#,
    strange!(),
    r#"
    ORDER BY updated_at
    LIMIT $2::int8
    FOR UPDATE SKIP LOCKED
))
RETURNING 1"#
);
