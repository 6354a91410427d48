//! Aliases that lead in a circle lead nobody astray.

use serde_json::json;

use super::aliases::{claimed, wish};
use super::races::at_once;
use super::{Bench, LEASE, REFUSED, claim, done, settle, unknown};
use crate::ledger::{Answer, EntryKey, Event, Ledger, State, alias};
use crate::{IdempotencyKey, Intent};

/// Each of these versions is about to write its alias as if it were alone.
const CIRCLES: [&[&[u8]]; 3] = [&[&[1, 2], &[2, 1]], &[&[1, 2], &[2, 3], &[3, 1]], SIX];

const SIX: &[&[u8]] = &[&[1, 2], &[2, 3], &[3, 4], &[4, 5], &[5, 6], &[6, 1]];

pub(super) async fn of_rules_that_were_taken_back_one_is_granted<L: Ledger>(bench: &Bench<L>) {
    for (order, versions) in CIRCLES.into_iter().enumerate() {
        for claimants in [1, 2, 16] {
            let arguments = json!({ "order": order, "claimants": claimants });
            let wishes: Vec<Intent> = versions.iter().map(|it| wish(it, &arguments)).collect();
            close(bench, &wishes).await;

            for wish in &wishes {
                let found = alias::find(&*bench.ledger, wish).await;
                let (_, entry) = found.expect("the store answers a look");
                assert_eq!(entry.map(|entry| entry.state), Some(State::Free));
            }
            let asked = (0..claimants).map(|at| claimed(bench, &wishes[at % wishes.len()]));
            let answers: Vec<_> = at_once(asked).await;
            let granted = answers.iter().filter(|(_, it)| is_granted(it));
            assert_eq!(
                granted.count(),
                1,
                "{versions:?} {answers:?}",
                answers = shown(&answers)
            );

            for wish in &wishes {
                let (_, answer) = claimed(bench, wish).await;
                assert_eq!(answer, Answer::InProgress, "{versions:?}");
            }
            let (place, _) = &answers[0];
            place.applied(settle(1, done(b"{}"))).await;
            for wish in &wishes {
                let (met, answer) = claimed(bench, wish).await;
                assert!(matches!(answer, Answer::Settled { .. }), "{answer:?}");
                assert_eq!(met.key, place.key, "{versions:?}");
            }
        }
    }
}

pub(super) async fn a_circle_that_is_closed_again_is_opened_where_it_was<L: Ledger>(
    bench: &Bench<L>,
) {
    let wishes = [&[1, 2][..], &[2, 1]].map(|versions| wish(versions, &json!({})));
    let mut places = Vec::new();
    for epoch in 1..4 {
        close(bench, &wishes).await;
        let (place, answer) = claimed(bench, &wishes[usize::from(epoch % 2 == 0)]).await;
        let Answer::Granted(grant) = answer else {
            panic!("the claim is not granted but {answer:?}")
        };
        // What fenced its owners off and what is part of the wire key is not begun anew.
        assert_eq!(grant.epoch, epoch);
        if !bench.ledger.may_lose_writes() {
            assert_eq!(u64::from(grant.generation), epoch - 1);
        }
        place.applied(settle(epoch, REFUSED)).await;
        places.push(place.key);
    }
    assert!(places.iter().all(|place| *place == places[0]));
}

pub(super) async fn only_an_alias_is_set_free_and_only_from_where_it_was_seen_to_lead<L: Ledger>(
    bench: &Bench<L>,
) {
    let [one, other] = [2, 3].map(|number| bench.at("tenant", number).key.key);
    bench.fenced(home(one)).await;
    bench.applied(led(one, false)).await;
    let alias = bench.entry().await;
    stays(bench, home(other)).await;
    assert_eq!(bench.entry().await, alias);
    bench.applied(home(one)).await;
    let free = bench.entry().await;
    assert_eq!((free.state, free.alias_of), (State::Free, None));

    // What several wishes share leads nowhere, and so in no circle.
    let shared = bench.at("tenant", 4);
    shared.applied(led(one, true)).await;
    stays(&shared, home(one)).await;

    let used = bench.at("tenant", 5);
    used.granted(claim()).await;
    stays(&used, home(one)).await;
    bench.clock.advance(LEASE / 2);
    used.applied(settle(1, unknown())).await;
    stays(&used, home(one)).await;
    used.applied(settle(1, done(b"{}"))).await;
    stays(&used, home(one)).await;
}

/// Each wish's second key becomes an alias of its first.
async fn close<L: Ledger>(bench: &Bench<L>, wishes: &[Intent]) {
    for wish in wishes {
        let place = EntryKey::of(wish);
        let younger = wish.successor().expect("there are two versions");
        let alias = Bench {
            ledger: std::sync::Arc::clone(&bench.ledger),
            clock: bench.clock.clone(),
            key: place.at(*younger.own_key()),
        };
        let known = alias.read().await;
        if known.and_then(|known| known.leads_to()) != Some(place.clone()) {
            alias.applied(led(place.key, false)).await;
        }
    }
}

/// The event is not taken and changes nothing.
async fn stays<L: Ledger>(bench: &Bench<L>, event: Event) {
    let before = bench.entry().await;
    let asked = bench.apply(event).await;
    assert_eq!(asked.ok(), Some(Answer::InProgress));
    assert_eq!(bench.entry().await, before);
}

const fn led(of: IdempotencyKey, shared: bool) -> Event {
    Event::Alias { of, shared }
}

const fn home(instead_of: IdempotencyKey) -> Event {
    Event::Home { instead_of }
}

const fn is_granted(answer: &Answer) -> bool {
    matches!(answer, Answer::Granted(_))
}

fn shown<L>(answers: &[(Bench<L>, Answer)]) -> Vec<&Answer> {
    answers.iter().map(|(_, answer)| answer).collect()
}
