//! The command `outcomes`, as a shell runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Value, json};
use tower_outcome_core::Intent;
use tower_outcome_core::ledger::{
    Answer, Claim, EntryKey, Event, Ledger as _, Owner, Timestamp, WriteRecord,
};
use tower_outcome_sqlite::SqliteLedger;

/// A ledger with one entry that is in doubt since yesterday and one that may still be sent.
struct Shell {
    directory: PathBuf,
    url: String,
    yesterday: EntryKey,
    today: EntryKey,
}

impl Shell {
    async fn new(name: &str) -> Self {
        let directory = format!("tower-outcome-{name}-{}", std::process::id());
        let directory = std::env::temp_dir().join(directory);
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("ledger.sqlite");
        let day = 24 * 60 * 60 * 1000;
        Self {
            url: format!("sqlite:{}", path.display()),
            yesterday: doubt(&path, 1, Timestamp(Timestamp::now().0 - day)).await,
            today: doubt(&path, 2, Timestamp::now()).await,
            directory,
        }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        run(&self.url, arguments)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// An entry of a write that may have been sent for ten minutes, of an owner that died at once.
async fn doubt(path: &Path, order: u32, at: Timestamp) -> EntryKey {
    let ledger = SqliteLedger::open_with_clock(path, move || at).unwrap();
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

fn run(url: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outcomes"));
    command
        .env_remove("OUTCOMES_LEDGER")
        .args(["--ledger", url]);
    command.args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn fails(output: &Output, code: i32, with: &str) {
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{told}");
    assert!(told.contains(with), "{told}");
    assert!(output.stdout.is_empty());
}

#[tokio::test]
async fn entries_are_listed_shown_and_resolved() {
    let shell = Shell::new("cli").await;
    let listed = shell.run(&["list", "--state", "unknown", "--older-than", "2h"]);
    let table = text(&listed.stdout);
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 2, "{table}");
    assert!(lines[0].starts_with("KEY       STATE    CODE"), "{table}");
    let short = shell.yesterday.key.short();
    assert!(
        lines[1].starts_with(&short) && lines[1].ends_with("refund  acme"),
        "{table}"
    );

    let shown = text(&shell.run(&["show", &short]).stdout);
    assert!(shown.contains("route: POST billing/refunds"), "{shown}");
    assert!(shown.contains("profile: stripe_v1"), "{shown}");

    let word = ["--by", "ada", "--reason", "no such refund"];
    let resolved = shell.json(&[&["resolve", &short, "failed"][..], &word].concat());
    assert_eq!(resolved["state"], "failed");
    assert_eq!(resolved["resolution"]["by"], "ada");
    assert_eq!(shell.json(&["stats"])["states"]["failed"], 1);
    assert_eq!(shell.json(&["purge"]), json!({ "purged": 0 }));
    fails(
        &shell.run(&[&["resolve", &short, "done"][..], &word].concat()),
        4,
        "not in doubt",
    );
}

#[tokio::test]
async fn pages_follow_each_other_and_all_is_listed_once() {
    let shell = Shell::new("pages").await;
    let first = shell.json(&["list", "--limit", "1"]);
    let next = first["next"].as_str().unwrap();
    let second = shell.json(&["list", "--limit", "1", "--after", next]);
    let keys = [&first, &second].map(|page| page["entries"][0]["key"].clone());
    assert_ne!(keys[0], keys[1]);
    let told = text(&shell.run(&["list", "--limit", "1"]).stdout);
    assert!(
        told.trim_end()
            .ends_with(&format!("more: --after '{next}'")),
        "{told}"
    );
}

#[tokio::test]
async fn what_may_still_be_sent_is_not_said_to_have_failed() {
    let shell = Shell::new("early").await;
    let short = shell.today.key.short();
    let word = [
        "resolve",
        &short,
        "failed",
        "--by",
        "ada",
        "--reason",
        "not there",
    ];
    fails(&shell.run(&word), 4, "may still be sent");
}

#[tokio::test]
async fn every_kind_of_failure_has_its_exit_code() {
    let shell = Shell::new("codes").await;
    fails(&shell.run(&["show", "0123456789"]), 3, "no such entry");
    fails(&shell.run(&["show", "0123"]), 1, "8 hex digits");
    fails(&shell.run(&["list", "--state", "lost"]), 2, "unknown");
    fails(&shell.run(&["list", "--older-than", "2 weeks"]), 2, "7d");
    fails(&shell.run(&["stats", "--state", "done"]), 2, "--state");
    fails(&shell.run(&["forget"]), 2, "forget");
    fails(&shell.run(&["resolve", "0123456789", "done"]), 2, "--by");
    fails(&run("mysql://ada:canary@db/x", &["stats"]), 2, "sqlite:");
    fails(
        &run("sqlite:/nowhere/ledger.sqlite", &["stats"]),
        2,
        "no file",
    );
    let other = shell.directory.join("notes.txt");
    std::fs::write(
        &other,
        "not a database, and longer than a header of one would be",
    )
    .unwrap();
    fails(
        &run(&format!("sqlite:{}", other.display()), &["stats"]),
        1,
        "outcomes: ",
    );
    let no_command = run("sqlite:x", &[]);
    assert_eq!(no_command.status.code(), Some(2));
}

#[test]
fn no_error_shows_the_password_of_a_url() {
    for url in [
        "mysql://ada:canary@db/x",
        "postgres://ada:canary@127.0.0.1:1/x",
        "postgres://ada:canary@127.0.0.1:port/x",
        "redis://ada:canary@127.0.0.1:1/0",
        "redis://ada:canary@127.0.0.1:port/0",
    ] {
        let output = run(url, &["stats"]);
        assert!(!output.status.success());
        assert!(
            !text(&output.stderr).contains("canary"),
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
fn help_tells_the_commands_and_the_exit_codes() {
    for arguments in [&["--help"][..], &[]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_outcomes"));
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success());
        let help = text(&output.stdout);
        for word in ["list", "show", "resolve", "purge", "stats", "exit codes"] {
            assert!(help.contains(word), "{help}");
        }
        assert!(help.lines().all(|line| line.len() <= 80));
    }
}
