//! A wish with several keys has one entry.

use serde_json::{Value, json};

use super::races::at_once;
use super::{Bench, LEASE, REFUSED, claim, done, send, settle, unknown};
use crate::ledger::entry::TOMBSTONE_RETENTION;
use crate::ledger::{Answer, Claim, EntryKey, Event, Ledger, Owner, State, alias};
use crate::rule::decimal;
use crate::{Code, Intent, IntentRules};

pub(super) async fn whichever_of_three_versions_comes_first_is_met_by_the_others<L: Ledger>(
    bench: &Bench<L>,
) {
    let replicas: [&[u8]; 6] = [&[1], &[1, 2], &[1, 2, 3], &[2], &[2, 3], &[3]];
    let mut order = 0;
    for first in replicas {
        for second in replicas {
            // Replicas that know no version in common are never at work at once.
            if !first.iter().any(|version| second.contains(version)) {
                continue;
            }
            order += 1;
            let arguments = json!({ "order": order });
            let one = wish(first, &arguments);
            let other = wish(second, &arguments);
            let (place, answer) = claimed(bench, &one).await;
            assert!(matches!(answer, Answer::Granted(_)), "{first:?} {answer:?}");
            let (_, answer) = claimed(bench, &other).await;
            assert_eq!(answer, Answer::InProgress, "{first:?}, then {second:?}");

            bench.clock.advance(LEASE / 2);
            place.applied(settle(1, done(b"{}"))).await;
            let (met, answer) = claimed(bench, &other).await;
            assert_done(&answer, &format!("{first:?}, then {second:?}"));
            assert_eq!(met.key, place.key, "{first:?}, then {second:?}");
        }
    }
}

pub(super) async fn of_two_versions_that_race_one_is_granted<L: Ledger>(bench: &Bench<L>) {
    let mut order = 0;
    for versions in [[&[1][..], &[1, 2]], [&[1, 2], &[2]], [&[1, 2], &[1, 2, 3]]] {
        for claimants in [2, 8, 32] {
            order += 1;
            let wishes = versions.map(|versions| wish(versions, &json!({ "order": order })));
            let asked = (0..claimants).map(|at| claimed(bench, &wishes[at % 2]));
            let answers: Vec<Answer> = (at_once(asked).await.into_iter())
                .map(|(_, answer)| answer)
                .collect();
            let granted = answers.iter().filter(|it| matches!(it, Answer::Granted(_)));
            assert_eq!(granted.count(), 1, "{versions:?} {answers:?}");
            let waiting = answers.iter().filter(|it| matches!(it, Answer::InProgress));
            assert_eq!(waiting.count(), claimants - 1, "{versions:?} {answers:?}");
        }
    }
}

pub(super) async fn a_retired_version_stays_done<L: Ledger>(bench: &Bench<L>) {
    let lives: [[&[u8]; 3]; 3] = [
        [&[1], &[1, 2], &[2]],
        // The entry has the key in the middle.
        [&[2], &[1, 2, 3], &[3]],
        [&[1], &[1, 2, 3], &[3]],
    ];
    for (order, versions) in lives.into_iter().enumerate() {
        let arguments = json!({ "order": order });
        let [former, overlap, new] = versions.map(|it| wish(it, &arguments));
        let (place, _) = claimed(bench, &former).await;
        place.applied(settle(1, done(b"{}"))).await;
        for it in [&overlap, &new, &new] {
            let (_, answer) = claimed(bench, it).await;
            assert_done(&answer, &format!("{versions:?}"));
        }
    }
}

