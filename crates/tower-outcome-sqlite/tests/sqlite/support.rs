//! A file of its own for every test, and the one write that all of them make.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use tower_outcome_core::Intent;
use tower_outcome_core::ledger::{Answer, Claim, EntryKey, Event, Grant, Ledger, Owner};
use tower_outcome_sqlite::SqliteLedger;

/// A directory that is gone with the test.
pub(crate) struct Dir(PathBuf);

impl Dir {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ledger-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("ledger.sqlite")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn intent(order: u32) -> Intent {
    Intent::new("acme", "refund", &json!({ "order": order })).unwrap()
}

pub(crate) fn key(order: u32) -> EntryKey {
    EntryKey::of(&intent(order))
}

pub(crate) fn claim(order: u32) -> Event {
    let lease = Duration::from_hours(1);
    Event::Claim(Claim::new(&intent(order), Owner::random(), lease))
}

pub(crate) async fn granted(ledger: &SqliteLedger, order: u32) -> Grant {
    match ledger.apply(&key(order), claim(order)).await.unwrap() {
        Answer::Granted(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}
