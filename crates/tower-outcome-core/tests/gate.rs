//! The laws of the gate.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use tower_outcome_core::gate::WaitSealed;
use tower_outcome_core::{Gate, Seen};

#[test]
fn nothing_passes_after_a_seal() {
    let gate = Gate::new();
    assert_eq!(gate.seal(), Seen::Never);
    assert!(gate.pass().is_err());
    assert!(gate.clone().pass().is_err());
    assert!(gate.child().pass().is_err());
    assert_eq!(gate.look(), Seen::Never);
    assert!(gate.is_sealed());
}

#[test]
fn what_passed_before_a_seal_is_seen_by_it() {
    let gate = Gate::new();
    let pass = gate.pass().unwrap();
    assert_eq!(gate.look(), Seen::InFlight);
    assert_eq!(gate.seal(), Seen::InFlight);
    drop(pass);
    assert_eq!(gate.look(), Seen::Left);
}

#[test]
fn a_second_seal_tells_what_is_known_by_then() {
    let gate = Gate::new();
    let pass = gate.pass().unwrap();
    assert_eq!(gate.seal(), Seen::InFlight);
    pass.prove_unsent();
    assert_eq!(gate.seal(), Seen::Never);
}

#[test]
fn proof_takes_an_attempt_back_and_the_next_may_pass() {
    let gate = Gate::new();
    gate.pass().unwrap().prove_unsent();
    assert_eq!(gate.look(), Seen::Never);
    drop(gate.pass().unwrap());
    assert_eq!(gate.seal(), Seen::Left);
}

#[test]
fn what_may_have_left_is_never_taken_back() {
    let gate = Gate::new();
    let (first, second) = (gate.pass().unwrap(), gate.pass().unwrap());
    drop(first);
    second.prove_unsent();
    gate.pass().unwrap().prove_unsent();
    assert_eq!(gate.look(), Seen::Left);
    assert_eq!(gate.seal(), Seen::Left);
}

#[test]
fn one_that_may_have_left_outweighs_one_in_flight() {
    let gate = Gate::new();
    let (first, second) = (gate.pass().unwrap(), gate.pass().unwrap());
    drop(first);
    assert_eq!(gate.look(), Seen::Left);
    assert_eq!(gate.seal(), Seen::Left);
    second.prove_unsent();
}

#[test]
fn proof_of_one_attempt_leaves_another_in_flight() {
    let gate = Gate::new();
    let (first, second) = (gate.pass().unwrap(), gate.pass().unwrap());
    first.prove_unsent();
    assert_eq!(gate.seal(), Seen::InFlight);
    second.prove_unsent();
    assert_eq!(gate.look(), Seen::Never);
}

#[test]
fn sealing_a_parent_stops_its_children_at_any_depth() {
    let parent = Gate::new();
    let child = parent.child();
    let grandchild = child.child();
    assert_eq!(parent.seal(), Seen::Never);
    assert!(child.is_sealed() && grandchild.is_sealed());
    assert!(child.pass().is_err());
    assert!(grandchild.pass().is_err());
    assert_eq!(grandchild.look(), Seen::Never);
}

#[test]
fn sealing_a_child_leaves_its_siblings_and_its_parent_open() {
    let parent = Gate::new();
    let (sealed, sibling) = (parent.child(), parent.child());
    assert_eq!(sealed.seal(), Seen::Never);
    assert!(sealed.pass().is_err());
    assert_eq!(
        parent.look(),
        Seen::Never,
        "a refused attempt is not counted above"
    );
    assert!(!parent.is_sealed() && !sibling.is_sealed());
    sibling.pass().unwrap().prove_unsent();
    parent.pass().unwrap().prove_unsent();
    assert_eq!(parent.seal(), Seen::Never);
}

