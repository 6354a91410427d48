//! What a purge takes, and what it never does.

use std::time::Duration;

use super::{Bench, LEASE, REFUSED, claim, done, release, send, settle, unannounced, unknown};
use crate::Code;
use crate::ledger::entry::{RESULT_RETENTION, TOMBSTONE_RETENTION};
use crate::ledger::{Answer, Ending, Event, Ledger, State};

pub(super) async fn what_may_still_land_is_never_purged<L: Ledger>(bench: &Bench<L>) {
    let lives = [
        vec![send(1, "first")],
        vec![send(1, "first"), settle(1, unknown())],
        vec![
            settle(1, unknown()),
            Event::Look { again_after: LEASE },
            Event::Resend {
                epoch: 1,
                sends_for: LEASE,
            },
        ],
    ];
    let mut open = Vec::new();
    for (number, life) in (0..).zip(lives) {
        let bench = bench.at("tenant", number);
        bench.granted(claim()).await;
        for event in life {
            bench.apply(event).await.expect("it is allowed");
        }
        open.push(bench);
    }
    let quick = bench.at("tenant", 9);
    quick.granted(unannounced()).await;
    open.push(quick);

    for _ in 0..2 {
        bench.clock.advance(TOMBSTONE_RETENTION * 2);
        assert_eq!(purged(bench, 1_000).await, 0);
        for it in &open {
            assert_eq!(it.state().await, State::Unknown);
            let again = it.apply(Event::Claim(claim())).await;
            assert_eq!(again.ok(), Some(Answer::StillConfirming));
        }
    }
}

pub(super) async fn a_claim_is_not_purged_before_its_owner_is_gone<L: Ledger>(bench: &Bench<L>) {
    let lease = TOMBSTONE_RETENTION * 3;
    for (number, announces_sends) in [(1, true), (2, false)] {
        let patient = crate::ledger::Claim {
            lease,
            announces_sends,
            ..claim()
        };
        bench.at("tenant", number).granted(patient).await;
    }
    bench.clock.advance(TOMBSTONE_RETENTION * 2);
    assert_eq!(purged(bench, 1_000).await, 0);
    for number in [1, 2] {
        assert_eq!(bench.at("tenant", number).state().await, State::Claimed);
    }
}

pub(super) async fn what_has_ended_is_recognised_until_its_retention_ends<L: Ledger>(
    bench: &Bench<L>,
) {
    let ends = [
        settle(1, done(b"{}")),
        settle(1, Ending::Partial { result: None }),
        settle(1, REFUSED),
        release(1),
    ];
    for (number, end) in (0..).zip(ends) {
        let bench = bench.at("tenant", number);
        bench.granted(claim()).await;
        bench.applied(end).await;
    }
    bench.clock.advance(RESULT_RETENTION);
    assert_eq!(purged(bench, 1_000).await, 0);
    bench.clock.advance(TICK);
    let stripped = purged(bench, 1_000).await;
    let done = bench.at("tenant", 0);
    let again = done.apply(Event::Claim(claim())).await;
    let Ok(Answer::Settled { code, result, .. }) = again else {
        panic!("what is done is answered {again:?}");
    };
    assert_eq!((code, result), (Code::ResultOmitted, None));

    bench
        .clock
        .advance(TOMBSTONE_RETENTION.saturating_sub(RESULT_RETENTION + TICK));
    assert_eq!(purged(bench, 1_000).await, 0);
    assert_eq!(done.state().await, State::Done);
    bench.clock.advance(TICK);
    let forgotten = purged(bench, 1_000).await;
    // A store may let the server take it away when its time has come, which is not this clock's.
    if stripped == 0 && forgotten == 0 {
        return;
    }
    assert_eq!((stripped, forgotten), (1, 4));
    for number in 0..4 {
        let bench = bench.at("tenant", number);
        assert_eq!(bench.read().await, None);
        assert_eq!(bench.granted(claim()).await.epoch, 1);
    }
}

pub(super) async fn a_purge_takes_a_few_at_a_time<L: Ledger>(bench: &Bench<L>) {
    for number in 0..10 {
        let bench = bench.at("tenant", number);
        bench.granted(claim()).await;
        bench.applied(settle(1, done(b"{}"))).await;
    }
    bench.clock.advance(TOMBSTONE_RETENTION + TICK);
    assert_eq!(purged(bench, 0).await, 0);
    let mut times = 0;
    loop {
        let purged = purged(bench, 3).await;
        assert!(purged <= 3, "{purged} at a time");
        if purged == 0 {
            break;
        }
        times += 1;
    }
    if times == 0 {
        return;
    }
    assert!(times >= 4, "all within {times} times");
    let counts = bench.ledger.counts().await;
    assert_eq!(counts.ok().map(|it| it.total()), Some(0));
}

async fn purged<L: Ledger>(bench: &Bench<L>, limit: usize) -> usize {
    let purged = bench.ledger.purge(limit).await;
    purged.expect("the store purges")
}

const TICK: Duration = Duration::from_millis(1);
