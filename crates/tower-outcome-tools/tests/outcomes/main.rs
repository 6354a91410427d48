//! The command `outcomes`, as a shell runs it.

use std::process::Command;

use serde_json::json;

use crate::support::{Shell, fails, run, text};

mod aliases;
mod servers;
mod support;

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

#[tokio::test]
async fn an_entry_that_cannot_be_read_is_listed_by_its_key() {
    let shell = Shell::new("damaged").await;
    let file = rusqlite::Connection::open(shell.path()).unwrap();
    let harm = "UPDATE entries SET epoch = -1 WHERE key = ?1";
    let harmed = shell.yesterday.key;
    file.execute(harm, [harmed.as_bytes()]).unwrap();
    let table = text(&shell.run(&["list"]).stdout);
    let short = harmed.short();
    let line = table.lines().find(|line| line.starts_with(&short));
    assert!(line.unwrap().contains("unreadable"), "{table}");
    assert!(table.contains(&shell.today.key.short()), "{table}");
    let page = shell.json(&["list"]);
    assert_eq!(page["entries"].as_array().unwrap().len(), 1);
    let listed = &page["unreadable"][0];
    assert_eq!(listed["scope"], "acme");
    assert!(listed["key"].as_str().unwrap().starts_with(&short));
    // It is there, and no word is taken for it.
    fails(&shell.run(&["show", &short]), 1, "outcomes: ");
    let word = ["--by", "ada", "--reason", "no such refund"];
    let resolve = [&["resolve", &short, "failed"][..], &word].concat();
    fails(&shell.run(&resolve), 1, "outcomes: ");

    file.execute_batch("UPDATE entries SET state = 'later'")
        .unwrap();
    let stats = shell.json(&["stats"]);
    assert_eq!(
        (&stats["unreadable"], &stats["total"]),
        (&json!(2), &json!(2))
    );
}
