//! The rules that every store of entries keeps, as one suite.
//!
//! A store is right when it answers as [`machine::step`](super::machine::step) does, keeps every
//! column of a row, and asks the clock that it was given. The suite compares it with a model event
//! by event, and spells the rules out that must not break even if the model did.
//!
//! ```
//! use tower_outcome_core::MemoryLedger;
//! use tower_outcome_core::ledger::conformance;
//!
//! let suite = conformance::run(async |clock| {
//!     MemoryLedger::new(10_000).with_clock(move || clock.now())
//! });
//! # let mut suite = std::pin::pin!(suite);
//! # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
//! # assert!(suite.as_mut().poll(&mut context).is_ready());
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{
    Answer, Claim, Ending, Entry, EntryKey, Event, Grant, Ledger, LedgerError, Owner, State,
    Timestamp, WriteRecord,
};
use crate::{Code, Fingerprint, IdempotencyKey};

mod expiry;
mod fencing;
mod mirror;
mod settled;

/// Holds a store to every rule. `fresh` makes an empty ledger that reads the time from the clock.
///
/// Needs no runtime of its own: await it on the one that the store needs.
///
/// # Panics
///
/// Where the store breaks a rule or does not answer.
pub async fn run<L: Ledger>(fresh: impl AsyncFn(Clock) -> L) {
    macro_rules! each {
        ($($rule:path,)+) => {$(
            let clock = Clock::new();
            $rule(&Bench::new(fresh(clock.clone()).await, clock)).await;
        )+};
    }
    each! {
        expiry::a_claim_that_announces_its_sends_ends_free,
        expiry::a_claim_that_does_not_announce_its_sends_ends_unknown,
        expiry::what_was_dispatched_ends_unknown,
        expiry::a_send_prolongs_the_lease,
        expiry::an_ended_entry_outlives_every_lease,
        expiry::unresolved_counts_ended_leases_and_lists_the_oldest_first,
        fencing::only_the_holder_of_the_epoch_may_move_a_claim,
        fencing::an_owner_that_thaws_may_bring_proof_and_nothing_else,
        fencing::an_owner_that_thaws_before_anyone_else_may_still_prove_a_refusal,
        fencing::an_absent_entry_knows_only_claims,
        fencing::tenants_do_not_meet,
        fencing::the_generation_moves_on_a_proven_refusal_only,
        mirror::every_state_meets_every_event_as_the_model_does,
        settled::proof_is_never_overwritten,
        settled::a_part_is_final,
        settled::a_field_that_differs_is_named_once_it_is_done,
        settled::a_result_is_replayed_until_its_retention_ends,
        settled::a_result_over_the_cap_is_left_out,
        settled::a_look_up_is_proof_at_any_epoch,
    }
}

/// A clock that stands still until it is moved.
#[derive(Clone, Debug)]
pub struct Clock {
    milliseconds: Arc<AtomicU64>,
}

impl Clock {
    fn new() -> Self {
        Self {
            milliseconds: Arc::new(AtomicU64::new(START)),
        }
    }

    /// The moment at which the clock stands.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        Timestamp(self.milliseconds.load(Ordering::SeqCst))
    }

    fn advance(&self, by: Duration) {
        let now = self.now().after(by);
        self.milliseconds.store(now.0, Ordering::SeqCst);
    }
}

/// A store under test, its clock, and one key that most rules need no more than.
struct Bench<L> {
    ledger: Arc<L>,
    clock: Clock,
    key: EntryKey,
}

impl<L: Ledger> Bench<L> {
    fn new(ledger: L, clock: Clock) -> Self {
        Self {
            ledger: Arc::new(ledger),
            clock,
            key: key("tenant", 1),
        }
    }

    /// Another key of the same store.
    fn at(&self, scope: &str, number: u32) -> Self {
        Self {
            ledger: Arc::clone(&self.ledger),
            clock: self.clock.clone(),
            key: key(scope, number),
        }
    }

    async fn apply(&self, event: Event) -> Result<Answer, LedgerError> {
        self.ledger.apply(&self.key, event).await
    }

    /// Claims, which has to be granted.
    async fn granted(&self, claim: Claim) -> Grant {
        match self.apply(Event::Claim(claim)).await {
            Ok(Answer::Granted(grant)) => grant,
            other => panic!("the claim is not granted but {other:?}"),
        }
    }

    /// Applies an event that has to take effect.
    async fn applied(&self, event: Event) {
        match self.apply(event.clone()).await {
            Ok(Answer::Applied) => {}
            other => panic!("{} does not take effect but is {other:?}", event.as_str()),
        }
    }

    /// Applies an event that has to be fenced off and to leave the entry as it was.
    async fn fenced(&self, event: Event) {
        let before = self.read().await;
        match self.apply(event.clone()).await {
            Err(error) if error.is_fenced() => {}
            other => panic!("{} is not fenced off but {other:?}", event.as_str()),
        }
        assert_eq!(
            self.read().await,
            before,
            "a fenced event changed the entry"
        );
    }

    async fn read(&self) -> Option<Entry> {
        let read = self.ledger.read(&self.key).await;
        read.expect("the store answers a read")
    }

    async fn entry(&self) -> Entry {
        self.read().await.expect("the entry is stored")
    }

    async fn state(&self) -> State {
        self.entry().await.state
    }
}

fn key(scope: &str, number: u32) -> EntryKey {
    let mut bytes = [0xa5; 32];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    EntryKey {
        scope: scope.into(),
        key: IdempotencyKey::from_bytes(bytes),
    }
}

fn claim() -> Claim {
    Claim {
        tool: "refund".into(),
        owner: Owner::from_bytes([7; 16]),
        lease: LEASE,
        fingerprint: Fingerprint::default()
            .with_part("amount", b"20")
            .with_part("currency", b"eur"),
        announces_sends: true,
    }
}

fn send(epoch: u64, label: &str) -> Event {
    Event::Send {
        epoch,
        write: WriteRecord {
            label: label.to_owned(),
            route: "POST api.example/refunds".to_owned(),
            wire_key: "6ff0c3a2-0000-8000-8000-000000000001".to_owned(),
            only: true,
            reference: (label != "first").then(|| "reference-1".to_owned()),
        },
        lease: LEASE,
        sends_for: SENDS_FOR,
    }
}

const fn settle(epoch: u64, ending: Ending) -> Event {
    Event::Settle { epoch, ending }
}

fn done(result: &[u8]) -> Ending {
    Ending::Done {
        code: Code::Done,
        result: Some(result.into()),
    }
}

fn unknown() -> Ending {
    Ending::Unknown {
        conclusion: Code::TimeoutAfterSend.into(),
        result: None,
    }
}

const REFUSED: Ending = Ending::Failed {
    code: Code::Rejected,
};

const LEASE: Duration = Duration::from_secs(30);

const SENDS_FOR: Duration = Duration::from_secs(10);

/// Any moment will do that is no edge of a calendar.
const START: u64 = 1_750_000_000_123;