pub(super) async fn an_alias_leads_on_and_is_never_claimed<L: Ledger>(bench: &Bench<L>) {
    let target = bench.at("tenant", 2);
    let (of, shared) = (target.key.key, false);
    bench.applied(Event::Alias { of, shared }).await;
    let entry = bench.entry().await;
    assert_eq!((entry.state, entry.alias_of), (State::Alias, Some(of)));
    assert_eq!(entry.leads_to(), Some(target.key.clone()));
    let asked = bench.apply(Event::Claim(claim())).await;
    assert_eq!(asked.ok(), Some(Answer::Moved(of)));
    for event in [
        settle(0, unknown()),
        settle(0, done(b"{}")),
        Event::Find { result: None },
    ] {
        bench.fenced(event).await;
    }
    assert_eq!(bench.entry().await, entry);

    // What was sent before it became one is proven all the same.
    let failed = bench.at("tenant", 4);
    failed.granted(claim()).await;
    failed.applied(settle(1, REFUSED)).await;
    failed.applied(Event::Alias { of, shared }).await;
    failed.fenced(send(1, "first")).await;
    failed.applied(settle(1, done(b"{}"))).await;
    let again = failed.apply(Event::Claim(claim())).await;
    assert_done(&again.expect("the store answers a claim"), "after proof");

    let own = bench.at("tenant", 3);
    own.granted(claim()).await;
    let asked = own.apply(Event::Alias { of, shared }).await;
    assert_eq!(asked.ok(), Some(Answer::InProgress));
    assert_eq!(own.state().await, State::Claimed);
    own.fenced(Event::Alias {
        of: own.key.key,
        shared,
    })
    .await;
}

/// Rules that no longer tell two wishes apart.
pub(super) async fn an_alias_that_two_wishes_share_leads_nowhere<L: Ledger>(bench: &Bench<L>) {
    let former = IntentRules::new("refund").with_version("1");
    let rules = IntentRules::new("refund").with_version("2");
    let rules = rules.ignore("/reason");
    let overlap = rules.clone().succeeding(former);
    let [late, slow] = ["late", "slow"].map(|reason| json!({ "reason": reason }));
    for arguments in [&late, &slow] {
        let wish = of(&overlap, arguments);
        let (place, answer) = claimed(bench, &wish).await;
        assert!(matches!(answer, Answer::Granted(_)), "{answer:?}");
        place.applied(settle(1, done(b"{}"))).await;
    }
    let (place, answer) = claimed(bench, &of(&rules, &late)).await;
    assert_eq!(answer, Answer::StillConfirming);
    assert!(place.entry().await.is_shared());
    for arguments in [&late, &slow] {
        let (_, answer) = claimed(bench, &of(&overlap, arguments)).await;
        assert_done(&answer, "by its own key");
    }
}

pub(super) async fn tenants_with_equal_keys_have_aliases_of_their_own<L: Ledger>(bench: &Bench<L>) {
    let (of, shared) = (bench.at("tenant", 2).key.key, false);
    for tenant in ["one", "other"] {
        let alias = bench.at(tenant, 1);
        let target = bench.at(tenant, 2);
        assert_eq!(alias.read().await, None);
        assert_eq!(target.read().await, None);
        alias.applied(Event::Alias { of, shared }).await;
        let led = alias.apply(Event::Claim(claim())).await;
        assert_eq!(led.ok(), Some(Answer::Moved(of)));
        target.granted(claim()).await;
        assert_eq!(target.state().await, State::Claimed);
    }
}

pub(super) async fn versions_that_know_nothing_of_each_others_fields_are_not_compared<L: Ledger>(
    bench: &Bench<L>,
) {
    let former = IntentRules::new("refund").with_version("1");
    let former = former.matches("/amount", decimal(2)).ignore("/reason");
    let rules = former.clone().with_version("2");
    let rules = rules.with_secret(b"sixteen bytes or more");
    let overlap = rules.clone().succeeding(former.clone());
    let [cheap, dear] = [20, 30].map(|amount| json!({ "amount": amount }));

    let (place, _) = claimed(bench, &of(&former, &cheap)).await;
    placed(bench, &of(&overlap, &cheap)).await;
    place.applied(settle(1, done(b"{}"))).await;
    // What the former version took down says nothing to who knows the new one alone.
    for amount in [&cheap, &dear] {
        let (_, answer) = claimed(bench, &of(&rules, amount)).await;
        assert_eq!(answer, Answer::StillConfirming);
    }
    // Who knows both has it taken down by both.
    let (_, answer) = claimed(bench, &of(&overlap, &cheap)).await;
    assert_done(&answer, "by both");
    let (_, answer) = claimed(bench, &of(&rules, &cheap)).await;
    assert_done(&answer, "by the new version");
    for rules in [&rules, &overlap, &former] {
        let (_, answer) = claimed(bench, &of(rules, &dear)).await;
        let field = "/amount".into();
        assert_eq!(answer, Answer::Differs { field });
    }
}