#[test]
fn what_passes_a_child_is_seen_by_its_parent_and_not_by_its_siblings() {
    let parent = Gate::new();
    let (child, sibling) = (parent.child(), parent.child());
    let pass = child.pass().unwrap();
    assert_eq!(
        (parent.look(), child.look()),
        (Seen::InFlight, Seen::InFlight)
    );
    assert_eq!(sibling.look(), Seen::Never);
    drop(pass);
    assert_eq!((parent.look(), child.look()), (Seen::Left, Seen::Left));
    assert_eq!(sibling.seal(), Seen::Never);
}

#[test]
fn proof_in_one_child_does_not_clear_anothers() {
    let parent = Gate::new();
    let (first, second) = (parent.child(), parent.child());
    let (one, two) = (first.pass().unwrap(), second.pass().unwrap());
    one.prove_unsent();
    assert_eq!((first.look(), parent.look()), (Seen::Never, Seen::InFlight));
    drop(two);
    first.pass().unwrap().prove_unsent();
    assert_eq!(first.seal(), Seen::Never);
    assert_eq!(parent.seal(), Seen::Left);
}

#[test]
fn a_seal_wakes_who_waits_on_the_gate_and_below_it() {
    let parent = Gate::new();
    let child = parent.child();
    let mut on_parent = Waiter::new(&parent);
    let mut on_child = Waiter::new(&child);
    assert!(on_parent.poll().is_pending() && on_child.poll().is_pending());
    parent.seal();
    assert!(on_parent.woken() && on_child.woken());
    assert!(on_parent.poll().is_ready() && on_child.poll().is_ready());
}

#[test]
fn a_seal_of_a_child_ends_no_wait_of_a_sibling_and_loses_none() {
    let parent = Gate::new();
    let (child, sibling) = (parent.child(), parent.child());
    let mut waiter = Waiter::new(&sibling);
    assert!(waiter.poll().is_pending());
    child.seal();
    assert!(waiter.poll().is_pending());
    waiter.forget_wakes();
    parent.seal();
    assert!(waiter.woken());
    assert!(waiter.poll().is_ready());
}

#[test]
fn a_wait_on_a_sealed_gate_ends_at_once() {
    let gate = Gate::new();
    gate.seal();
    assert!(Waiter::new(&gate).poll().is_ready());
    assert!(Waiter::new(&gate.child()).poll().is_ready());
}

#[test]
fn a_wait_wakes_the_task_that_polled_it_last() {
    let gate = Gate::new();
    let (first, last) = (Arc::<Woken>::default(), Arc::<Woken>::default());
    let mut wait = pin!(gate.sealed());
    for woken in [&first, &last] {
        let waker = Waker::from(Arc::clone(woken));
        let mut context = Context::from_waker(&waker);
        assert!(wait.as_mut().poll(&mut context).is_pending());
    }
    gate.seal();
    assert_eq!(first.0.load(Ordering::SeqCst), 0);
    assert_eq!(last.0.load(Ordering::SeqCst), 1);
}

#[test]
fn a_wait_leaves_no_waker_behind() {
    let gate = Gate::new();
    let mut waiter = Waiter::new(&gate.child());
    for _ in 0..3 {
        assert!(waiter.poll().is_pending());
    }
    let woken = waiter.give_up();
    assert_eq!(Arc::strong_count(&woken), 1, "after the wait was dropped");

    let mut waiter = Waiter::new(&gate);
    assert!(waiter.poll().is_pending());
    gate.seal();
    assert!(waiter.poll().is_ready());
    let woken = waiter.give_up();
    assert_eq!(Arc::strong_count(&woken), 1, "after the gate was sealed");
}

