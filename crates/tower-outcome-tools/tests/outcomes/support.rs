//! What every test of the command needs.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Value, json};
use tower_outcome_core::Intent;
use tower_outcome_core::ledger::{
    Answer, Claim, EntryKey, Event, Ledger, Owner, Timestamp, WriteRecord,
};
use tower_outcome_sqlite::SqliteLedger;

/// A ledger with one entry that is in doubt since yesterday and one that may still be sent.
pub(crate) struct Shell {
    pub(crate) directory: PathBuf,
    url: String,
    pub(crate) yesterday: EntryKey,
    pub(crate) today: EntryKey,
}

impl Shell {
    pub(crate) async fn new(name: &str) -> Self {
        let directory = format!("tower-outcome-{name}-{}", std::process::id());
        let directory = std::env::temp_dir().join(directory);
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join(FILE);
        let ledger = |at| SqliteLedger::open_with_clock(&path, move || at).unwrap();
        Self {
            url: format!("sqlite:{}", path.display()),
            yesterday: doubt(ledger(yesterday()), 1).await,
            today: doubt(ledger(Timestamp::now()), 2).await,
            directory,
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        run(&self.url, arguments)
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        json_of(&self.run(&[arguments, &["--json"]].concat()))
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// An entry of a write that may have been sent for ten minutes, of an owner that died at once.
pub(crate) async fn doubt(ledger: impl Ledger, order: u32) -> EntryKey {
    let intent = Intent::new("acme", "refund", &json!({ "order": order })).unwrap();
    let key = EntryKey::of(&intent);
    let lease = Duration::ZERO;
    let claim = Claim::new(&intent, Owner::random(), Duration::from_mins(1));
    let answer = ledger.apply(&key, Event::Claim(claim)).await.unwrap();
    let Answer::Granted(grant) = answer else {
        panic!("{answer:?}");
    };
    let write = WriteRecord {
        label: "refund".to_owned(),
        route: "POST billing/refunds".to_owned(),
        wire_key: "k1".to_owned(),
        only: true,
        profile: Some("stripe_v1".into()),
        ..WriteRecord::default()
    };
    let epoch = grant.epoch;
    let sends_for = Duration::from_mins(10);
    let sent = Event::Send {
        epoch,
        write,
        lease,
        sends_for,
    };
    ledger.apply(&key, sent).await.unwrap();
    key
}

pub(crate) fn yesterday() -> Timestamp {
    Timestamp::now().before(Duration::from_hours(24))
}

pub(crate) fn run(url: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outcomes"));
    command
        .env_remove("OUTCOMES_LEDGER")
        .args(["--ledger", url]);
    command.args(arguments).output().unwrap()
}

pub(crate) fn json_of(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
pub(crate) fn fails(output: &Output, code: i32, with: &str) {
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{told}");
    assert!(told.contains(with), "{told}");
    assert!(output.stdout.is_empty());
}

const FILE: &str = "ledger.sqlite";
