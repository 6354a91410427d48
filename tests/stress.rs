//! Everything at once, in two processes on one ledger: what is said stays true when it is looked at
//! again after all tails have ended, and nothing is left behind.

#[path = "stress/memory.rs"]
mod memory;
#[path = "stress/process.rs"]
mod process;
#[path = "stress/services.rs"]
mod services;
#[path = "stress/truth.rs"]
mod truth;
#[path = "stress/wishes.rs"]
mod wishes;

use std::path::PathBuf;
use std::sync::Arc;

use tokio::runtime::Handle;
use tower_outcome_core::ledger::{Ledger as _, State};
use tower_outcome_sqlite::SqliteLedger;
use tower_outcome_tools::Reconciler;

use process::{Order, Process};
use services::{AskThem, Services};
use truth::Truth;

#[tokio::test]
async fn under_drops_panics_and_lost_answers_in_two_processes_every_word_is_true_and_nothing_is_left()
 {
    let file = ledger_file();
    let ledger = Arc::new(SqliteLedger::open(&file).unwrap());
    let services = Services::start().await;
    let listeners = Handle::current().metrics().num_alive_tasks();
    let processes = [0, 1].map(|index| {
        Process::start(&Order {
            index,
            ledger: file.clone(),
            urls: services.urls(),
        })
    });
    let told = services.serve_until(process::told_by(processes)).await;
    println!("{} calls were told a word", told.len());

    // All tails have ended once nobody is connected any more, the proxies to the services neither.
    while Handle::current().metrics().num_alive_tasks() > listeners {
        services.release();
        tokio::task::yield_now().await;
    }
    println!("all tails have ended");
    let reconciler = Reconciler::new(Arc::clone(&ledger), AskThem::new());
    let reconciler = reconciler.with_limit(usize::try_from(wishes::CALLS).unwrap());
    loop {
        let report = reconciler.pass().await.unwrap();
        let rows = ledger.counts().await.unwrap();
        println!("{} found, rows: {rows:?}", report.confirmed.len());
        // A row whose owner could not write to it is in doubt once its lease has ended.
        let under_way = rows.of(State::Claimed) + rows.of(State::Dispatching);
        if report.confirmed.is_empty() && under_way == 0 {
            break;
        }
    }

    let truth = Truth::of(&services, &*ledger).await;
    truth.uphold(&services, &told);
}

/// Makes half of the calls, in another process.
#[test]
#[ignore = "is started by the test above, which says what to do"]
fn process() {
    process::run();
}

fn ledger_file() -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("stress");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory.join("ledger.db")
}
