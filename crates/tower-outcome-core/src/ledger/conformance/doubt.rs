//! What may be done with an entry in doubt.

use std::time::Duration;

use super::races::in_doubt;
use super::{Bench, LEASE, REFUSED, SENDS_FOR, claim, done, release, send, settle, unknown};
use crate::Code;
use crate::ledger::{Answer, Ending, Entry, Event, Grant, Ledger, Resolution, Resolved, State};

pub(super) async fn a_look_is_both_lease_and_backoff<L: Ledger>(bench: &Bench<L>) {
    in_doubt(bench).await;
    let before = bench.entry().await;
    assert_eq!((before.looks, before.look_at), (0, before.updated_at));
    bench.clock.advance(TICK);
    let pause = LEASE * 3;
    bench.applied(look(pause)).await;
    let looked = Entry {
        looks: 1,
        look_at: bench.clock.now().after(pause),
        ..before
    };
    assert_eq!(bench.entry().await, looked, "a look changes nothing else");
    bench.clock.advance(pause.saturating_sub(TICK));
    let early = bench.apply(look(pause)).await;
    assert_eq!(early.ok(), Some(Answer::InProgress));
    assert_eq!(bench.entry().await, looked);
    bench.clock.advance(TICK);
    bench.applied(look(pause)).await;
    assert_eq!(bench.entry().await.looks, 2);
}

pub(super) async fn only_what_is_in_doubt_is_looked_at_resolved_or_sent_again<L: Ledger>(
    bench: &Bench<L>,
) {
    let partial = Ending::Partial { result: None };
    let ends = [
        release(1),
        settle(1, done(b"{}")),
        settle(1, REFUSED),
        settle(1, partial),
    ];
    for (number, end) in (0..).zip(ends) {
        let bench = bench.at("tenant", number);
        bench.fenced(look(LEASE)).await;
        bench.fenced(resend(0)).await;
        bench.granted(claim()).await;
        for next in [None, Some(send(1, "first")), Some(end)] {
            if let Some(next) = next {
                bench.applied(next).await;
            }
            for epoch in [0, 1] {
                bench.fenced(look(LEASE)).await;
                bench.fenced(resend(epoch)).await;
                bench.fenced(found_done(epoch)).await;
                bench.fenced(found_failed(epoch)).await;
            }
        }
    }
}

pub(super) async fn an_ended_lease_is_looked_at_at_once<L: Ledger>(bench: &Bench<L>) {
    let epoch = bench.granted(claim()).await.epoch;
    bench.applied(send(epoch, "first")).await;
    bench.clock.advance(LEASE);
    bench.applied(look(LEASE)).await;
    let entry = bench.entry().await;
    assert_eq!((entry.state, entry.looks), (State::Unknown, 1));
    let again = bench.apply(look(LEASE)).await;
    assert_eq!(again.ok(), Some(Answer::InProgress));
}

pub(super) async fn whoever_sent_before_a_resend_may_bring_proof_and_nothing_else<L: Ledger>(
    bench: &Bench<L>,
) {
    in_doubt(bench).await;
    bench.fenced(resend(0)).await;
    bench.fenced(resend(2)).await;
    let before = bench.entry().await;
    bench.clock.advance(LEASE);
    let granted = bench.apply(resend(1)).await.ok();
    let grant = Grant {
        epoch: 2,
        generation: before.generation,
        maybe_sent: true,
    };
    assert_eq!(granted, Some(Answer::Granted(grant)));
    let sent_again = Entry {
        epoch: 2,
        last_send_by: Some(bench.clock.now().after(SENDS_FOR)),
        ..before
    };
    assert_eq!(bench.entry().await, sent_again);

    // It froze, and now says what it had heard before.
    bench.fenced(send(1, "first")).await;
    bench.fenced(release(1)).await;
    bench.fenced(settle(1, REFUSED)).await;
    bench.fenced(settle(1, unknown())).await;
    bench
        .fenced(settle(1, Ending::Partial { result: None }))
        .await;
    bench.applied(settle(1, done(b"late"))).await;
    assert_eq!(bench.state().await, State::Done);
    bench.fenced(settle(2, REFUSED)).await;
}

