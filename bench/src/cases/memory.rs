//! The ledger in memory, beside tables that only remember.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tower_outcome_core::ledger::entry::TOMBSTONE_RETENTION;
use tower_outcome_core::ledger::{
    Answer, Claim, Ending, EntryKey, Event, Ledger, Owner, Timestamp,
};
use tower_outcome_core::{Code, Intent, MemoryLedger};

use self::tables::{Moka, Sharded, Table};
use crate::measure::allocations::alive;
use crate::measure::wall::at;
use crate::measure::{Case, Measured, Run};

mod tables;

pub(super) const CASES: &[Case] = &[
    case("memory.ledger.pair", || pairs(Ours::new())),
    case("memory.sharded_map.pair", || pairs(Sharded::new())),
    case("memory.moka.pair", || pairs(Moka::new())),
];

const fn case(name: &'static str, prepare: fn() -> Run) -> Case {
    Case { name, prepare }
}

/// What an entry takes, once it is done.
pub(super) fn counts(measured: &mut Measured) {
    let (keys, claim) = (keys(ENTRIES), claim());
    let (ledger, bytes) = alive(|| {
        let ledger = Ours::new();
        for key in &keys {
            ledger.pair(key, &claim);
        }
        ledger
    });
    drop(ledger);
    measured.note("memory.entry", "bytes alive", bytes / f64::from(ENTRIES));
}

/// How long a caller waits at worst while a table grows.
pub(super) fn times(measured: &mut Measured) {
    let (keys, claim) = (keys(ENTRIES), claim());
    let worst = |table: &dyn Table| {
        let waits = keys.iter().map(|key| {
            let began = Instant::now();
            table.pair(key, &claim);
            began.elapsed()
        });
        waits.max().unwrap_or_default().as_secs_f64() * 1e3
    };
    // Twice, as whatever else runs may stop anybody: the better one counts.
    let fill = |make: fn() -> Box<dyn Table>| worst(&*make()).min(worst(&*make()));
    let names = [
        "memory.ledger.worst",
        "memory.sharded_map.worst",
        "memory.moka.worst",
    ];
    let tables: [fn() -> Box<dyn Table>; 3] = [
        || Box::new(Ours::new()),
        || Box::new(Sharded::new()),
        || Box::new(Moka::new()),
    ];
    for (name, make) in names.iter().zip(tables) {
        measured.note(name, "milliseconds", fill(make));
    }
}

/// How long a purge takes that takes a whole part of the table away: for no longer does it hold any of
/// its locks. Of ten the longest but one, as whatever else runs may stop anybody, and the longest.
pub(super) fn purges(measured: &mut Measured) {
    let (keys, claim) = (keys(ENTRIES), claim());
    let worst = || {
        let late = Arc::new(AtomicBool::new(false));
        let clock = Arc::clone(&late);
        let ledger = MemoryLedger::default().with_clock(move || {
            let now = Timestamp(1);
            if clock.load(Ordering::Relaxed) {
                now.after(TOMBSTONE_RETENTION * 2)
            } else {
                now
            }
        });
        let ledger = Ours(ledger);
        for key in &keys {
            ledger.pair(key, &claim);
        }
        late.store(true, Ordering::Relaxed);
        let mut took = Vec::new();
        loop {
            let began = Instant::now();
            let purged = ledger.purge(PART);
            took.push(began.elapsed().as_secs_f64() * 1e3);
            if purged < PART {
                break;
            }
        }
        took.sort_by(f64::total_cmp);
        [at(&took, 0.9), at(&took, 1.0)]
    };
    let (one, other) = (worst(), worst());
    measured.note("memory.purge", "milliseconds", one[0].min(other[0]));
    measured.note("memory.purge.longest", "milliseconds", one[1].min(other[1]));
}

/// Claims and ends, a key of its own each time, the first ones again once all were used.
fn pairs(table: impl Table + 'static) -> Run {
    let (keys, claim) = (keys(MANY), claim());
    let mut next = 0;
    Box::new(move |times| {
        for _ in 0..times {
            table.pair(black_box(&keys[next % keys.len()]), &claim);
            next += 1;
        }
    })
}

struct Ours(MemoryLedger);

impl Ours {
    fn new() -> Self {
        Self(MemoryLedger::default())
    }

    /// As the claim layer asks it.
    fn apply(&self, key: &EntryKey, event: Event) -> Answer {
        let ledger = self.0.immediate().expect("memory is at hand");
        ledger.apply_now(key, event).expect("there is room")
    }

    fn purge(&self, limit: usize) -> usize {
        let mut purged = self.0.purge(limit);
        match purged
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(purged) => purged.expect("memory is at hand"),
            Poll::Pending => unreachable!("memory is at hand"),
        }
    }
}

impl Table for Ours {
    fn pair(&self, key: &EntryKey, claim: &Claim) {
        let Answer::Granted(grant) = self.apply(key, Event::Claim(claim.clone())) else {
            return;
        };
        let ending = Ending::Done {
            code: Code::Done,
            result: Some(Box::from(RESULT.as_slice())),
        };
        self.apply(
            key,
            Event::Settle {
                epoch: grant.epoch,
                ending,
            },
        );
    }
}

fn keys(many: u32) -> Vec<EntryKey> {
    let keys = (0..many).map(|order| {
        let intent = Intent::explicit("acme", "refund", &order.to_string());
        intent.map(|intent| EntryKey::of(&intent))
    });
    keys.collect::<Result<_, _>>()
        .expect("the key is not blank")
}

fn claim() -> Claim {
    let intent = Intent::explicit("acme", "refund", "1").expect("the key is not blank");
    Claim::new(&intent, Owner::random(), Duration::from_mins(1))
}

const RESULT: &[u8; 8] = b"{\"id\":7}";

/// As many as are asked for while a case is counted.
const MANY: u32 = 1100;

const ENTRIES: u32 = 1_000_000;

/// More rows than a part of the table has.
const PART: usize = 4096;
