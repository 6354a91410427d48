//! Two processes with two versions of the rules, in every order of their steps, and with a crash
//! between any two: one of them sends.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::json;
use tower_outcome_core::ledger::{
    Answer, Claim, Ending, Entry, EntryKey, Event, Ledger, LedgerFuture, Owner, alias,
};
use tower_outcome_core::{Code, Intent, IntentRules, MemoryLedger, forward_ledger};

/// One bit a step: whose it is.
const STEPS: u32 = 13;

#[test]
fn whatever_the_order_of_their_steps_one_of_two_versions_is_granted() {
    let mut both_ran = 0;
    for versions in [
        [&[1][..], &[1, 2]],
        [&[1, 2], &[2]],
        [&[1, 2], &[1, 2]],
        // Rules that were taken back while both versions are at work.
        [&[1, 2], &[2, 1]],
    ] {
        for order in 0..1_u32 << STEPS {
            let ledger = Arc::new(Stepping(MemoryLedger::default()));
            let mut processes =
                versions.map(|versions| Box::pin(claimed(Arc::clone(&ledger), wish(versions))));
            let mut answers = [None, None];
            for step in 0..STEPS {
                let turn = (order >> step & 1) as usize;
                if answers[turn].is_none() {
                    answers[turn] = step_of(processes[turn].as_mut());
                }
            }
            both_ran += u32::from(answers.iter().all(Option::is_some));
            let granted = answers.iter().flatten();
            let granted: Vec<_> = granted.filter(|(_, it)| is_granted(it)).collect();
            assert!(granted.len() <= 1, "{versions:?} in the order {order:b}");

            // Whoever has not come to its end is gone. Of those that come next one is granted, unless
            // one was.
            drop(processes);
            let mut next = versions.map(|versions| end(claimed(ledger.clone(), wish(versions))));
            let sent = next.iter().filter(|(_, it)| is_granted(it)).count();
            assert_eq!(
                granted.len() + sent,
                1,
                "{versions:?} in the order {order:b}"
            );

            next.sort_by_key(|(_, it)| !is_granted(it));
            let (place, _) = granted.first().copied().unwrap_or(&next[0]);
            end(ledger.apply(place, done())).unwrap();
            for versions in versions {
                let (met, answer) = end(claimed(ledger.clone(), wish(versions)));
                assert!(matches!(answer, Answer::Settled { .. }), "{answer:?}");
                assert_eq!(met, *place, "{versions:?} in the order {order:b}");
            }
        }
    }
    assert!(
        both_ran > 1000,
        "{both_ran} orders let both come to their end"
    );
}

/// To their ends, in orders drawn at random.
#[test]
fn of_versions_that_take_over_from_each_other_in_a_circle_one_is_granted() {
    // Every two have a version in common, as replicas at work at the same time must.
    let circles: [&[&[u8]]; 5] = [
        &[&[1, 2], &[2, 1]],
        &[&[1, 2], &[2, 1], &[1, 2], &[2, 1]],
        &[&[1, 2], &[2, 1], &[1]],
        &[&[1, 2], &[2, 1], &[2]],
        &[&[1, 2], &[2, 3], &[3, 1]],
    ];
    for seed in 1..20_000_u64 {
        let versions = circles[usize::try_from(seed % 5).unwrap()];
        let ledger = Arc::new(Stepping(MemoryLedger::default()));
        let processes = versions
            .iter()
            .map(|it| claimed(Arc::clone(&ledger), wish(it)));
        let mut processes: Vec<_> = processes.map(|process| Some(Box::pin(process))).collect();
        let (mut granted, mut random) = (0, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        while processes.iter().any(Option::is_some) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let turn = usize::try_from(random % processes.len() as u64).unwrap();
            let Some(process) = &mut processes[turn] else {
                continue;
            };
            if let Some((_, answer)) = step_of(process.as_mut()) {
                granted += u32::from(is_granted(&answer));
                processes[turn] = None;
            }
        }
        assert_eq!(granted, 1, "{versions:?} by the seed {seed}");
    }
}

#[test]
fn a_wish_is_shown_under_the_key_of_its_entry() {
    let ledger = Arc::new(Stepping(MemoryLedger::default()));
    let [former, both, new] = [&[1][..], &[1, 2], &[2]].map(wish);
    assert_ne!(former.key(), new.key());
    end(claimed(ledger.clone(), both));
    let placed = end(alias::place(&*ledger, &new)).unwrap();
    assert_eq!(placed.key(), former.key());
    let style = tower_outcome_core::KeyFormat::Uuid;
    assert_eq!(placed.render(3, style), former.render(3, style));
    assert!(placed.is_named_by(new.key()) && placed.is_named_by(former.key()));
    // Another time the same is wished is not there.
    let again = placed.with_occurrence(1);
    assert_eq!(again.key(), new.clone().with_occurrence(1).key());

    let (found, entry) = end(alias::find(&*ledger, &new)).unwrap();
    assert_eq!(found.key(), former.key());
    assert_eq!(entry.unwrap().key, EntryKey::of(&former));
}

fn wish(versions: &[u8]) -> Intent {
    let rules = versions
        .iter()
        .map(|version| IntentRules::new("refund").with_version(version.to_string()));
    let rules = rules.reduce(|former, rules| rules.succeeding(former));
    rules.unwrap().intent("acme", &json!({})).unwrap()
}

/// Claims as a process does.
async fn claimed(ledger: Arc<Stepping>, wish: Intent) -> (EntryKey, Answer) {
    loop {
        let placed = alias::place(&*ledger, &wish).await.unwrap();
        let key = EntryKey::of(&placed);
        let claim = Claim::new(&placed, Owner::random(), Duration::from_secs(30));
        match ledger.apply(&key, Event::Claim(claim)).await.unwrap() {
            Answer::Moved(_) => {}
            answer => return (key, answer),
        }
    }
}

fn done() -> Event {
    let ending = Ending::Done {
        code: Code::Done,
        result: None,
    };
    Event::Settle { epoch: 1, ending }
}

const fn is_granted(answer: &Answer) -> bool {
    matches!(answer, Answer::Granted(_))
}

fn step_of<T>(future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

fn end<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Some(output) = step_of(future.as_mut()) {
            return output;
        }
    }
}

/// A ledger that lets others come in before each step.
struct Stepping(MemoryLedger);

impl Ledger for Stepping {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(async move {
            others_first().await;
            self.0.apply(key, event).await
        })
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        Box::pin(async move {
            others_first().await;
            self.0.read(key).await
        })
    }

    forward_ledger!(self => self.0; unresolved due page counts purge changed);
}

async fn others_first() {
    let mut first = true;
    std::future::poll_fn(move |_| {
        if std::mem::take(&mut first) {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
}