#[test]
fn no_pass_succeeds_after_any_seal_returned() {
    for round in 0..ROUNDS {
        let parent = Gate::new();
        let (returned, dropped) = (AtomicBool::new(false), AtomicUsize::new(0));
        let start = Barrier::new(THREADS + 1);
        let at_seal = thread::scope(|scope| {
            for number in 0..THREADS {
                let gate = if number % 2 == 0 {
                    parent.child()
                } else {
                    parent.clone()
                };
                let (start, returned, dropped) = (&start, &returned, &dropped);
                scope.spawn(move || {
                    start.wait();
                    for attempt in 0.. {
                        let too_late = returned.load(Ordering::SeqCst);
                        let Ok(pass) = gate.pass() else { break };
                        assert!(!too_late, "passed after the seal had returned");
                        // Some rounds drop nothing, most only now and then.
                        if round % 4 != 0 && attempt % 7 == number {
                            dropped.fetch_add(1, Ordering::SeqCst);
                            drop(pass);
                        } else {
                            pass.prove_unsent();
                        }
                    }
                });
            }
            start.wait();
            for _ in 0..round % 64 {
                std::hint::spin_loop();
            }
            let seen = parent.seal();
            returned.store(true, Ordering::SeqCst);
            seen
        });
        let any_left = dropped.into_inner() > 0;
        let end = if any_left { Seen::Left } else { Seen::Never };
        assert_eq!(parent.look(), end, "every attempt is accounted for");
        if at_seal == Seen::Never {
            assert!(!any_left, "the seal said that nothing can have left");
        }
    }
}

#[test]
fn a_seal_knows_whether_the_attempt_that_it_met_has_passed() {
    race(
        |gate, round| {
            let gate = if round % 2 == 0 {
                gate.clone()
            } else {
                gate.child()
            };
            gate.pass().is_ok() // and counts as left from here on
        },
        |passed, seen| assert_eq!(passed, seen != Seen::Never, "the seal saw {seen:?}"),
    );
}

#[test]
fn no_wait_sleeps_through_a_seal() {
    race(
        |gate, _| {
            let mut waiter = Waiter::new(gate);
            let pending = waiter.poll().is_pending();
            (waiter, pending)
        },
        |(waiter, pending), _| {
            assert!(
                !pending || waiter.woken(),
                "sealed while it was going to sleep"
            );
        },
    );
}

/// Lets `act` meet a seal at every possible moment, and hands both results to `check`.
fn race<T>(act: impl Fn(&Gate, usize) -> T, check: impl Fn(T, Seen)) {
    let gates: Vec<Gate> = (0..RACES).map(|_| Gate::new()).collect();
    let acting = AtomicUsize::new(0);
    let (answers, seals) = mpsc::channel();
    let mut results = Vec::with_capacity(RACES);
    thread::scope(|scope| {
        let (gates, acting) = (&gates, &acting);
        scope.spawn(move || {
            for (round, gate) in gates.iter().enumerate() {
                spin_until(|| acting.load(Ordering::SeqCst) > round);
                for _ in 0..round % 64 {
                    std::hint::spin_loop();
                }
                answers.send(gate.seal()).unwrap();
            }
        });
        for (round, gate) in gates.iter().enumerate() {
            acting.store(round + 1, Ordering::SeqCst);
            results.push((act(gate, round), seals.recv().unwrap()));
        }
    });
    for (result, seen) in results {
        check(result, seen);
    }
}

/// A wait for a seal, and how often it was woken.
struct Waiter {
    wait: Pin<Box<WaitSealed>>,
    woken: Arc<Woken>,
}

impl Waiter {
    fn new(gate: &Gate) -> Self {
        Self {
            wait: Box::pin(gate.sealed()),
            woken: Arc::default(),
        }
    }

    fn poll(&mut self) -> Poll<()> {
        let waker = Waker::from(Arc::clone(&self.woken));
        self.wait.as_mut().poll(&mut Context::from_waker(&waker))
    }

    fn woken(&self) -> bool {
        self.woken.0.load(Ordering::SeqCst) > 0
    }

    fn forget_wakes(&self) {
        self.woken.0.store(0, Ordering::SeqCst);
    }

    fn give_up(self) -> Arc<Woken> {
        self.woken
    }
}

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn spin_until(done: impl Fn() -> bool) {
    for spun in 0_u32.. {
        if done() {
            return;
        }
        // Without a core for each thread the other one may need this one.
        if spun > 10_000 {
            thread::yield_now();
        }
    }
}

const ROUNDS: usize = 500;

const RACES: usize = 100_000;

const THREADS: usize = 3;
