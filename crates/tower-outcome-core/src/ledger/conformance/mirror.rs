//! Every state meets every event, in the store and in the model at once.

use super::{
    Bench, LEASE, REFUSED, SENDS_FOR, claim, done, release, send, settle, unannounced, unknown,
};
use crate::ledger::entry::MAX_NAME;
use crate::ledger::{
    Answer, Claim, Ending, Entry, EntryKey, Event, Grant, Ledger, LedgerError, Listing,
    MemoryLedger, Owner, Resolved, State,
};
use crate::{Code, Conclusion, Fingerprint, IdempotencyKey};

pub(super) async fn every_state_meets_every_event_as_the_model_does<L: Ledger>(bench: &Bench<L>) {
    let pair = Pair::new(bench);
    let mut number = 0;
    for (state, history) in histories() {
        for ends_lease in [false, true] {
            for event in events() {
                number += 1;
                let key = super::key("tenant", number);
                for past in &history {
                    pair.apply(&key, past.clone()).await;
                }
                assert_eq!(pair.state(&key).await, state, "of {history:?}");
                if ends_lease {
                    bench.clock.advance(LEASE);
                }
                pair.apply(&key, event).await;
            }
        }
    }
    pair.compare_lists().await;
}

/// The store under test and the model.
pub(super) struct Pair<'a, L> {
    bench: &'a Bench<L>,
    model: MemoryLedger,
}

impl<'a, L: Ledger> Pair<'a, L> {
    pub(super) fn new(bench: &'a Bench<L>) -> Self {
        let clock = bench.clock.clone();
        Self {
            bench,
            model: MemoryLedger::new(usize::MAX).with_clock(move || clock.now()),
        }
    }

    /// The epoch of an entry, 0 where there is none.
    pub(super) async fn epoch(&self, key: &EntryKey) -> u64 {
        let read = self.model.read(key).await.ok().flatten();
        read.map_or(0, |entry| entry.epoch)
    }

    /// Applies an event to both, each at a moment of its own, and compares answer and entry.
    pub(super) async fn apply(&self, key: &EntryKey, event: Event) {
        self.bench
            .clock
            .advance(std::time::Duration::from_millis(1));
        let before = self.model.read(key).await;
        let expected = self.model.apply(key, event.clone()).await;
        let expected = expected.map(|answer| self.expected_answer(answer));
        let answered = self.bench.ledger.apply(key, event.clone()).await;
        assert_eq!(
            comparable(answered),
            comparable(expected),
            "{event:?} meets {before:?}"
        );
        let stored = self.bench.ledger.read(key).await;
        let modelled = self.model.read(key).await;
        let modelled = modelled.map(|entry| entry.map(|entry| self.expected_entry(entry)));
        assert_eq!(stored.ok(), modelled.ok(), "after {event:?} met {before:?}");
    }

    /// A store that may lose writes answers as the model does but for the generation.
    fn expected_answer(&self, answer: Answer) -> Answer {
        match answer {
            Answer::Granted(grant) if self.bench.ledger.may_lose_writes() => {
                Answer::Granted(Grant {
                    generation: 0,
                    ..grant
                })
            }
            answer => answer,
        }
    }

    fn expected_entry(&self, mut entry: Entry) -> Entry {
        if self.bench.ledger.may_lose_writes() {
            entry.generation = 0;
        }
        entry
    }

    async fn state(&self, key: &EntryKey) -> Option<State> {
        let read = self.bench.ledger.read(key).await;
        let entry = read.expect("the store answers a read");
        entry.map(|entry| entry.state)
    }

    /// Compares what is listed and counted.
    pub(super) async fn compare_lists(&self) {
        for limit in [1, 10, 100_000] {
            let stored = self.bench.ledger.unresolved(limit).await;
            let modelled = self.expected_list(self.model.unresolved(limit).await);
            assert_eq!(stored.ok(), modelled, "at most {limit} unresolved");
            let stored = self.bench.ledger.due(limit).await;
            let modelled = self.expected_list(self.model.due(limit).await);
            assert_eq!(stored.ok(), modelled, "at most {limit} due");
        }
        let counted = self.bench.ledger.counts().await;
        assert_eq!(counted.ok(), self.model.counts().await.ok());
    }

    fn expected_list(&self, modelled: Result<Listing, LedgerError>) -> Option<Listing> {
        let entries = modelled.ok()?.entries.into_iter();
        let expected = entries.map(|entry| self.expected_entry(entry));
        Some(expected.collect::<Vec<_>>().into())
    }
}

fn comparable(answer: Result<Answer, LedgerError>) -> Result<Answer, String> {
    answer.map_err(|error| error.to_string())
}

