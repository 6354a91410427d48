//! The table of lanes: order, hand-over, and what is left behind.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt as _;
use tower_outcome_tools::{Lane, Lanes};

fn lane(n: usize) -> Lane {
    Lane::new(format!("account/{n}"))
}

fn now<F: Future>(future: F) -> Option<F::Output> {
    future.now_or_never()
}

#[test]
fn a_lane_is_held_by_one_and_others_are_free() {
    let lanes = Lanes::new();
    let held = now(lanes.lock([lane(1)])).unwrap();
    assert!(lanes.try_lock([lane(1)]).is_none());
    assert!(lanes.try_lock([lane(2)]).is_some());
    drop(held);
    assert!(lanes.try_lock([lane(1)]).is_some());
    assert!(lanes.is_empty());
}

#[tokio::test]
async fn whoever_comes_first_is_served_first() {
    let lanes = Lanes::new();
    let held = lanes.lock([lane(1)]).await;
    let mut first = pin!(lanes.lock([lane(1)]));
    let mut second = pin!(lanes.lock([lane(1)]));
    assert!(now(first.as_mut()).is_none());
    assert!(now(second.as_mut()).is_none());
    drop(held);
    assert!(now(second.as_mut()).is_none());
    let held = now(first.as_mut()).unwrap();
    // Nobody overtakes those who wait.
    assert!(lanes.try_lock([lane(1)]).is_none());
    drop(held);
    drop(now(second.as_mut()).unwrap());
    assert!(lanes.is_empty());
}

#[tokio::test]
async fn a_lane_named_twice_is_taken_once() {
    let lanes = Lanes::new();
    let held = now(lanes.lock([lane(1), lane(2), lane(1)])).unwrap();
    assert_eq!(lanes.len(), 2);
    drop(held);
    assert!(lanes.is_empty());
}

#[tokio::test]
async fn two_that_want_the_same_lanes_in_other_orders_do_not_wait_for_each_other() {
    let lanes = Lanes::new();
    let middle = lanes.lock([lane(2)]).await;
    let mut one = pin!(lanes.lock([lane(1), lane(2)]));
    let mut other = pin!(lanes.lock([lane(2), lane(1)]));
    assert!(now(one.as_mut()).is_none());
    assert!(now(other.as_mut()).is_none());
    drop(middle);
    drop(now(one.as_mut()).unwrap());
    drop(now(other.as_mut()).unwrap());
    assert!(lanes.is_empty());
}

#[tokio::test]
async fn one_that_leaves_while_it_waits_gives_up_what_it_had() {
    let lanes = Lanes::new();
    let held = lanes.lock([lane(2)]).await;
    {
        let mut both = pin!(lanes.lock([lane(1), lane(2)]));
        assert!(now(both.as_mut()).is_none());
        assert!(lanes.try_lock([lane(1)]).is_none());
    }
    assert!(lanes.try_lock([lane(1)]).is_some());
    drop(held);
    assert!(lanes.is_empty());
}

#[tokio::test]
async fn one_that_leaves_at_its_turn_hands_the_lane_on() {
    let lanes = Lanes::new();
    let held = lanes.lock([lane(1)]).await;
    let mut last = {
        let mut next = pin!(lanes.lock([lane(1)]));
        let mut last = Box::pin(lanes.lock([lane(1)]));
        assert!(now(next.as_mut()).is_none());
        assert!(now(last.as_mut()).is_none());
        drop(held); // it is its turn now, and it does not know yet
        last
    };
    drop(now(last.as_mut()).unwrap());
    assert!(lanes.is_empty());
}

#[tokio::test]
async fn nothing_is_left_of_a_hundred_thousand_that_waited_and_left() {
    let lanes = Lanes::new();
    for round in 0..100 {
        let held = lanes.lock([lane(round)]).await;
        let mut waiting: Vec<_> = (0..1000)
            .map(|_| Box::pin(lanes.lock([lane(round)])))
            .collect();
        for wait in &mut waiting {
            assert!(now(wait.as_mut()).is_none());
        }
        if round % 2 == 0 {
            drop(held);
            drop(waiting);
        } else {
            // The holder leaves while one waits, who leaves then.
            let last = waiting.pop();
            drop(waiting);
            drop(held);
            drop(last);
        }
    }
    assert_eq!(lanes.len(), 0);
}

/// Most lanes here are free when they are wanted, and some are wanted by many at that very moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_lane_is_held_by_one_however_threads_meet_there() {
    let lanes = Lanes::new();
    let inside: Arc<[AtomicUsize]> = (0..5).map(|_| AtomicUsize::new(0)).collect();
    let workers = (0..8_usize).map(|worker| {
        let (lanes, inside) = (lanes.clone(), Arc::clone(&inside));
        tokio::spawn(async move {
            for turn in 0..5_000_usize {
                let wanted = [(turn + worker) % 5, (turn * worker) % 5];
                let held = lanes.lock(wanted.map(lane)).await;
                for n in wanted {
                    inside[n].fetch_add(1, Ordering::SeqCst);
                }
                if turn % 7 == 0 {
                    tokio::task::yield_now().await;
                }
                for n in wanted {
                    let own = wanted.iter().filter(|other| **other == n).count();
                    assert_eq!(inside[n].load(Ordering::SeqCst), own);
                }
                for n in wanted {
                    inside[n].store(0, Ordering::SeqCst);
                }
                drop(held);
            }
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.await.unwrap();
    }
    assert!(lanes.is_empty());
}

#[test]
fn a_table_shrinks_after_its_lanes_were_left() {
    let lanes = Lanes::new();
    let counted = allocation_counter::measure(|| {
        let held: Vec<_> = (0..100_000)
            .map(|n| now(lanes.lock([lane(n)])).unwrap())
            .collect();
        drop(held);
    });
    assert!(counted.bytes_current < 1 << 20, "{counted:?}");
    assert!(lanes.is_empty());
}

#[test]
fn debug_shows_no_names() {
    let lanes = Lanes::new();
    let held = lanes.try_lock([lane(7)]);
    assert!(!format!("{:?} {lanes:?} {held:?}", lane(7)).contains("account"));
}
