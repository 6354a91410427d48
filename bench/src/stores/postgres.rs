//! The ledger in PostgreSQL, beside pgbench on the same server.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};
use tower_outcome_core::ledger::Ledger as _;
use tower_outcome_postgres::PostgresLedger;
use xtask::servers::{Postgres, Server as _};

use super::drive::{Pairs, Rate, alternate, median, note, runtime};
use crate::measure::{Measured, real};

pub(super) fn measure(measured: &mut Measured) -> Result<(), String> {
    let (server, runtime, client) = start()?;
    let url = server.url();
    runtime
        .block_on(client.batch_execute(BARE))
        .map_err(refused)?;

    for (name, tasks) in [("postgres.pair.1", 1), ("postgres.pair.16", 16)] {
        let [statements, fsyncs] = runtime.block_on(counts(&client, &url, tasks))?;
        let unit = if tasks == 1 {
            "statements"
        } else {
            "statements each"
        };
        measured.note(name, unit, statements);
        measured.note(name, "fsyncs", fsyncs);
    }
    for (name, tasks) in [("postgres.1", 1), ("postgres.16", 16), ("postgres.64", 64)] {
        beside_pgbench(&runtime, &client, &url, name, tasks, measured)?;
    }
    Ok(())
}

/// What it takes to forget, in the midst of so many rows.
pub(super) fn purged(rows: u64, measured: &mut Measured) -> Result<(), String> {
    let (server, runtime, client) = start()?;
    purge(&runtime, &client, &server.url(), rows, measured)
}

/// A server with a ledger's tables, and a client of it.
fn start() -> Result<(Postgres, Runtime, Client), String> {
    let server = Postgres::start()?;
    let (runtime, url) = (runtime()?, server.url());
    let client = runtime.block_on(connect(&url))?;
    drop(runtime.block_on(open(&url))?);
    Ok((server, runtime, client))
}

/// Pairs a second, in turns with pgbench.
fn beside_pgbench(
    runtime: &Runtime,
    client: &Client,
    url: &str,
    name: &str,
    tasks: usize,
    measured: &mut Measured,
) -> Result<(), String> {
    let pairs = Pairs::of(runtime.block_on(open(url))?);
    let script =
        std::env::temp_dir().join(format!("tower-outcome-bench-{}.sql", std::process::id()));
    fs::write(&script, include_str!("floor.sql")).map_err(|error| error.to_string())?;
    let ours = || {
        runtime.block_on(async {
            let emptied = client.batch_execute(EMPTY).await;
            let rate = pairs.rate(tasks).await;
            emptied.map_or(Rate::elsewhere(f64::NAN), |()| rate)
        })
    };
    let mut failure = None;
    let mut floor = || {
        let rate = pgbench(url, &script.display().to_string(), tasks);
        let rate = rate.map_err(|reason| failure = Some(reason));
        Rate::elsewhere(rate.unwrap_or(f64::NAN))
    };
    // Turns are taken one after the other.
    let floor = std::cell::RefCell::new(&mut floor);
    let turn = || (floor.borrow_mut())();
    let rates = alternate(&mut [&mut { ours }, &mut { turn }, &mut { turn }]);
    let _ = fs::remove_file(&script);
    if let Some(reason) = failure {
        return Err(reason);
    }
    note(measured, name, [&rates[0], &rates[1], &rates[2]]);
    Ok(())
}

/// Pairs a second of bare statements.
fn pgbench(url: &str, script: &str, clients: usize) -> Result<f64, String> {
    let ended = Command::new("pgbench")
        .args(["--no-vacuum", "--protocol=prepared", "--time=1"])
        .arg(format!("--client={clients}"))
        .args(["--file", script, url])
        .output()
        .map_err(|error| format!("pgbench cannot be started: {error}"))?;
    let output = String::from_utf8_lossy(&ended.stdout);
    let rate = output.lines().find_map(|line| line.strip_prefix("tps = "));
    let rate = rate.and_then(|rate| rate.split_whitespace().next()?.parse().ok());
    rate.ok_or_else(|| format!("pgbench: {}", String::from_utf8_lossy(&ended.stderr)))
}

/// Commits and waits for the disk of a pair, by so many tasks.
async fn counts(client: &Client, url: &str, tasks: u64) -> Result<[f64; 2], String> {
    let mut counted = [[0.0; 2]; 2];
    for (counted, each) in counted.iter_mut().zip([EACH, 2 * EACH]) {
        let before = seen(client).await?;
        let pairs = Pairs::of(open(url).await?);
        pairs.some(tasks, each).await;
        drop(pairs);
        let after = seen(client).await?;
        *counted = [after[0] - before[0], after[1] - before[1]];
    }
    // What connecting takes is in both.
    let [some, twice] = counted;
    let pairs = real(tasks * EACH);
    Ok([(twice[0] - some[0]) / pairs, (twice[1] - some[1]) / pairs])
}

