//! The ledger in a SQLite file, beside SQLite alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use rusqlite::{Connection, TransactionBehavior, params};
use tower_outcome_sqlite::SqliteLedger;
use xtask::servers::Files;

use super::drive::{Pairs, RESULT, Rate, alternate, computed_so_far, fresh, note, runtime};
use crate::measure::{Measured, real};

pub(super) fn measure(measured: &mut Measured) -> Result<(), String> {
    let files = Files::new("sqlite").map_err(|error| error.to_string())?;
    match (fsyncs(files.path(), 1), fsyncs(files.path(), 16)) {
        (Ok(one), Ok(sixteen)) => {
            measured.note("sqlite.pair.1", "fsyncs", one);
            measured.note("sqlite.pair.16", "fsyncs", sixteen);
        }
        (Err(reason), _) | (_, Err(reason)) => {
            eprintln!("bench: no fsyncs are counted: {reason}");
        }
    }
    grouped(files.path(), measured)?;
    if Path::new(SHARED_MEMORY).is_dir() {
        let directory = Directory::new(Path::new(SHARED_MEMORY))?;
        beside_sqlite(&directory.0, measured)?;
    }
    Ok(())
}

/// The other side of the count: some pairs by so many tasks, in a directory.
pub(crate) fn counted(directory: &Path, tasks: u64, each: u64) -> Result<(), String> {
    let pairs = Pairs::of(open(directory)?);
    runtime()?.block_on(pairs.some(tasks, each));
    Ok(())
}

/// How often a pair waits for the disk, as the system is asked to.
fn fsyncs(directory: &Path, tasks: u64) -> Result<f64, String> {
    let count = |each: u64| -> Result<u64, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let summary = directory.join("strace");
        let status = Command::new("strace")
            .args(["-f", "-c", "-e", "trace=fsync,fdatasync", "-o"])
            .arg(&summary)
            .arg(program)
            .arg("pairs")
            .arg(directory)
            .args([tasks.to_string(), each.to_string()])
            .stderr(Stdio::null())
            .status()
            .map_err(|error| format!("strace cannot be started: {error}"))?;
        let summary = fs::read_to_string(summary).map_err(|error| error.to_string())?;
        let calls = summary
            .lines()
            .filter(|line| line.contains("sync"))
            .map(|line| {
                let calls = line.split_whitespace().nth(3);
                calls
                    .and_then(|calls| calls.parse::<u64>().ok())
                    .unwrap_or_default()
            });
        match calls.sum() {
            0 => Err(format!("strace saw none ({status})")),
            calls => Ok(calls),
        }
    };
    // What opening takes is in both.
    let (some, twice) = (count(EACH)?, count(2 * EACH)?);
    Ok((real(twice) - real(some)) / real(tasks * EACH))
}

/// What it gains that those who wait share the wait for the disk.
fn grouped(directory: &Path, measured: &mut Measured) -> Result<(), String> {
    let (runtime, pairs) = (runtime()?, Pairs::of(open(directory)?));
    let rate = |tasks| runtime.block_on(pairs.rate(tasks));
    let rates = alternate(&mut [
        &mut || rate(1),
        &mut || rate(1),
        &mut || rate(16),
        &mut || rate(64),
    ]);
    note(
        measured,
        "sqlite.grouped.16",
        [&rates[2], &rates[0], &rates[1]],
    );
    note(
        measured,
        "sqlite.grouped.64",
        [&rates[3], &rates[0], &rates[1]],
    );
    Ok(())
}

/// Without a disk: what remains is work.
fn beside_sqlite(directory: &Path, measured: &mut Measured) -> Result<(), String> {
    let (runtime, pairs) = (runtime()?, Pairs::of(open(directory)?));
    let mut ours = || runtime.block_on(pairs.rate(BATCH));
    let alone = directory.join("alone.sqlite");
    // The same tables.
    drop(SqliteLedger::open(&alone).map_err(|error| error.to_string())?);
    let (mut floor, mut again) = (Floor::open(&alone)?, Floor::open(&alone)?);
    let rates = alternate(&mut [&mut ours, &mut || floor.rate(), &mut || again.rate()]);
    note(measured, "sqlite.batch", [&rates[0], &rates[1], &rates[2]]);
    Ok(())
}

/// SQLite alone, with the same batches.
struct Floor(Connection);

impl Floor {
    fn open(path: &Path) -> Result<Self, String> {
        let open = || -> rusqlite::Result<Connection> {
            let store = Connection::open(path)?;
            store.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
            Ok(store)
        };
        open().map(Self).map_err(|error| error.to_string())
    }

    fn rate(&mut self) -> Rate {
        let (began, computed, mut done) = (Instant::now(), computed_so_far(), 0);
        while began.elapsed().as_secs() < 1 {
            self.batch().expect("nobody else writes to the file");
            done += BATCH as u64;
        }
        Rate::since(began, computed, done)
    }

    fn batch(&mut self) -> rusqlite::Result<()> {
        let keys: Vec<[u8; 32]> = (0..BATCH).map(|_| fresh()).collect();
        let claims = self
            .0
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for key in &keys {
            claims.prepare_cached(CLAIM)?.execute(params![key])?;
        }
        claims.commit()?;
        let ends = self
            .0
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for key in &keys {
            ends.prepare_cached(END)?.execute(params![key, RESULT])?;
        }
        ends.commit()
    }
}

fn open(directory: &Path) -> Result<SqliteLedger, String> {
    SqliteLedger::open(directory.join("ledger.sqlite")).map_err(|error| error.to_string())
}

/// A directory that is gone with its handle.
struct Directory(PathBuf);

impl Directory {
    fn new(parent: &Path) -> Result<Self, String> {
        let path = parent.join(format!("tower-outcome-bench-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| error.to_string())?;
        Ok(Self(path))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What is left is in memory, until the machine stops.
        let _ = fs::remove_dir_all(&self.0);
    }
}

const SHARED_MEMORY: &str = "/dev/shm";

/// How many share a transaction.
const BATCH: usize = 64;

/// Pairs of each task while fsyncs are counted.
const EACH: u64 = 200;

const CLAIM: &str = "
    INSERT INTO entries (scope, key, tool, state, epoch, generation, maybe_sent, owner, lease_until,
        fingerprint, landing, writes, created_at, updated_at, looks, look_at)
    VALUES ('acme', ?1, 'refund', 'claimed', 1, 0, 0, zeroblob(16), 1764672000000, '{}', 'in_flight',
        '[]', 1764672000000, 1764672000000, 0, 1764672000000)
    ON CONFLICT DO NOTHING";

const END: &str = "
    UPDATE entries
    SET state = 'done', code = 'done', result = ?2, updated_at = 1764672000001
    WHERE scope = 'acme' AND key = ?1 AND epoch = 1 AND state = 'claimed'";
