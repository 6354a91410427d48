//! Who may change an entry.

use super::{Bench, LEASE, REFUSED, claim, done, release, send, settle, unknown};
use crate::Code;
use crate::ledger::{Claim, Ending, Event, Ledger, Owner, State};

pub(super) async fn only_the_holder_of_the_epoch_may_move_a_claim<L: Ledger>(bench: &Bench<L>) {
    let stale = bench.granted(claim()).await.epoch;
    bench.applied(release(stale)).await;
    let current = bench.granted(claim()).await.epoch;
    for epoch in [stale, current + 1] {
        bench.fenced(send(epoch, "first")).await;
        bench.fenced(release(epoch)).await;
        bench.fenced(settle(epoch, REFUSED)).await;
        bench.fenced(settle(epoch, PARTIAL)).await;
        bench.fenced(settle(epoch, unknown())).await;
    }
    bench.applied(send(current, "first")).await;
    bench.fenced(release(stale)).await;
    bench.applied(release(current)).await;
    assert_eq!(bench.state().await, State::Free);
}

pub(super) async fn an_owner_that_thaws_may_bring_proof_and_nothing_else<L: Ledger>(
    bench: &Bench<L>,
) {
    let thawed = bench.granted(claim()).await.epoch;
    bench.clock.advance(LEASE);
    // With nobody else there, what was not announced may no longer be sent either.
    bench.fenced(send(thawed, "first")).await;
    let other = Claim {
        owner: Owner::from_bytes([8; 16]),
        ..claim()
    };
    let current = bench.granted(other).await.epoch;
    bench.fenced(send(thawed, "first")).await;
    bench.fenced(release(thawed)).await;
    bench.fenced(settle(thawed, REFUSED)).await;

    bench.applied(settle(thawed, done(b"late"))).await;
    assert_eq!(bench.state().await, State::Done);
    bench.fenced(send(current, "first")).await;
    bench.fenced(release(current)).await;
    bench.fenced(settle(current, REFUSED)).await;
}

pub(super) async fn an_owner_that_thaws_before_anyone_else_may_still_prove_a_refusal<L: Ledger>(
    bench: &Bench<L>,
) {
    let grant = bench.granted(claim()).await;
    bench.applied(send(grant.epoch, "first")).await;
    bench.clock.advance(LEASE);
    bench.fenced(send(grant.epoch, "second")).await;
    bench.applied(settle(grant.epoch, REFUSED)).await;
    let entry = bench.entry().await;
    assert_eq!(entry.state, State::Failed);
    assert_eq!(entry.code, Some(Code::Rejected));
    assert!(!entry.maybe_sent, "the refusal is proof");
}

pub(super) async fn an_absent_entry_knows_only_claims<L: Ledger>(bench: &Bench<L>) {
    for epoch in [0, 1] {
        bench.fenced(send(epoch, "first")).await;
        bench.fenced(release(epoch)).await;
        bench.fenced(settle(epoch, done(b"{}"))).await;
        bench.fenced(settle(epoch, REFUSED)).await;
        bench.fenced(settle(epoch, PARTIAL)).await;
        bench.fenced(settle(epoch, unknown())).await;
    }
    bench.fenced(Event::Find { result: None }).await;
    assert_eq!(bench.read().await, None, "nothing was claimed");
}

pub(super) async fn tenants_do_not_meet<L: Ledger>(bench: &Bench<L>) {
    let grant = bench.granted(claim()).await;
    let neighbour = bench.at("another tenant", 1);
    assert_eq!(neighbour.key.key, bench.key.key);
    assert_eq!(neighbour.read().await, None);
    neighbour.granted(claim()).await;
    bench.applied(settle(grant.epoch, done(b"mine"))).await;
    assert_eq!(neighbour.state().await, State::Claimed);
    assert_eq!(neighbour.entry().await.result, None);
    assert_eq!(bench.entry().await.key, bench.key);
}

pub(super) async fn the_generation_moves_on_a_proven_refusal_only<L: Ledger>(bench: &Bench<L>) {
    let released = bench.granted(claim()).await;
    bench.applied(send(released.epoch, "first")).await;
    bench.applied(release(released.epoch)).await;
    let expired = bench.granted(claim()).await;
    bench.clock.advance(LEASE);
    let refused = bench.granted(claim()).await;
    assert_eq!(
        [released.generation, expired.generation, refused.generation],
        [0, 0, 0]
    );

    bench.applied(send(refused.epoch, "first")).await;
    bench.applied(settle(refused.epoch, unknown())).await;
    assert_eq!(bench.entry().await.generation, 0);
    bench.applied(settle(refused.epoch, REFUSED)).await;
    let moved = u32::from(!bench.ledger.may_lose_writes());
    assert_eq!(bench.entry().await.generation, moved);
    let next = bench.granted(claim()).await;
    assert_eq!(next.generation, moved);
    bench.applied(settle(next.epoch, done(b"{}"))).await;
    assert_eq!(bench.entry().await.generation, moved);
}

const PARTIAL: Ending = Ending::Partial { result: None };
