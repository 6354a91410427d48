use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use tower_outcome_core::ledger::{Answer, Ledger, State};
use tower_outcome_sqlite::SqliteLedger;

use crate::support::{Dir, claim, key};

#[test]
fn of_several_processes_exactly_one_is_granted_each_claim() {
    let dir = Dir::new();
    let mut racers: Vec<Racer> = (0..RACERS).map(|_| Racer::start(&dir)).collect();
    for racer in &mut racers {
        racer.wait_for("ready");
    }
    for racer in &mut racers {
        racer.go();
    }
    let mut granted: Vec<u32> = racers.into_iter().flat_map(Racer::finish).collect();
    granted.sort_unstable();
    assert_eq!(granted, (0..ORDERS).collect::<Vec<_>>());
}

#[test]
fn a_killed_process_leaves_what_it_was_answered() {
    let dir = Dir::new();
    let mut racer = Racer::start(&dir);
    racer.wait_for("ready");
    racer.go();
    racer.wait_for("granted 0");
    racer.child.kill().unwrap();
    racer.child.wait().unwrap();

    let ledger = SqliteLedger::open(dir.file()).unwrap();
    let entry = block_on(ledger.read(&key(0))).unwrap().unwrap();
    assert_eq!(entry.state, State::Claimed);
    let again = block_on(ledger.apply(&key(0), claim(0))).unwrap();
    assert_eq!(again, Answer::InProgress);
}

/// Claims every order, in another process.
#[test]
#[ignore = "is started by the tests above, with a file and a start signal"]
fn racer() {
    // The file is opened by all at once as well: none of them finds a schema.
    let ledger = SqliteLedger::open(std::env::var_os(FILE).expect("the file is named")).unwrap();
    println!("\nready");
    let mut signal = String::new();
    std::io::stdin().read_line(&mut signal).unwrap();
    for order in 0..ORDERS {
        match block_on(ledger.apply(&key(order), claim(order))).unwrap() {
            Answer::Granted(_) => println!("granted {order}"),
            Answer::InProgress => {}
            other => panic!("{other:?}"),
        }
    }
    println!("finished");
}

struct Racer {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Racer {
    fn start(dir: &Dir) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::racer", "--ignored", "--nocapture"])
            .env(FILE, dir.file())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn wait_for(&mut self, line: &str) {
        let found = self.lines.any(|said| said.unwrap() == line);
        assert!(found, "the process ended without {line}");
    }

    fn go(&mut self) {
        let mut signal = self.child.stdin.take().unwrap();
        signal.write_all(b"go\n").unwrap();
    }

    /// The orders that it was granted.
    fn finish(mut self) -> Vec<u32> {
        let lines: Vec<String> = self.lines.by_ref().map(Result::unwrap).collect();
        assert!(self.child.wait().unwrap().success());
        assert!(lines.iter().any(|line| line == "finished"));
        let granted = lines
            .iter()
            .filter_map(|line| line.strip_prefix("granted "));
        granted.map(|order| order.parse().unwrap()).collect()
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(future)
}

const FILE: &str = "TOWER_OUTCOME_TEST_LEDGER";

const ORDERS: u32 = 100;

const RACERS: usize = 4;
