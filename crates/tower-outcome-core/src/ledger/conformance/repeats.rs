//! What took effect and was not acknowledged is asked for again, and happens once.

use super::races::in_doubt;
use super::{
    Bench, LEASE, REFUSED, SENDS_FOR, claim, done, release, send, settle, unannounced, unknown,
};
use crate::ledger::{Answer, Ending, Event, Ledger, Resolved, State};

pub(super) async fn a_claim_asked_for_again_is_not_granted_again<L: Ledger>(bench: &Bench<L>) {
    for (number, claim) in (0..).zip([claim(), unannounced()]) {
        let bench = bench.at("tenant", number);
        bench.granted(claim.clone()).await;
        let before = bench.entry().await;
        let again = bench.apply(Event::Claim(claim)).await;
        assert_eq!(again.ok(), Some(Answer::InProgress));
        assert_eq!(bench.entry().await, before);
    }
}

pub(super) async fn a_send_announced_again_is_one_write<L: Ledger>(bench: &Bench<L>) {
    let epoch = bench.granted(claim()).await.epoch;
    for label in ["first", "first", "second", "first", "second"] {
        bench.applied(send(epoch, label)).await;
    }
    let writes = bench.entry().await.writes;
    let labels: Vec<&str> = writes.iter().map(|write| &*write.label).collect();
    assert_eq!(labels, ["first", "second"]);
}

pub(super) async fn a_release_asked_for_again_frees_nobody_elses_claim<L: Ledger>(
    bench: &Bench<L>,
) {
    let epoch = bench.granted(claim()).await.epoch;
    bench.applied(release(epoch)).await;
    bench.fenced(release(epoch)).await;
    bench.granted(claim()).await;
    bench.fenced(release(epoch)).await;
    assert_eq!(bench.state().await, State::Claimed);
}

pub(super) async fn proof_brought_again_changes_nothing<L: Ledger>(bench: &Bench<L>) {
    let proofs = [
        settle(1, done(b"{}")),
        Event::Find { result: None },
        settle(7, done(b"from an epoch that never was")),
    ];
    for (number, proof) in (0..).zip(proofs) {
        let bench = bench.at("tenant", number);
        in_doubt(&bench).await;
        bench.applied(proof.clone()).await;
        let before = bench.entry().await;
        bench.clock.advance(LEASE);
        bench.applied(proof).await;
        assert_eq!(bench.entry().await, before);
    }
}

pub(super) async fn an_end_settled_again_counts_once<L: Ledger>(bench: &Bench<L>) {
    let partial = Ending::Partial {
        result: Some(b"a part".as_slice().into()),
    };
    for (number, ending) in (0..).zip([REFUSED, partial]) {
        let bench = bench.at("tenant", number);
        in_doubt(&bench).await;
        bench.applied(settle(1, ending.clone())).await;
        bench.fenced(settle(1, ending)).await;
    }
    let doubt = bench.at("tenant", 9);
    in_doubt(&doubt).await;
    let before = doubt.entry().await;
    doubt.applied(settle(1, unknown())).await;
    assert_eq!(doubt.entry().await, before);
}

pub(super) async fn a_look_a_resend_and_a_word_asked_for_again_count_once<L: Ledger>(
    bench: &Bench<L>,
) {
    in_doubt(bench).await;
    bench.applied(Event::Look { again_after: LEASE }).await;
    let before = bench.entry().await;
    let again = bench.apply(Event::Look { again_after: LEASE }).await;
    assert_eq!(again.ok(), Some(Answer::InProgress));
    assert_eq!(bench.entry().await, before);

    let resend = || Event::Resend {
        epoch: 1,
        sends_for: SENDS_FOR,
    };
    let granted = bench.apply(resend()).await;
    assert!(matches!(granted, Ok(Answer::Granted(_))), "{granted:?}");
    bench.fenced(resend()).await;

    let word = |by: &str| Event::Resolve {
        epoch: 2,
        verdict: Resolved::Done { result: None },
        by: by.into(),
        reason: "saw it".into(),
    };
    bench.applied(word("mia")).await;
    bench.fenced(word("mia")).await;
    bench.fenced(word("ben")).await;
}
