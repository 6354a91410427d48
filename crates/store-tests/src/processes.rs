//! Processes that race for the same entries.
//!
//! A process is the test program itself, started for its test `processes::racer`, which is ignored
//! otherwise and calls [`race`].

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use tower_outcome_core::ledger::{Answer, Ledger};

use crate::orders::{claim, key};

const ORDERS: u32 = 100;

const RACERS: usize = 4;

/// Starts several processes in an environment and has them race.
///
/// # Panics
///
/// If an order was granted to none or to two of them.
pub fn exactly_one_is_granted_each_claim(environment: &[(&str, &str)]) {
    let racers = std::iter::repeat_with(|| Racer::start(environment));
    let mut racers: Vec<Racer> = racers.take(RACERS).collect();
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

/// Claims every order once the signal comes. The ledger is opened by all processes at once as well.
///
/// # Panics
///
/// If a claim is answered by other than a grant or the news that it is another's.
pub async fn race(ledger: &impl Ledger) {
    println!("\nready");
    let mut signal = String::new();
    let read = std::io::stdin().read_line(&mut signal);
    read.expect("a signal");
    for order in 0..ORDERS {
        match ledger.apply(&key(order), claim(order)).await {
            Ok(Answer::Granted(_)) => println!("granted {order}"),
            Ok(Answer::InProgress) => {}
            other => panic!("{other:?}"),
        }
    }
    println!("finished");
}

/// One of the processes.
#[derive(Debug)]
pub struct Racer {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Racer {
    /// Starts it. It waits for [`Racer::go`].
    ///
    /// # Panics
    ///
    /// If it can't be started.
    #[must_use]
    pub fn start(environment: &[(&str, &str)]) -> Self {
        let program = std::env::current_exe().expect("the test program");
        let mut child = Command::new(program)
            .args(["--exact", "processes::racer", "--ignored", "--nocapture"])
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        Self { child, lines }
    }

    /// Waits until it says a line.
    ///
    /// # Panics
    ///
    /// If it ends without.
    pub fn wait_for(&mut self, line: &str) {
        let found = self.lines.any(|said| said.expect("a line") == line);
        assert!(found, "the process ended without {line}");
    }

    /// Gives the signal.
    ///
    /// # Panics
    ///
    /// If it has ended, or had the signal.
    pub fn go(&mut self) {
        let mut signal = self.child.stdin.take().expect("its first signal");
        signal.write_all(b"go\n").expect("a process that lives");
    }

    /// Ends it wherever it is.
    ///
    /// # Panics
    ///
    /// If it has ended.
    pub fn kill(mut self) {
        self.child.kill().expect("a process that lives");
        self.child.wait().expect("its end");
    }

    /// The orders that it was granted.
    fn finish(mut self) -> Vec<u32> {
        let lines = self.lines.by_ref().map(|line| line.expect("a line"));
        let lines: Vec<String> = lines.collect();
        assert!(self.child.wait().expect("its end").success());
        assert!(lines.iter().any(|line| line == "finished"));
        let granted = lines
            .iter()
            .filter_map(|line| line.strip_prefix("granted "));
        granted
            .map(|order| order.parse().expect("a number"))
            .collect()
    }
}