pub(super) async fn an_alias_is_kept_until_its_entry_is_gone<L: Ledger>(bench: &Bench<L>) {
    let [former, overlap, new] = [&[1][..], &[1, 2], &[2]].map(|it| wish(it, &json!({})));
    let (place, _) = claimed(bench, &overlap).await;
    place.applied(settle(1, unknown())).await;
    bench.clock.advance(TOMBSTONE_RETENTION * 2);
    purged(bench).await;
    let (_, answer) = claimed(bench, &new).await;
    assert_eq!(answer, Answer::StillConfirming);

    bench.clock.advance(TOMBSTONE_RETENTION * 2);
    place.applied(Event::Find { result: None }).await;
    purged(bench).await;
    let (_, answer) = claimed(bench, &new).await;
    assert!(matches!(answer, Answer::Settled { .. }), "{answer:?}");
    let (_, answer) = claimed(bench, &former).await;
    assert!(matches!(answer, Answer::Settled { .. }), "{answer:?}");

    bench.clock.advance(TOMBSTONE_RETENTION * 2);
    for _ in 0..2 {
        purged(bench).await;
    }
    let counts = bench.ledger.counts().await.expect("the store counts");
    // A store may let the server take it away when its time has come, which is not this clock's.
    assert!([0, 2].contains(&counts.total()), "{counts:?}");
}

/// Somebody may be about to claim where it leads.
pub(super) async fn an_alias_that_is_used_is_not_forgotten<L: Ledger>(bench: &Bench<L>) {
    let [overlap, new] = [&[1, 2][..], &[2]].map(|it| wish(it, &json!({})));
    for user in [overlap.clone(), new.clone()] {
        placed(bench, &overlap).await;
        bench.clock.advance(TOMBSTONE_RETENTION * 2 / 3);
        placed(bench, &user).await;
        bench.clock.advance(TOMBSTONE_RETENTION * 2 / 3);
        purged(bench).await;
        let alias = bench.ledger.read(&EntryKey::of(&new)).await;
        let alias = alias.expect("the store answers a read");
        assert_eq!(alias.map(|alias| alias.state), Some(State::Alias));
        bench.clock.advance(TOMBSTONE_RETENTION * 2);
        purged(bench).await;
    }
}

/// The wish by rules of these versions, each of which succeeds the one before.
pub(super) fn wish(versions: &[u8], arguments: &Value) -> Intent {
    let rules = versions.iter().map(|version| {
        let rules = IntentRules::new("refund").with_version(version.to_string());
        rules.matches("/amount", decimal(2))
    });
    let rules = rules.reduce(|former, rules| rules.succeeding(former));
    of(&rules.expect("there is a version"), arguments)
}

fn of(rules: &IntentRules, arguments: &Value) -> Intent {
    rules.intent("tenant", arguments).expect("it is a wish")
}

/// Claims as a process does, and returns where the wish has its entry.
pub(super) async fn claimed<L: Ledger>(bench: &Bench<L>, wish: &Intent) -> (Bench<L>, Answer) {
    for _ in 0..MOST_MOVES {
        let placed = placed(bench, wish).await;
        let place = Bench {
            ledger: std::sync::Arc::clone(&bench.ledger),
            clock: bench.clock.clone(),
            key: EntryKey::of(&placed),
        };
        let claim = Claim::new(&placed, Owner::from_bytes([7; 16]), LEASE);
        match place.apply(Event::Claim(claim)).await {
            Ok(Answer::Moved(_)) => {}
            answer => return (place, answer.expect("the store answers a claim")),
        }
    }
    panic!("a claim is led on for ever")
}

/// How often another key may come to be known while one is claimed.
const MOST_MOVES: usize = 8;

async fn placed<L: Ledger>(bench: &Bench<L>, wish: &Intent) -> Intent {
    let placed = alias::place(&*bench.ledger, wish).await;
    placed.expect("the wish has a place")
}

async fn purged<L: Ledger>(bench: &Bench<L>) {
    bench.ledger.purge(1_000).await.expect("the store purges");
}

fn assert_done(answer: &Answer, by: &str) {
    let done = matches!(
        answer,
        Answer::Settled {
            code: Code::AlreadyDone,
            ..
        }
    );
    assert!(done, "{by}: {answer:?}");
}