/// Every state with a way to it. Epochs are those that the way itself hands out.
pub(super) fn histories() -> Vec<(Option<State>, Vec<Event>)> {
    let claimed = || Event::Claim(claim());
    let after_claim = |events: Vec<Event>| {
        let mut history = vec![claimed()];
        history.extend(events);
        history
    };
    vec![
        (None, vec![]),
        (Some(State::Alias), vec![alias(OTHER, false)]),
        (
            Some(State::Alias),
            vec![alias(OTHER, false), alias(THIRD, true)],
        ),
        (
            Some(State::Alias),
            after_claim(vec![settle(1, REFUSED), alias(OTHER, false)]),
        ),
        (Some(State::Claimed), after_claim(vec![])),
        (Some(State::Claimed), vec![Event::Claim(unannounced())]),
        (
            Some(State::Claimed),
            after_claim(vec![settle(1, REFUSED), claimed()]),
        ),
        (
            Some(State::Dispatching),
            after_claim(vec![send(1, "first")]),
        ),
        (
            Some(State::Dispatching),
            after_claim(vec![send(1, "first"), send(1, "second"), send(1, "first")]),
        ),
        (Some(State::Done), after_claim(vec![settle(1, done(b"{}"))])),
        (
            Some(State::Done),
            after_claim(vec![send(1, "first"), settle(1, done(b"{}"))]),
        ),
        (Some(State::Failed), after_claim(vec![settle(1, REFUSED)])),
        (Some(State::Free), after_claim(vec![release(1)])),
        (
            Some(State::Partial),
            after_claim(vec![settle(1, Ending::Partial { result: None })]),
        ),
        (
            Some(State::Unknown),
            after_claim(vec![send(1, "first"), settle(1, unknown())]),
        ),
        (
            Some(State::Unknown),
            after_claim(vec![settle(1, settled())]),
        ),
        (
            Some(State::Unknown),
            after_claim(vec![
                send(1, "first"),
                settle(1, unknown()),
                Event::Look { again_after: LEASE },
                resend(1),
            ]),
        ),
        (
            Some(State::Done),
            after_claim(vec![settle(1, unknown()), resolve(1, seen(), "mia")]),
        ),
    ]
}

/// Every event, those with an epoch at one that is never, sometimes and often the current one.
pub(super) fn events() -> Vec<Event> {
    let mut events = vec![
        alias(OTHER, false),
        alias(THIRD, false),
        alias(THIRD, true),
        home(OTHER),
        home(THIRD),
        Event::Look { again_after: LEASE },
        Event::Claim(claim()),
        Event::Claim(Claim {
            tool: "another tool".into(),
            owner: Owner::from_bytes([9; 16]),
            lease: LEASE * 2,
            fingerprint: Fingerprint::default().with_part("amount", b"30"),
            announces_sends: false,
        }),
        Event::Find { result: None },
        Event::Find {
            result: Some(b"found".as_slice().into()),
        },
    ];
    for epoch in 0..=2 {
        events.extend([
            resend(epoch),
            resolve(epoch, Resolved::Failed, "mia"),
            resolve(epoch, Resolved::Failed, &"m".repeat(MAX_NAME + 1)),
            resolve(epoch, seen(), "mia"),
            release(epoch),
            send(epoch, "first"),
            send(epoch, "third"),
            settle(epoch, done(b"\0\xff bytes")),
            settle(epoch, REFUSED),
            settle(
                epoch,
                Ending::Partial {
                    result: Some(Box::default()),
                },
            ),
            settle(epoch, settled()),
            settle(epoch, unknown()),
        ]);
    }
    events
}

const fn alias(of: u8, shared: bool) -> Event {
    let of = IdempotencyKey::from_bytes([of; 32]);
    Event::Alias { of, shared }
}

const fn home(instead_of: u8) -> Event {
    let instead_of = IdempotencyKey::from_bytes([instead_of; 32]);
    Event::Home { instead_of }
}

/// Keys that an entry may be an alias of.
const OTHER: u8 = 0xb1;
const THIRD: u8 = 0xb2;

const fn resend(epoch: u64) -> Event {
    let sends_for = SENDS_FOR;
    Event::Resend { epoch, sends_for }
}

fn resolve(epoch: u64, verdict: Resolved, by: &str) -> Event {
    Event::Resolve {
        epoch,
        verdict,
        by: by.into(),
        reason: "saw it in the \"dashboard\"".into(),
    }
}

fn seen() -> Resolved {
    let result = Some(b"seen".as_slice().into());
    Resolved::Done { result }
}

/// A doubt that can no longer land, with what a look-up needs.
fn settled() -> Ending {
    Ending::Unknown {
        conclusion: Conclusion::new(Code::AcceptedPending).settled(),
        result: Some(b"{\"job\":\"j-1\"}".as_slice().into()),
    }
}
