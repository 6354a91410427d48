//! What an entry that has ended answers.

use std::time::Duration;

use super::{Bench, LEASE, REFUSED, claim, done, send, settle, unknown};
use crate::ledger::entry::{RESULT_RETENTION, TOMBSTONE_RETENTION};
use crate::ledger::{Answer, Claim, Ending, Event, Ledger, State};
use crate::{Code, Fingerprint};

pub(super) async fn proof_is_never_overwritten<L: Ledger>(bench: &Bench<L>) {
    let grant = bench.granted(claim()).await;
    bench.applied(send(grant.epoch, "first")).await;
    bench.applied(settle(grant.epoch, done(b"first"))).await;
    let proof = bench.entry().await;
    bench.clock.advance(LEASE);

    bench.fenced(settle(grant.epoch, REFUSED)).await;
    bench.fenced(settle(grant.epoch, unknown())).await;
    bench.fenced(settle(grant.epoch, partial(b"a part"))).await;
    bench.fenced(super::release(grant.epoch)).await;
    bench.fenced(send(grant.epoch, "second")).await;
    bench.applied(settle(grant.epoch, done(b"second"))).await;
    bench.applied(find(b"third")).await;
    assert_eq!(bench.entry().await, proof);
}

pub(super) async fn a_part_is_final<L: Ledger>(bench: &Bench<L>) {
    let grant = bench.granted(claim()).await;
    bench.applied(send(grant.epoch, "first")).await;
    bench.applied(settle(grant.epoch, partial(b"a part"))).await;
    bench.fenced(settle(grant.epoch, done(b"{}"))).await;
    bench.fenced(settle(grant.epoch, REFUSED)).await;
    bench.fenced(settle(grant.epoch, unknown())).await;
    bench.fenced(super::release(grant.epoch)).await;
    bench.fenced(find(b"{}")).await;

    let until = bench.clock.now().after(TOMBSTONE_RETENTION);
    let again = bench.apply(Event::Claim(claim())).await;
    let stored = Answer::Settled {
        code: Code::Partial,
        result: Some(b"a part".as_slice().into()),
        until,
    };
    assert_eq!(again.ok(), Some(stored));
}

pub(super) async fn a_field_that_differs_is_named_once_it_is_done<L: Ledger>(bench: &Bench<L>) {
    let other = || Claim {
        fingerprint: Fingerprint::default()
            .with_part("amount", b"20")
            .with_part("currency", b"usd"),
        ..claim()
    };
    let grant = bench.granted(claim()).await;
    let claimed = bench.apply(Event::Claim(other())).await;
    assert_eq!(claimed.ok(), Some(Answer::InProgress));
    bench.applied(send(grant.epoch, "first")).await;
    let dispatching = bench.apply(Event::Claim(other())).await;
    assert_eq!(dispatching.ok(), Some(Answer::InProgress));
    bench.applied(settle(grant.epoch, unknown())).await;
    let doubtful = bench.apply(Event::Claim(other())).await;
    assert_eq!(doubtful.ok(), Some(Answer::StillConfirming));
    bench.applied(settle(grant.epoch, done(b"{}"))).await;
    let ended = bench.apply(Event::Claim(other())).await;
    let field = "currency".into();
    assert_eq!(ended.ok(), Some(Answer::Differs { field }));
}

pub(super) async fn a_result_is_replayed_until_its_retention_ends<L: Ledger>(bench: &Bench<L>) {
    let grant = bench.granted(claim()).await;
    bench
        .applied(settle(grant.epoch, done(b"{\"id\":7}")))
        .await;
    let until = bench.clock.now().after(TOMBSTONE_RETENTION);

    bench.clock.advance(RESULT_RETENTION);
    let kept = Answer::Settled {
        code: Code::AlreadyDone,
        result: Some(b"{\"id\":7}".as_slice().into()),
        until,
    };
    assert_eq!(bench.apply(Event::Claim(claim())).await.ok(), Some(kept));
    bench.clock.advance(Duration::from_millis(1));
    assert_eq!(
        bench.apply(Event::Claim(claim())).await.ok(),
        Some(omitted(until))
    );
}

pub(super) async fn a_look_up_is_proof_at_any_epoch<L: Ledger>(bench: &Bench<L>) {
    let grant = bench.granted(claim()).await;
    bench.applied(send(grant.epoch, "first")).await;
    bench.applied(settle(grant.epoch, unknown())).await;
    bench.applied(find(b"found")).await;
    let entry = bench.entry().await;
    assert_eq!(entry.state, State::Done);
    assert_eq!(entry.code, Some(Code::Done));
    assert_eq!(entry.result.as_deref(), Some(b"found".as_slice()));
}

const fn omitted(until: crate::ledger::Timestamp) -> Answer {
    Answer::Settled {
        code: Code::ResultOmitted,
        result: None,
        until,
    }
}

fn partial(result: &[u8]) -> Ending {
    let result = Some(result.into());
    Ending::Partial { result }
}

fn find(result: &[u8]) -> Event {
    let result = Some(result.into());
    Event::Find { result }
}
