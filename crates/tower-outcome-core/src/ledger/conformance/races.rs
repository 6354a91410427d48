//! Of many who want the same at the same time, one gets it.

use std::pin::Pin;
use std::task::Poll;

use super::{Bench, LEASE, REFUSED, SENDS_FOR, claim, release, send, settle, unknown};
use crate::ledger::{Answer, Claim, Event, Ledger, LedgerError, Owner, Resolved, State};

pub(super) async fn of_many_claimants_one_is_granted<L: Ledger>(bench: &Bench<L>) {
    for (number, claimants) in (0..).zip([2, 3, 8, 64]) {
        let bench = bench.at("tenant", number);
        // Nothing there yet; given back; refused; its owner gone.
        for (epoch, way_back) in (1..).zip([Some(release(1)), Some(settle(2, REFUSED)), None, None])
        {
            let winner = one_of(&bench, claimants, epoch).await;
            let entry = bench.entry().await;
            assert_eq!((entry.owner, entry.epoch), (winner, epoch));
            match way_back {
                Some(event) => bench.applied(event).await,
                None => bench.clock.advance(LEASE),
            }
        }
    }
}

pub(super) async fn claims_of_many_tenants_do_not_stop_each_other<L: Ledger>(bench: &Bench<L>) {
    let tenants: Vec<Bench<L>> = (0..32)
        .map(|tenant| bench.at(&format!("tenant {tenant}"), 1))
        .collect();
    let asked = tenants.iter().map(|it| it.apply(Event::Claim(claim())));
    for answer in at_once(asked).await {
        assert!(matches!(answer, Ok(Answer::Granted(_))), "{answer:?}");
    }
}

pub(super) async fn of_many_who_look_one_is_let<L: Ledger>(bench: &Bench<L>) {
    in_doubt(bench).await;
    for looks in 1..=3 {
        let asked = (0..16).map(|_| bench.apply(Event::Look { again_after: LEASE }));
        let answers = at_once(asked).await;
        let let_in = answers
            .iter()
            .filter(|it| matches!(it, Ok(Answer::Applied)));
        assert_eq!(let_in.count(), 1, "{answers:?}");
        let others = answers
            .iter()
            .filter(|it| matches!(it, Ok(Answer::InProgress)));
        assert_eq!(others.count(), 15, "{answers:?}");
        assert_eq!(bench.entry().await.looks, looks);
        bench.clock.advance(LEASE);
    }
}

pub(super) async fn of_many_who_send_again_one_is_granted<L: Ledger>(bench: &Bench<L>) {
    in_doubt(bench).await;
    for epoch in 1..=3 {
        let sends_for = SENDS_FOR;
        let asked = (0..16).map(|_| bench.apply(Event::Resend { epoch, sends_for }));
        let answers = at_once(asked).await;
        let granted = answers
            .iter()
            .filter(|it| matches!(it, Ok(Answer::Granted(grant)) if grant.epoch == epoch + 1));
        assert_eq!(granted.count(), 1, "{answers:?}");
        assert_eq!(fenced(&answers), 15, "{answers:?}");
        assert_eq!(bench.entry().await.epoch, epoch + 1);
    }
}

pub(super) async fn of_a_resend_and_a_word_that_it_failed_one_counts<L: Ledger>(bench: &Bench<L>) {
    for (number, resend_first) in (0..).zip([false, true].repeat(4)) {
        let bench = bench.at("tenant", number);
        in_doubt(&bench).await;
        bench.clock.advance(LEASE);
        let mut events = [
            Event::Resolve {
                epoch: 1,
                verdict: Resolved::Failed,
                by: "mia".into(),
                reason: "it is not there".into(),
            },
            Event::Resend {
                epoch: 1,
                sends_for: SENDS_FOR,
            },
        ];
        if resend_first {
            events.reverse();
        }
        let answers = at_once(events.map(|event| bench.apply(event))).await;
        assert_eq!(fenced(&answers), 1, "{answers:?}");
        let entry = bench.entry().await;
        let sent_again = answers
            .iter()
            .any(|answer| matches!(answer, Ok(Answer::Granted(_))));
        let (state, epoch) = if sent_again {
            (State::Unknown, 2)
        } else {
            (State::Failed, 1)
        };
        assert_eq!((entry.state, entry.epoch), (state, epoch));
    }
}

pub(super) async fn proof_wins_whatever_comes_at_the_same_time<L: Ledger>(bench: &Bench<L>) {
    let found = || Event::Find {
        result: Some(b"found".as_slice().into()),
    };
    for (number, place) in (0..).zip(0..4) {
        let bench = bench.at("tenant", number);
        in_doubt(&bench).await;
        let mut events = vec![settle(1, REFUSED), release(1), settle(1, unknown())];
        events.insert(place, found());
        at_once(events.into_iter().map(|event| bench.apply(event))).await;
        let entry = bench.entry().await;
        assert_eq!(entry.state, State::Done);
        assert_eq!(entry.result.as_deref(), Some(b"found".as_slice()));
    }
}

/// Lets `claimants` claim at once, of whom one has to be granted. Returns who it was.
async fn one_of<L: Ledger>(bench: &Bench<L>, claimants: u8, epoch: u64) -> Owner {
    let owner = |claimant| Owner::from_bytes([claimant; 16]);
    let asked = (0..claimants).map(|claimant| {
        bench.apply(Event::Claim(Claim {
            owner: owner(claimant),
            ..claim()
        }))
    });
    let mut winners = Vec::new();
    for (claimant, answer) in (0..).zip(at_once(asked).await) {
        match answer {
            Ok(Answer::Granted(grant)) => {
                assert_eq!(grant.epoch, epoch);
                winners.push(owner(claimant));
            }
            Ok(Answer::InProgress) => {}
            other => panic!("a claimant among {claimants} is answered {other:?}"),
        }
    }
    assert_eq!(winners.len(), 1, "of {claimants} claimants");
    winners[0]
}

/// An entry at epoch 1 of which nobody knows what became.
pub(super) async fn in_doubt<L: Ledger>(bench: &Bench<L>) {
    let grant = bench.granted(claim()).await;
    bench.applied(send(grant.epoch, "first")).await;
    bench.applied(settle(grant.epoch, unknown())).await;
}

fn fenced(answers: &[Result<Answer, LedgerError>]) -> usize {
    let refused = |answer: &&Result<_, LedgerError>| matches!(answer, Err(it) if it.is_fenced());
    answers.iter().filter(refused).count()
}

/// Asks for all of it before any of it is answered, as far as the store lets that be.
pub(super) async fn at_once<T>(asked: impl IntoIterator<Item: Future<Output = T>>) -> Vec<T> {
    let mut open: Vec<(usize, Pin<Box<_>>)> = asked.into_iter().map(Box::pin).enumerate().collect();
    let mut answers: Vec<Option<T>> = open.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        open.retain_mut(|(place, one)| match one.as_mut().poll(context) {
            Poll::Ready(answer) => {
                answers[*place] = Some(answer);
                false
            }
            Poll::Pending => true,
        });
        if open.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    answers.into_iter().flatten().collect()
}
