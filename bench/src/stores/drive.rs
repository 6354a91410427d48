//! Pairs as fast as they go, by one task or by many, in turns.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tower_outcome_core::ledger::{Answer, Claim, Ending, EntryKey, Event, Ledger, Owner};
use tower_outcome_core::{Code, IdempotencyKey, Intent};

use crate::measure::wall::at;
use crate::measure::{Measured, real};

/// Claims keys that nobody has claimed, and ends the claims.
pub(super) struct Pairs<L> {
    ledger: Arc<L>,
    claim: Claim,
}

impl<L: Ledger> Pairs<L> {
    pub(super) fn of(ledger: L) -> Self {
        let intent = Intent::explicit("acme", "refund", "1").expect("the key is not blank");
        Self {
            ledger: Arc::new(ledger),
            claim: Claim::new(&intent, Owner::random(), Duration::from_mins(1)),
        }
    }

    pub(super) async fn one(&self) {
        let scope = "acme".into();
        let key = IdempotencyKey::from_bytes(fresh());
        let key = EntryKey { scope, key };
        let claim = Event::Claim(self.claim.clone());
        let claimed = self.ledger.apply(&key, claim).await;
        let Ok(Answer::Granted(grant)) = claimed else {
            panic!("a fresh key is granted: {claimed:?}");
        };
        let ending = Ending::Done {
            code: Code::Done,
            result: Some(Box::from(RESULT.as_slice())),
        };
        let epoch = grant.epoch;
        let ended = self
            .ledger
            .apply(&key, Event::Settle { epoch, ending })
            .await;
        assert!(
            matches!(ended, Ok(Answer::Applied)),
            "a claim ends: {ended:?}"
        );
    }

    /// How fast so many tasks make pairs.
    pub(super) async fn rate(&self, tasks: usize) -> Rate {
        let pairs = self.clone();
        rate(tasks, move || {
            let pairs = pairs.clone();
            async move { pairs.one().await }
        })
        .await
    }

    /// So many pairs, by so many tasks.
    pub(super) async fn some(&self, tasks: u64, each: u64) {
        let mut working = JoinSet::new();
        for _ in 0..tasks {
            let pairs = self.clone();
            working.spawn(async move {
                for _ in 0..each {
                    pairs.one().await;
                }
            });
        }
        working.join_all().await;
    }
}

impl<L> Clone for Pairs<L> {
    fn clone(&self) -> Self {
        Self {
            ledger: Arc::clone(&self.ledger),
            claim: self.claim.clone(),
        }
    }
}

/// How fast pairs were made.
#[derive(Clone, Copy)]
pub(super) struct Rate {
    /// Pairs a second.
    pub(super) pairs: f64,
    /// How long this process computed for a pair, in microseconds.
    pub(super) computing: f64,
}

impl Rate {
    /// So many pairs since then.
    pub(super) fn since(began: Instant, computed: f64, done: u64) -> Self {
        Self {
            pairs: real(done) / began.elapsed().as_secs_f64(),
            computing: (computed_so_far() - computed) / real(done.max(1)),
        }
    }

    /// Of another process.
    pub(super) const fn elsewhere(pairs: f64) -> Self {
        Self {
            pairs,
            computing: 0.0,
        }
    }
}

/// How long all threads of this process have been on a processor, in microseconds. Zero where the
/// system does not tell.
pub(super) fn computed_so_far() -> f64 {
    let threads = fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    let times = threads.filter_map(|thread| {
        let times = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        times.split(' ').next()?.parse::<u64>().ok()
    });
    real(times.sum()) / 1e3
}

/// How fast so many tasks do it, for a second.
pub(super) async fn rate<F, W>(tasks: usize, work: F) -> Rate
where
    F: Fn() -> W + Clone + Send + 'static,
    W: Future<Output = ()> + Send,
{
    let (began, computed) = (Instant::now(), computed_so_far());
    let mut working = JoinSet::new();
    for _ in 0..tasks {
        let work = work.clone();
        working.spawn(async move {
            let mut done = 0;
            while began.elapsed() < TURN {
                work().await;
                done += 1;
            }
            done
        });
    }
    let done: u64 = working.join_all().await.iter().sum();
    Rate::since(began, computed, done)
}

/// One after the other, in another order each round, as often as there are rounds: what each came
/// to.
pub(super) fn alternate(turns: &mut [&mut dyn FnMut() -> Rate]) -> Vec<Vec<Rate>> {
    let mut rates = vec![Vec::new(); turns.len()];
    for round in 0..ROUNDS {
        for place in 0..turns.len() {
            let turn = (place + round) % turns.len();
            rates[turn].push(turns[turn]());
        }
    }
    rates
}

/// Notes how many times as many the first did as the second, and how far the second was from
/// itself, which took part twice.
pub(super) fn note(measured: &mut Measured, name: &str, [ours, floor, again]: [&[Rate]; 3]) {
    let pairs = |rates: &[Rate]| median(rates.iter().map(|rate| rate.pairs));
    let computing = |rates: &[Rate]| median(rates.iter().map(|rate| rate.computing));
    measured.note(name, "times as many", ratio(ours, floor));
    measured.note(name, "noise", (ratio(again, floor) - 1.0).abs());
    measured.note(name, "pairs a second", pairs(ours));
    measured.note(name, "pairs a second beside", pairs(floor));
    measured.note(name, "us computing", computing(ours));
    measured.note(name, "us computing beside", computing(floor));
}

fn ratio(ours: &[Rate], floor: &[Rate]) -> f64 {
    let rounds = ours.iter().zip(floor);
    median(rounds.map(|(ours, floor)| ours.pairs / floor.pairs))
}

pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    at(&values, 0.5)
}

/// One thread for all tasks: a store's writers are threads or tasks of their own.
pub(super) fn runtime() -> Result<Runtime, String> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|error| error.to_string())
}

/// A key that nobody has had, like a digest.
pub(super) fn fresh() -> [u8; 32] {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let start = u64::from(std::process::id()) << 32;
    let mut state = (start + NEXT.fetch_add(1, Ordering::Relaxed)).wrapping_mul(ODD);
    let mut key = [0; 32];
    for word in key.as_chunks_mut().0 {
        state = (state ^ (state >> 29)).wrapping_mul(ODD).wrapping_add(1);
        *word = (state ^ (state >> 32)).to_le_bytes();
    }
    key
}

/// 2^64 by the golden ratio.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

pub(super) const RESULT: &[u8; 8] = b"{\"id\":7}";

const ROUNDS: usize = 5;

const TURN: Duration = Duration::from_secs(1);
