//! The rules of a store that outlives its handle.

use std::time::Duration;

use super::mirror::histories;
use super::races::{at_once, in_doubt};
use super::{Bench, Clock, LEASE, REFUSED, aliases, claim, done, release, send, settle};
use crate::ledger::{Answer, Claim, Event, Ledger, Owner, State};

/// A store that can be opened any number of times.
pub(super) struct Shared<'a, F> {
    pub(super) open: &'a F,
    pub(super) number: u32,
    pub(super) clock: Clock,
}

impl<L: Ledger, F: AsyncFn(Clock, u32) -> L> Shared<'_, F> {
    /// One more process.
    async fn open(&self) -> Bench<L> {
        self.open_with(self.clock.clone()).await
    }

    /// One more process, on a machine whose clock differs.
    async fn open_with(&self, clock: Clock) -> Bench<L> {
        let ledger = (self.open)(clock.clone(), self.number).await;
        Bench::new(ledger, clock)
    }
}

pub(super) async fn every_state_is_there_after_a_restart<L: Ledger>(
    store: &Shared<'_, impl AsyncFn(Clock, u32) -> L>,
) {
    let before = store.open().await;
    let mut entries = Vec::new();
    for (number, (_, history)) in (0..).zip(histories()) {
        let bench = before.at("tenant", number);
        for event in history {
            bench.apply(event).await.expect("it is allowed");
        }
        entries.push(bench.read().await);
    }
    let unresolved = before.ledger.unresolved(100).await.ok();
    let counts = before.ledger.counts().await.ok();
    drop(before);

    let after = store.open().await;
    for (number, entry) in (0..).zip(entries) {
        assert_eq!(after.at("tenant", number).read().await, entry);
    }
    assert_eq!(after.ledger.unresolved(100).await.ok(), unresolved);
    assert_eq!(after.ledger.counts().await.ok(), counts);
}

pub(super) async fn two_versions_in_two_processes_race_for_one_claim<L: Ledger>(
    store: &Shared<'_, impl AsyncFn(Clock, u32) -> L>,
) {
    let (former, new) = (store.open().await, store.open().await);
    for (number, versions) in (0..24).zip([[&[1][..], &[1, 2]], [&[1, 2], &[2]]].iter().cycle()) {
        let arguments = serde_json::json!({ "order": number });
        let [one, other] = versions.map(|versions| aliases::wish(versions, &arguments));
        let asked = (0..8).map(|at| {
            let turn = [(&former, &one), (&new, &other)][at % 2];
            aliases::claimed(turn.0, turn.1)
        });
        let met = at_once(asked).await;
        let granted = met
            .iter()
            .filter(|(_, it)| matches!(it, Answer::Granted(_)));
        assert_eq!(granted.count(), 1, "{versions:?}");
        let lost = met.iter().filter(|(_, it)| *it == Answer::InProgress);
        assert_eq!(lost.count(), 7, "{versions:?}");
        let place = &met[0].0;
        place.applied(settle(1, done(b"{}"))).await;
        for (process, wish) in [(&new, &one), (&former, &other)] {
            let (met, answer) = aliases::claimed(process, wish).await;
            assert!(matches!(answer, Answer::Settled { .. }), "{answer:?}");
            assert_eq!(met.key, place.key, "{versions:?}");
        }
    }
}

pub(super) async fn an_owner_that_restarts_is_another_owner<L: Ledger>(
    store: &Shared<'_, impl AsyncFn(Clock, u32) -> L>,
) {
    let before = store.open().await;
    before.granted(claim()).await;
    let sent = before.at("tenant", 2);
    sent.granted(claim()).await;
    sent.applied(send(1, "first")).await;
    drop((before, sent));

    let after = store.open().await;
    let sent = after.at("tenant", 2);
    for bench in [&after, &sent] {
        let again = bench.apply(Event::Claim(claim())).await;
        assert_eq!(again.ok(), Some(Answer::InProgress));
    }
    after.clock.advance(LEASE);
    assert_eq!(after.granted(claim()).await.epoch, 2);
    let again = sent.apply(Event::Claim(claim())).await;
    assert_eq!(again.ok(), Some(Answer::StillConfirming));
}

