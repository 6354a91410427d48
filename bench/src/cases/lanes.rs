//! The table of lanes.

use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::sync::Mutex;
use tower_outcome_tools::{Held, Lane, Lanes};

use crate::measure::allocations::alive;
use crate::measure::wall::compare;
use crate::measure::{Case, Measured, Run, real};

pub(super) const CASES: &[Case] = &[Case {
    name: "lanes.turn",
    prepare: turns,
}];

/// What is left behind, and what a lane that is held takes.
pub(super) fn counts(measured: &mut Measured) {
    let lanes = Lanes::new();
    let ((), bytes) = alive(|| {
        let held = now(lanes.lock([Lane::new("account/0")]));
        for _ in 0..WAITING {
            let mut waiting = pin!(lanes.lock([Lane::new("account/0")]));
            assert!(poll(waiting.as_mut()).is_pending());
        }
        drop(held);
    });
    measured.note("lanes.left", "entries", real(lanes.len() as u64));
    measured.note("lanes.left", "bytes alive", bytes);

    let names: Vec<Lane> = (0..KEYS)
        .map(|n| Lane::new(format!("account/{n}")))
        .collect();
    let (held, with_guards) = alive(|| {
        let mut held = Vec::with_capacity(names.len());
        held.extend(names.iter().map(lock_in(&lanes)));
        held
    });
    let guard = size_of_val(&held[0]);
    let table = with_guards / f64::from(KEYS) - real(guard as u64);
    measured.note("lanes.held", "bytes alive", table);
    drop(held);

    let lanes = Lanes::new();
    let ((), left) = alive(|| drop(names.iter().map(lock_in(&lanes)).collect::<Vec<_>>()));
    measured.note("lanes.released", "bytes alive", left / f64::from(KEYS));
}

/// Beside a lock that has no name.
pub(super) fn times(measured: &mut Measured) {
    let mutex = Mutex::new(());
    let alone: Run = Box::new(move |times| {
        for _ in 0..times {
            drop(black_box(now(mutex.lock())));
        }
    });
    compare([turns(), turns()], vec![alone]).note(measured, &["lanes.mutex"]);
}

/// Takes a lane of many and gives it back.
fn turns() -> Run {
    let lanes = Lanes::new();
    let names: Arc<[Lane]> = (0..NAMES)
        .map(|n| Lane::new(format!("account/{n}")))
        .collect();
    let mut turn = 0;
    Box::new(move |times| {
        for _ in 0..times {
            let lane = names[turn % NAMES].clone();
            turn += 1;
            drop(black_box(now(lanes.lock([lane]))));
        }
    })
}

fn lock_in(lanes: &Lanes) -> impl Fn(&Lane) -> Held {
    |lane| now(lanes.lock([lane.clone()]))
}

fn now<F: Future>(future: F) -> F::Output {
    match poll(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("nobody else holds it"),
    }
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

const NAMES: usize = 64;

const KEYS: u32 = 1_000_000;

const WAITING: u32 = 100_000;