/// Commits and fsyncs so far, once every session of a ledger has ended and told its own.
async fn seen(client: &Client) -> Result<[f64; 2], String> {
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let row = client.query_one(SEEN, &[]).await.map_err(refused)?;
        if row.get::<_, i64>("sessions") == 0 {
            return Ok([row.get("commits"), row.get("fsyncs")]);
        }
    }
}

fn purge(
    runtime: &Runtime,
    client: &Client,
    url: &str,
    rows: u64,
    measured: &mut Measured,
) -> Result<(), String> {
    runtime.block_on(async {
        let ledger = open(url).await?;
        let many = i64::try_from(rows).unwrap_or(i64::MAX);
        client.execute(FILL, &[&many]).await.map_err(refused)?;
        client
            .batch_execute("VACUUM ANALYZE ledger.entries")
            .await
            .map_err(refused)?;
        let entries = batches(&ledger).await?;
        client.batch_execute(ANSWER).await.map_err(refused)?;
        let results = batches(&ledger).await?;
        for (name, took) in [
            ("postgres.purge", entries),
            ("postgres.purge.results", results),
        ] {
            measured.note(name, "microseconds a row", median(took.iter().copied()));
            let longest = took.into_iter().fold(0.0, f64::max) * real(PURGED as u64) / 1e3;
            measured.note(name, "ms the longest batch", longest);
            measured.note(name, "rows", real(rows));
        }
        Ok(())
    })
}

/// How long some batches took, in microseconds a row.
async fn batches(ledger: &PostgresLedger) -> Result<Vec<f64>, String> {
    let mut took = Vec::new();
    for _ in 0..PURGES {
        let began = Instant::now();
        let purged = ledger.purge(PURGED).await;
        let purged = purged.map_err(|error| error.to_string())?;
        if purged != PURGED {
            return Err(format!("{purged} rows are purged and not {PURGED}"));
        }
        took.push(began.elapsed().as_secs_f64() * 1e6 / real(PURGED as u64));
    }
    Ok(took)
}

async fn open(url: &str) -> Result<PostgresLedger, String> {
    let settings = tower_outcome_postgres::Settings::new(url).map_err(|error| error.to_string())?;
    let ledger = settings.with_schema("ledger").connect().await;
    ledger.map_err(|error| error.to_string())
}

async fn connect(url: &str) -> Result<Client, String> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.map_err(refused)?;
    tokio::spawn(connection);
    Ok(client)
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn refused(error: tokio_postgres::Error) -> String {
    format!("PostgreSQL: {error}")
}

/// The same table, with the same indexes.
const BARE: &str = "
    CREATE SCHEMA bare;
    CREATE TABLE bare.entries (LIKE ledger.entries INCLUDING ALL)";

const EMPTY: &str = "TRUNCATE ledger.entries, bare.entries";

const SEEN: &str = "
    SELECT
        (SELECT count(*) FROM pg_stat_activity
         WHERE application_name = 'tower-outcome-postgres') AS sessions,
        (SELECT xact_commit::float8 FROM pg_stat_database
         WHERE datname = current_database()) AS commits,
        (SELECT wal_sync::float8 FROM pg_stat_wal) AS fsyncs";

/// Ends of two years ago and more, one a second.
const FILL: &str = "
    INSERT INTO ledger.entries (scope, key, tool, state, code, epoch, generation, revision,
        maybe_sent, owner, lease_until, fingerprint, landing, writes, created_at, updated_at)
    SELECT 'acme', sha256(int8send(number)), 'refund', 'done', 'done', 1, 0, 2, true,
        '\\x00000000000000000000000000000000', at, '{}', 'settled', '[]', at, at
    FROM generate_series(1, $1::int8) AS number,
        LATERAL (SELECT 1700000000000 - number * 1000 AS at) AS times";

/// Results for the oldest rows that are left, for more batches than are timed.
const ANSWER: &str = "
    UPDATE ledger.entries SET result = '{\"id\":7}', revision = revision + 1
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM ledger.entries ORDER BY created_at LIMIT 80000))";

/// Pairs of each task while statements are counted.
const EACH: u64 = 200;

/// How many times a purge is timed.
const PURGES: u32 = 7;

/// Rows of a batch.
const PURGED: usize = 10_000;