pub(super) async fn claimants_of_several_processes_race_for_one_claim<L: Ledger>(
    store: &Shared<'_, impl AsyncFn(Clock, u32) -> L>,
) {
    let processes = [
        store.open().await,
        store.open().await,
        store.open().await,
        store.open().await,
    ];
    for number in 0..16 {
        let asked = (0..32_u8).map(|claimant| {
            let process = &processes[usize::from(claimant) % processes.len()];
            let claim = Claim {
                owner: Owner::from_bytes([claimant; 16]),
                ..claim()
            };
            let key = super::key("tenant", number);
            async move { process.ledger.apply(&key, Event::Claim(claim)).await }
        });
        let answers = at_once(asked).await;
        let granted = answers
            .iter()
            .filter(|it| matches!(it, Ok(Answer::Granted(_))));
        assert_eq!(granted.count(), 1, "{answers:?}");
        let lost = answers
            .iter()
            .filter(|it| matches!(it, Ok(Answer::InProgress)));
        assert_eq!(lost.count(), 31, "{answers:?}");
    }
}

pub(super) async fn an_owner_that_thaws_is_fenced_off_by_another_process<L: Ledger>(
    store: &Shared<'_, impl AsyncFn(Clock, u32) -> L>,
) {
    let (frozen, other) = (store.open().await, store.open().await);
    frozen.granted(claim()).await;
    store.clock.advance(LEASE);
    assert_eq!(other.granted(claim()).await.epoch, 2);
    frozen.fenced(send(1, "first")).await;
    frozen.fenced(release(1)).await;
    frozen.fenced(settle(1, REFUSED)).await;
    other.applied(send(2, "first")).await;
    frozen.applied(settle(1, done(b"late"))).await;
    other.fenced(settle(2, REFUSED)).await;
    assert_eq!(other.state().await, State::Done);

    let (frozen, other) = (frozen.at("tenant", 2), other.at("tenant", 2));
    in_doubt(&frozen).await;
    let resend = Event::Resend {
        epoch: 1,
        sends_for: LEASE,
    };
    let granted = other.apply(resend).await;
    assert!(matches!(granted, Ok(Answer::Granted(_))), "{granted:?}");
    frozen.fenced(settle(1, REFUSED)).await;
    frozen.fenced(release(1)).await;
    other.applied(settle(2, REFUSED)).await;
}

pub(super) async fn clocks_that_disagree_cost_patience_and_no_rule<L: Ledger>(
    store: &Shared<'_, impl AsyncFn(Clock, u32) -> L>,
) {
    let ahead = Clock::new();
    ahead.advance(Duration::from_hours(5));
    let (late, early) = (store.open().await, store.open_with(ahead).await);

    // Whoever's clock is ahead takes a claim early, and its owner finds itself fenced off.
    late.granted(claim()).await;
    assert_eq!(early.granted(claim()).await.epoch, 2);
    late.fenced(send(1, "first")).await;
    late.fenced(release(1)).await;
    early.applied(send(2, "first")).await;
    let again = late.apply(Event::Claim(claim())).await;
    assert_eq!(again.ok(), Some(Answer::InProgress));
    early.applied(settle(2, done(b"{}"))).await;
    let again = late.apply(Event::Claim(claim())).await;
    assert!(matches!(again, Ok(Answer::Settled { .. })), "{again:?}");

    // What may have been sent is in doubt early, and never free.
    let (late, early) = (late.at("tenant", 2), early.at("tenant", 2));
    late.granted(claim()).await;
    late.applied(send(1, "first")).await;
    let again = early.apply(Event::Claim(claim())).await;
    assert_eq!(again.ok(), Some(Answer::StillConfirming));
    early.applied(Event::Look { again_after: LEASE }).await;
    late.applied(settle(1, done(b"{}"))).await;
    assert_eq!(early.state().await, State::Done);
}

pub(super) async fn changes_of_another_process_are_told<L: Ledger>(
    store: &Shared<'_, impl AsyncFn(Clock, u32) -> L>,
) {
    let (one, other) = (store.open().await, store.open().await);
    for event in [Event::Claim(claim()), send(1, "first"), settle(1, REFUSED)] {
        let changed = one.ledger.changed(&one.key);
        // What one process asks first may reach a store after what another asks next.
        let before = one.read().await;
        let applied = other.apply(event).await;
        applied.expect("it is allowed");
        changed.await;
        assert_ne!(one.read().await, before);
        assert_eq!(one.read().await, other.read().await);
    }
}
