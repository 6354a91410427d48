use tower_outcome_core::ledger::{Answer, Ledger as _, State};
use tower_outcome_sqlite::SqliteLedger;
use tower_outcome_store_tests::processes::{self, Racer};

use crate::support::{Dir, claim, entry, key};

#[test]
fn of_several_processes_exactly_one_is_granted_each_claim() {
    let dir = Dir::new();
    let file = dir.file();
    processes::exactly_one_is_granted_each_claim(&[(FILE, file.to_str().unwrap())]);
}

#[tokio::test]
async fn a_killed_process_leaves_what_it_was_answered() {
    let dir = Dir::new();
    let mut racer = Racer::start(&[(FILE, dir.file().to_str().unwrap())]);
    racer.wait_for("ready");
    racer.go();
    racer.wait_for("granted 0");
    racer.kill();

    let ledger = SqliteLedger::open(dir.file()).unwrap();
    assert_eq!(entry(&ledger, 0).await.state, State::Claimed);
    let again = ledger.apply(&key(0), claim(0)).await.unwrap();
    assert_eq!(again, Answer::InProgress);
}

#[tokio::test]
#[ignore = "is started by the tests above, with a file and a start signal"]
async fn racer() {
    let ledger = SqliteLedger::open(std::env::var_os(FILE).expect("the file is named")).unwrap();
    processes::race(&ledger).await;
}

const FILE: &str = "TOWER_OUTCOME_TEST_LEDGER";
