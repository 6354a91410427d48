//! What a ledger believes of a row that others have changed.

use std::sync::Arc;

use tower_outcome_core::ledger::{Answer, Claim, Event, Ledger, Owner, State, Timestamp};
use tower_outcome_core::{Code, Fingerprint};

use crate::support::{Place, claim, granted, key, send};

#[tokio::test]
async fn a_belief_that_others_have_outdated_costs_a_look_and_is_never_answered() {
    let place = Place::new();
    let (one, other) = (place.ledger().await, place.ledger().await);
    // One believes the row claimed, epoch 1; the other releases it behind its back.
    let grant = granted(&one, 1).await;
    let code = Code::NotSent;
    let epoch = grant.epoch;
    let release = Event::Release { epoch, code };
    other.apply(&key(1), release.clone()).await.unwrap();
    assert!(matches!(
        one.apply(&key(1), claim(1)).await.unwrap(),
        Answer::Granted(grant) if grant.epoch == 2
    ));
    let stale = other.apply(&key(1), release).await.unwrap_err();
    assert!(stale.is_fenced());
}

#[tokio::test]
async fn a_refusal_is_never_decided_on_a_belief() {
    let place = Place::new();
    let (one, other) = (place.ledger().await, place.ledger().await);
    granted(&one, 1).await;
    let code = Code::NotSent;
    let release = |epoch| Event::Release { epoch, code };
    other.apply(&key(1), release(1)).await.unwrap();
    granted(&other, 1).await;
    // By what this one has seen, nobody holds epoch 2 and somebody holds epoch 1.
    let claimed = one.apply(&key(1), claim(1)).await.unwrap();
    assert_eq!(claimed, Answer::InProgress);
    assert!(one.apply(&key(1), send(1)).await.unwrap_err().is_fenced());
    assert_eq!(one.apply(&key(1), send(2)).await.unwrap(), Answer::Applied);
    let entry = other.read(&key(1)).await.unwrap().unwrap();
    assert_eq!(entry.state, State::Dispatching);
}

#[tokio::test]
async fn a_row_that_was_made_anew_is_never_taken_for_the_old_one() {
    let place = Place::new();
    let at = |time| place.settings().with_clock(move || Timestamp(time));
    let one = at(1_000).connect().await.unwrap();
    granted(&one, 1).await;
    let client = place.client().await;
    client.batch_execute("DELETE FROM entries").await.unwrap();
    // Same key, same epoch, same count of changes; another claim.
    let anew = Claim {
        tool: "another".into(),
        owner: Owner::from_bytes([9; 16]),
        lease: std::time::Duration::from_hours(2),
        fingerprint: Fingerprint::default().with_part("amount", b"30"),
        announces_sends: true,
    };
    let other = at(2_000).connect().await.unwrap();
    other.apply(&key(1), Event::Claim(anew)).await.unwrap();
    let before = other.read(&key(1)).await.unwrap().unwrap();

    one.apply(&key(1), send(1)).await.unwrap();
    let after = other.read(&key(1)).await.unwrap().unwrap();
    assert_eq!(after.tool, before.tool);
    assert_eq!(after.owner, before.owner);
    assert_eq!(after.created_at, before.created_at);
    assert_eq!(after.fingerprint, before.fingerprint);
}

/// Many ledgers claim the same entries, each in one statement, all at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_claim_the_same_entries_in_one_statement_each_is_granted_once() {
    let place = Place::new();
    let mut racing = tokio::task::JoinSet::new();
    let start = Arc::new(tokio::sync::Barrier::new(6));
    for _ in 0..6 {
        let ledger = Arc::new(place.ledger().await);
        let start = Arc::clone(&start);
        racing.spawn(async move {
            let mut claims = tokio::task::JoinSet::new();
            start.wait().await;
            for order in 0..300 {
                let ledger = Arc::clone(&ledger);
                claims.spawn(async move { ledger.apply(&key(order), claim(order)).await.unwrap() });
            }
            let answers = claims.join_all().await.into_iter();
            let granted = answers.filter(|answer| match answer {
                Answer::Granted(grant) => grant.epoch == 1,
                Answer::InProgress => false,
                other => panic!("{other:?}"),
            });
            granted.count()
        });
    }
    let granted: usize = racing.join_all().await.into_iter().sum();
    assert_eq!(granted, 300);
}
