//! What has outlived its use goes, a little at a time.

use tower_outcome_core::ledger::entry::{RESULT_RETENTION, TOMBSTONE_RETENTION};
use tower_outcome_core::ledger::{LedgerError, Timestamp};

use crate::fault::Fault;
use crate::session::Line;

/// What a purge has taken away.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Purged {
    /// Entries that lost their stored result.
    pub results: u64,
    /// Entries that are gone.
    pub entries: u64,
}

impl Purged {
    /// Whether nothing was left to take away.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        self.results < BATCH && self.entries < BATCH
    }
}

pub(crate) async fn purge(line: &mut Line, now: Timestamp) -> Result<Purged, LedgerError> {
    let purged = Purged {
        results: run(line, STRIP, now, RESULT_RETENTION).await?,
        entries: run(line, DELETE, now, TOMBSTONE_RETENTION).await?,
    };
    Ok(purged)
}

async fn run(
    line: &mut Line,
    text: &str,
    now: Timestamp,
    retention: std::time::Duration,
) -> Result<u64, LedgerError> {
    let text = line.sessions.statement(text);
    let retention = i64::try_from(retention.as_millis()).unwrap_or(i64::MAX);
    let now = i64::try_from(now.0).unwrap_or(i64::MAX);
    let client = &line.session().await?.client;
    let done = client.execute(&text, &[&now, &retention]).await;
    done.map_err(|error| {
        line.hang_up();
        Fault::of_statement(&error).into()
    })
}

/// How many rows one statement takes: some 10,000 are locked for a fraction of a second.
const BATCH: u64 = 10_000;

/// The condition is that of the index `results`. Rows that somebody works on are left for later.
const STRIP: &str = r#"
UPDATE "ledger".entries
SET result = NULL, revision = revision + 1
WHERE ctid = ANY (ARRAY(
    SELECT ctid
    FROM "ledger".entries
    WHERE result IS NOT NULL AND state IN ('done', 'partial')
        AND updated_at < $1::int8 - $2::int8
    ORDER BY updated_at
    LIMIT 10000
    FOR UPDATE SKIP LOCKED
))"#;

/// The condition is that of the index `ended`: nothing that may still land, and a claim only if
/// nothing of it was sent and its owner is gone.
const DELETE: &str = r#"
DELETE FROM "ledger".entries
WHERE ctid = ANY (ARRAY(
    SELECT ctid
    FROM "ledger".entries
    WHERE result IS NULL AND (state IN ('done', 'failed', 'free', 'partial') OR NOT maybe_sent)
        AND (state <> 'claimed' OR lease_until < $1::int8 - $2::int8)
        AND updated_at < $1::int8 - $2::int8
    ORDER BY updated_at
    LIMIT 10000
    FOR UPDATE SKIP LOCKED
))"#;