pub(super) async fn a_person_speaks_of_the_entry_that_was_shown<L: Ledger>(bench: &Bench<L>) {
    in_doubt(bench).await;
    let sent_again = bench.apply(resend(1)).await;
    assert!(matches!(sent_again, Ok(Answer::Granted(_))));
    bench.clock.advance(LEASE);
    for epoch in [0, 1, 3] {
        bench.fenced(found_failed(epoch)).await;
        bench.fenced(found_done(epoch)).await;
    }
    bench.applied(found_done(2)).await;
    let entry = bench.entry().await;
    assert_eq!((entry.state, entry.code), (State::Done, Some(Code::Done)));
    assert_eq!(entry.result.as_deref(), Some(b"seen".as_slice()));
    let word = Resolution {
        by: "mia".into(),
        reason: "saw it in the \"dashboard\"".into(),
        at: bench.clock.now(),
    };
    assert!(entry.resolution == Some(word), "who, why and when is kept");
}

pub(super) async fn nobody_says_failed_while_something_may_still_be_sent<L: Ledger>(
    bench: &Bench<L>,
) {
    in_doubt(bench).await;
    bench.clock.advance(SENDS_FOR);
    bench.fenced(found_failed(1)).await;
    bench.clock.advance(TICK);
    bench.applied(found_failed(1)).await;
    let entry = bench.entry().await;
    assert_eq!((entry.state, entry.maybe_sent), (State::Failed, false));
    assert_eq!(entry.code, Some(Code::NotSent));
    let moved = u32::from(!bench.ledger.may_lose_writes());
    let next = bench.granted(claim()).await;
    assert_eq!((next.epoch, next.generation), (2, moved));
    let claimed = bench.entry().await;
    assert!(claimed.resolution.is_none(), "it spoke of an earlier claim");

    // Without a send that was announced, the owner may send until its lease has ended.
    let quick = bench.at("tenant", 2);
    quick.granted(super::unannounced()).await;
    quick.applied(settle(1, unknown())).await;
    quick.clock.advance(LEASE);
    quick.fenced(found_failed(1)).await;
    quick.clock.advance(TICK);
    quick.applied(found_failed(1)).await;
}

pub(super) async fn a_new_claim_has_not_been_looked_at<L: Ledger>(bench: &Bench<L>) {
    in_doubt(bench).await;
    bench.applied(look(LEASE)).await;
    bench.applied(settle(1, REFUSED)).await;
    bench.granted(claim()).await;
    let entry = bench.entry().await;
    assert_eq!((entry.looks, entry.look_at), (0, entry.lease_until));
    bench.applied(settle(2, unknown())).await;
    assert_eq!(bench.entry().await.look_at, bench.clock.now());
    bench.applied(look(LEASE)).await;
}

pub(super) async fn a_request_is_kept_until_its_call_has_ended<L: Ledger>(bench: &Bench<L>) {
    let ends = [
        settle(1, done(b"{}")),
        settle(1, REFUSED),
        settle(1, Ending::Partial { result: None }),
        release(1),
        found_done(1),
        Event::Find { result: None },
    ];
    for (number, end) in (0..).zip(ends) {
        let bench = bench.at("tenant", number);
        in_doubt(&bench).await;
        bench.applied(look(LEASE)).await;
        assert!(bench.entry().await.writes[0].request.is_some());
        bench.applied(end).await;
        let writes = bench.entry().await.writes;
        assert!(writes.iter().all(|write| write.request.is_none()));
    }
}

const fn look(again_after: Duration) -> Event {
    Event::Look { again_after }
}

const fn resend(epoch: u64) -> Event {
    let sends_for = SENDS_FOR;
    Event::Resend { epoch, sends_for }
}

fn found_done(epoch: u64) -> Event {
    let result = Some(b"seen".as_slice().into());
    resolve(epoch, Resolved::Done { result })
}

fn found_failed(epoch: u64) -> Event {
    resolve(epoch, Resolved::Failed)
}

fn resolve(epoch: u64, verdict: Resolved) -> Event {
    Event::Resolve {
        epoch,
        verdict,
        by: "mia".into(),
        reason: "saw it in the \"dashboard\"".into(),
    }
}

const TICK: Duration = Duration::from_millis(1);
