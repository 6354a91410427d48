//! The ledgers that survive, beside the bare databases.
//!
//! A pair is a claim of a fresh key and its end. Ledger and floor take turns of a second against one
//! server or on one disk; what is told is the median of what each round's two turns came to.

use crate::measure::Measured;

mod drive;
mod postgres;
mod redis;
mod sqlite;

/// Measures the stores that are named, or all of them.
pub(crate) fn measure(stores: &[&str], rows: u64, measured: &mut Measured) -> Result<(), String> {
    let wanted = |store: &str| stores.is_empty() || stores.contains(&store);
    if wanted("sqlite") {
        sqlite::measure(measured)?;
    }
    if wanted("postgres") {
        postgres::measure(measured)?;
    }
    if wanted("purge") {
        postgres::purged(rows, measured)?;
    }
    if wanted("redis") {
        redis::measure(measured)?;
    }
    Ok(())
}

pub(crate) use sqlite::counted;

/// The stores that there are, and what PostgreSQL takes to forget.
pub(crate) const STORES: &[&str] = &["postgres", "purge", "redis", "sqlite"];

/// How many rows a purge is measured in the midst of, unless said otherwise.
pub(crate) const ROWS: u64 = 1_000_000;
