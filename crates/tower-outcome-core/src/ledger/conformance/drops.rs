//! Whoever no longer waits for an answer finds that all of it was done, or nothing.

use std::future::poll_fn;
use std::task::Poll;

use super::mirror::{events, histories};
use super::races::at_once;
use super::{Bench, claim};
use crate::ledger::{Answer, Entry, EntryKey, Event, Ledger, LedgerError, Timestamp, machine};

pub(super) async fn what_nobody_waits_for_is_done_whole_or_not_at_all<L: Ledger>(bench: &Bench<L>) {
    let lives = histories().into_iter().flat_map(|(_, history)| {
        let events = events().into_iter();
        let current = events.filter(|it| it.epoch().is_none_or(|epoch| epoch == 1));
        current.map(move |event| (history.clone(), event))
    });
    let left = (0..)
        .zip(lives)
        .map(|(number, (history, event))| async move {
            leave(&bench.at("tenant", number), history, event).await;
        });
    at_once(left).await;
}

/// Asks for an event after a history, and leaves before the answer.
async fn leave<L: Ledger>(bench: &Bench<L>, history: Vec<Event>, event: Event) {
    let mut world = World::new(bench);
    for past in &history {
        // Its answer is the business of other rules.
        let _ = bench.apply(past.clone()).await;
        let _ = world.meet(past.clone());
    }
    left_at_once(bench, event.clone()).await;

    // It comes before the next one, never, or after it.
    let next = || Event::Claim(claim());
    let (mut before, mut never, mut after) = (world.clone(), world.clone(), world);
    let _ = before.meet(event.clone());
    let met_before = before.meet(next());
    let met_after = never.meet(next());
    let _ = after.meet(next());
    let _ = after.meet(event.clone());

    let answer = bench.apply(next()).await.map_err(|error| error.to_string());
    let entry = bench.read().await;
    let whole = answer == met_before && entry == before.entry;
    let nothing = answer == met_after && entry == never.entry;
    let later = answer == met_after && entry == after.entry;
    assert!(
        whole || nothing || later,
        "after {history:?} a {event:?} that was left ends as {answer:?} {entry:?}"
    );
}

/// Polls once, as somebody does whose caller is gone.
async fn left_at_once<L: Ledger>(bench: &Bench<L>, event: Event) {
    let mut asked = bench.ledger.apply(&bench.key, event);
    poll_fn(|context| {
        let _ = asked.as_mut().poll(context);
        Poll::Ready(())
    })
    .await;
}

/// An entry as it would be.
#[derive(Clone)]
struct World {
    key: EntryKey,
    entry: Option<Entry>,
    now: Timestamp,
    keeps_generation: bool,
}

impl World {
    fn new<L: Ledger>(bench: &Bench<L>) -> Self {
        Self {
            key: bench.key.clone(),
            entry: None,
            now: bench.clock.now(),
            keeps_generation: bench.ledger.may_lose_writes(),
        }
    }

    fn meet(&mut self, event: Event) -> Result<Answer, String> {
        let stepped = machine::step(&self.key, self.entry.as_ref(), event, self.now);
        let (next, answer) = stepped.map_err(|refused| LedgerError::from(refused).to_string())?;
        if let Some(mut next) = next {
            if self.keeps_generation {
                next.generation = 0;
            }
            self.entry = Some(next);
        }
        Ok(answer)
    }
}
