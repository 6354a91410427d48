//! Over pipes, to a process that can be left and killed.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{Child, Command};
use tower_outcome_testkit::{Billing, Step};

use crate::support::{Client, order};

/// Starts a server and connects to it.
async fn start(billing: &Billing, ledger: &Path, seconds: &str) -> (Client, Child) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp_server"))
        .arg(billing.url())
        .arg(ledger)
        .arg(seconds)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    (Client::over(pipes).await, child)
}

/// A ledger file that is not there yet.
fn ledger(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mcp-stdio-{name}"));
    // What an earlier run has left.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder.join("ledger.db")
}

#[tokio::test]
async fn a_server_left_mid_write_finishes_it_and_the_next_one_tells() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let ledger = ledger("left");

    let (client, mut child) = start(&billing, &ledger, "30").await;
    let lost = client.start("refund", order(7)).await;
    billing.wait_commits(1).await;
    client.running.cancel().await.unwrap();
    assert!(lost.await_response().await.is_err());
    billing.release();
    assert!(child.wait().await.unwrap().success());

    let (client, _child) = start(&billing, &ledger, "0").await;
    let again = client.call("refund", order(7)).await;
    assert_eq!(again.word(), "already_done/already_done");
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_server_left_mid_write_that_cannot_wait_takes_its_doubt_down() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenSilence]);
    let ledger = ledger("hurried");

    let (client, mut child) = start(&billing, &ledger, "0").await;
    let _lost = client.start("refund", order(7)).await;
    billing.wait_commits(1).await;
    client.running.cancel().await.unwrap();
    assert!(child.wait().await.unwrap().success());

    let (client, _child) = start(&billing, &ledger, "0").await;
    for _ in 0..2 {
        let again = client.call("refund", order(7)).await;
        assert_eq!(again.word(), "unknown/still_confirming");
    }
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_server_killed_mid_write_leaves_a_row_that_stops_the_next_one() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let ledger = ledger("killed");

    let (client, mut child) = start(&billing, &ledger, "0").await;
    let _lost = client.start("refund", order(7)).await;
    billing.wait_commits(1).await;
    child.kill().await.unwrap();

    // For as long as its lease runs the dead process counts as one that may still be at work.
    let (client, _child) = start(&billing, &ledger, "0").await;
    let again = client.call("refund", order(7)).await;
    assert!(
        ["skipped", "unknown"].contains(&again.envelope.outcome().as_str()),
        "{again:?}"
    );
    assert_eq!(billing.received().len(), 1);
    assert_eq!(billing.commits(), 1);
}
