//! How often the ledger waits for the disk: once for each commit in its log.

use std::fs;
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::task::Poll;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::json;
use tower_outcome_core::ledger::{Answer, Claim, Ending, EntryKey, Event, Ledger, Owner};
use tower_outcome_core::{Code, Intent};
use tower_outcome_sqlite::SqliteLedger;

#[tokio::test]
async fn a_claim_and_its_end_are_two_commits_and_an_identical_call_is_none() {
    let file = File::new("pair");
    let ledger = SqliteLedger::open(&file.0).unwrap();
    let before = file.commits();
    claimed(&ledger, 1).await;
    assert_eq!(file.commits() - before, 1);
    ended(&ledger, 1).await;
    assert_eq!(file.commits() - before, 2);
    let again = ledger.apply(&key(1), claim(1)).await.unwrap();
    assert!(matches!(again, Answer::Settled { .. }));
    assert_eq!(file.commits() - before, 2);
}

#[tokio::test]
async fn whatever_waits_shares_one_commit() {
    let file = File::new("group");
    let ledger = SqliteLedger::open(&file.0).unwrap();
    let before = file.commits();
    // The ledger's thread has at least the first one in hand while the file is held, and takes all
    // the others at once when it is let go.
    file.while_held(all(async |order| claimed(&ledger, order).await))
        .await;
    assert!(file.commits() - before <= 2);
    file.while_held(all(async |order| ended(&ledger, order).await))
        .await;
    assert!(file.commits() - before <= 4);
}

/// Asks about many orders at once: the first poll asks about all of them.
async fn all(ask: impl AsyncFn(u32)) {
    let mut asked: Vec<_> = (0..ORDERS).map(|order| Box::pin(ask(order))).collect();
    poll_fn(|cx| {
        asked.retain_mut(|one| one.as_mut().poll(cx).is_pending());
        if asked.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

async fn claimed(ledger: &SqliteLedger, order: u32) {
    let answer = ledger.apply(&key(order), claim(order)).await.unwrap();
    assert!(matches!(answer, Answer::Granted(_)));
}

async fn ended(ledger: &SqliteLedger, order: u32) {
    let ending = Ending::Done {
        code: Code::Done,
        result: None,
    };
    let end = Event::Settle { epoch: 1, ending };
    let answer = ledger.apply(&key(order), end).await.unwrap();
    assert_eq!(answer, Answer::Applied);
}

fn claim(order: u32) -> Event {
    let lease = Duration::from_hours(1);
    Event::Claim(Claim::new(&intent(order), Owner::random(), lease))
}

fn key(order: u32) -> EntryKey {
    EntryKey::of(&intent(order))
}

fn intent(order: u32) -> Intent {
    Intent::new("acme", "refund", &json!({ "order": order })).unwrap()
}

/// A ledger's file that is gone with the test.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        let name = format!("counts-{name}-{}", std::process::id());
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&directory).unwrap();
        Self(directory.join("ledger.sqlite"))
    }

    /// Polls `work` once while another connection writes to the file, and then lets it end.
    async fn while_held(&self, work: impl Future<Output = ()>) {
        let holder = Connection::open(&self.0).unwrap();
        holder.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut work = std::pin::pin!(work);
        poll_fn(|cx| {
            assert!(work.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        holder.execute_batch("ROLLBACK").unwrap();
        work.await;
    }

    /// The commits in the log: frames that say how large they leave the file. Section 4.1 of
    /// SQLite's "Database File Format" has the places.
    fn commits(&self) -> usize {
        let log = fs::read(self.0.with_extension("sqlite-wal")).unwrap();
        let (header, frames) = log.split_at(32);
        let number =
            |bytes: &[u8], at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        let frame = 24 + usize::try_from(number(header, 8)).unwrap();
        // Frames with other salts are left over from before the log began anew.
        let frames = frames.chunks_exact(frame);
        let frames = frames.take_while(|frame| frame[8..16] == header[16..24]);
        frames.filter(|frame| number(frame, 4) != 0).count()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = self.0.parent().map(fs::remove_dir_all);
    }
}

const ORDERS: u32 = 100;
