use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use tower_outcome_core::Code;
use tower_outcome_core::ledger::{Answer, Event, Ledger};
use tower_outcome_redis::Settings;

use crate::support::{Place, claim, key, send};

#[test]
fn of_several_processes_exactly_one_is_granted_each_claim() {
    let place = Place::new();
    let mut racers: Vec<Racer> = (0..RACERS).map(|_| Racer::start(&place)).collect();
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

/// Claims, sends and releases the same few entries from many ledgers, each with a connection of its
/// own. Had two of them an entry at once, a step of the first would be fenced off.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_holds_an_entry_holds_it_alone() {
    let place = Place::new();
    let mut ledgers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let ledger = place.ledger().await;
        ledgers.spawn(async move {
            let mut epochs = Vec::new();
            for turn in 0..120 {
                let order = turn % 3;
                let Answer::Granted(grant) = ledger.apply(&key(order), claim(order)).await.unwrap()
                else {
                    continue;
                };
                let epoch = grant.epoch;
                ledger.apply(&key(order), send(epoch)).await.unwrap();
                let code = Code::NotSent;
                let release = Event::Release { epoch, code };
                ledger.apply(&key(order), release).await.unwrap();
                epochs.push((order, epoch));
            }
            epochs
        });
    }
    let all: Vec<_> = ledgers.join_all().await.into_iter().flatten().collect();
    let distinct: BTreeSet<_> = all.iter().copied().collect();
    assert_eq!(distinct.len(), all.len(), "an epoch was granted twice");
    let ledger = place.ledger().await;
    for order in 0..3 {
        let entry = ledger.read(&key(order)).await.unwrap().unwrap();
        let granted = all.iter().filter(|(it, _)| *it == order).count();
        assert_eq!(entry.epoch, granted as u64, "every grant has its epoch");
    }
}

/// Claims every order, in another process.
#[test]
#[ignore = "is started by the test above, with a place and a start signal"]
fn racer() {
    let told = |name| std::env::var(name).expect("the place is named");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let settings = Settings::new(&told(URL)).unwrap();
        let ledger = settings.with_prefix(&told(PREFIX)).connect().await.unwrap();
        println!("\nready");
        let mut signal = String::new();
        std::io::stdin().read_line(&mut signal).unwrap();
        for order in 0..ORDERS {
            match ledger.apply(&key(order), claim(order)).await.unwrap() {
                Answer::Granted(_) => println!("granted {order}"),
                Answer::InProgress => {}
                other => panic!("{other:?}"),
            }
        }
    });
    println!("finished");
}

struct Racer {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Racer {
    fn start(place: &Place) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::racer", "--ignored", "--nocapture"])
            .env(URL, &place.url)
            .env(PREFIX, &place.prefix)
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

const URL: &str = "TOWER_OUTCOME_REDIS_TEST_URL";

const PREFIX: &str = "TOWER_OUTCOME_REDIS_TEST_PREFIX";

const ORDERS: u32 = 100;

const RACERS: usize = 4;
