//! What becomes of a claim whose owner is gone.

use std::time::Duration;

use super::{Bench, LEASE, REFUSED, SENDS_FOR, claim, done, send, settle, unannounced, unknown};
use crate::ledger::{Answer, Ending, Entry, Event, Ledger, State};
use crate::{Code, Landing};

pub(super) async fn a_claim_that_announces_its_sends_ends_free<L: Ledger>(bench: &Bench<L>) {
    let first = bench.granted(claim()).await;
    bench.clock.advance(LEASE.saturating_sub(TICK));
    let early = bench.apply(Event::Claim(claim())).await;
    assert_eq!(early.ok(), Some(Answer::InProgress));

    bench.clock.advance(TICK);
    assert_eq!(bench.state().await, State::Free);
    let second = bench.granted(claim()).await;
    assert!(second.epoch > first.epoch, "a new claim has a new epoch");
    assert_eq!(second.generation, first.generation);
}

pub(super) async fn a_claim_that_does_not_announce_its_sends_ends_unknown<L: Ledger>(
    bench: &Bench<L>,
) {
    bench.granted(unannounced()).await;
    bench.clock.advance(LEASE);
    ends_unknown(bench).await;
}

pub(super) async fn what_was_dispatched_ends_unknown<L: Ledger>(bench: &Bench<L>) {
    let grant = bench.granted(claim()).await;
    bench.applied(send(grant.epoch, "first")).await;
    bench.clock.advance(LEASE);
    ends_unknown(bench).await;
}

pub(super) async fn a_send_prolongs_the_lease<L: Ledger>(bench: &Bench<L>) {
    let grant = bench.granted(claim()).await;
    bench.clock.advance(LEASE.saturating_sub(TICK));
    bench.applied(send(grant.epoch, "first")).await;
    bench.clock.advance(LEASE.saturating_sub(TICK));

    let entry = bench.entry().await;
    assert_eq!(entry.state, State::Dispatching);
    assert_eq!(entry.last_send_by, Some(entry.updated_at.after(SENDS_FOR)));
}

pub(super) async fn an_ended_entry_outlives_every_lease<L: Ledger>(bench: &Bench<L>) {
    let partial = Ending::Partial { result: None };
    for (number, ending) in (0..).zip([done(b"{}"), REFUSED, partial, unknown()]) {
        let bench = bench.at("tenant", number);
        let grant = bench.granted(claim()).await;
        bench.applied(settle(grant.epoch, ending)).await;
        let settled = bench.entry().await;
        bench.clock.advance(LEASE * 1_000);
        assert_eq!(bench.entry().await, settled);
    }
}

pub(super) async fn unresolved_counts_ended_leases_and_lists_the_oldest_first<L: Ledger>(
    bench: &Bench<L>,
) {
    // Neither of them: free once its lease has ended, done, and still alive.
    bench.at("tenant", 0).granted(claim()).await;
    let ended = bench.at("tenant", 1);
    let grant = ended.granted(claim()).await;
    ended.applied(settle(grant.epoch, done(b"{}"))).await;

    let dispatching = bench.at("tenant", 9);
    let grant = dispatching.granted(claim()).await;
    dispatching.applied(send(grant.epoch, "first")).await;
    bench.clock.advance(TICK);
    let unannounced_claim = bench.at("another tenant", 5);
    unannounced_claim.granted(unannounced()).await;
    bench.clock.advance(TICK);
    let doubtful = bench.at("tenant", 4);
    let grant = doubtful.granted(claim()).await;
    doubtful.applied(settle(grant.epoch, unknown())).await;
    assert_eq!(unresolved(bench, 10).await, [doubtful.entry().await]);

    bench.clock.advance(LEASE);
    let alive = bench.at("tenant", 6);
    let grant = alive.granted(claim()).await;
    alive.applied(send(grant.epoch, "first")).await;
    let expected = [
        dispatching.entry().await,
        unannounced_claim.entry().await,
        doubtful.entry().await,
    ];
    assert_eq!(unresolved(bench, 10).await, expected);
    assert_eq!(unresolved(bench, 2).await, expected[..2]);
    assert_eq!(unresolved(bench, 0).await, []);
}

async fn ends_unknown<L: Ledger>(bench: &Bench<L>) {
    let entry = bench.entry().await;
    assert_eq!(entry.state, State::Unknown);
    assert_eq!(entry.code, Some(Code::ResponseLost));
    assert_eq!(entry.landing, Landing::InFlight);
    assert!(entry.maybe_sent, "only proof clears the taint");
    let again = bench.apply(Event::Claim(claim())).await;
    assert_eq!(again.ok(), Some(Answer::StillConfirming));
}

async fn unresolved<L: Ledger>(bench: &Bench<L>, limit: usize) -> Vec<Entry> {
    let listed = bench.ledger.unresolved(limit).await;
    let listed = listed.expect("the store lists what is unresolved");
    listed.entries
}

/// The least step of a ledger's clock.
const TICK: Duration = Duration::from_millis(1);
