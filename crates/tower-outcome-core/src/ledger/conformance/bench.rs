//! A store under test, and the calls that the rules make.

use std::sync::Arc;
use std::time::Duration;

use super::Clock;
use crate::ledger::{
    Answer, Claim, Ending, Entry, EntryKey, Event, Grant, Ledger, LedgerError, Owner, State,
    StoredRequest, WriteRecord,
};
use crate::{Code, Fingerprint, IdempotencyKey};

/// A store under test, its clock, and one key that most rules need no more than.
pub(super) struct Bench<L> {
    pub(super) ledger: Arc<L>,
    pub(super) clock: Clock,
    pub(super) key: EntryKey,
}

impl<L: Ledger> Bench<L> {
    pub(super) fn new(ledger: L, clock: Clock) -> Self {
        Self {
            ledger: Arc::new(ledger),
            clock,
            key: key("tenant", 1),
        }
    }

    /// Another key of the same store.
    pub(super) fn at(&self, scope: &str, number: u32) -> Self {
        Self {
            ledger: Arc::clone(&self.ledger),
            clock: self.clock.clone(),
            key: key(scope, number),
        }
    }

    pub(super) async fn apply(&self, event: Event) -> Result<Answer, LedgerError> {
        self.ledger.apply(&self.key, event).await
    }

    /// Claims, which has to be granted.
    pub(super) async fn granted(&self, claim: Claim) -> Grant {
        match self.apply(Event::Claim(claim)).await {
            Ok(Answer::Granted(grant)) => grant,
            other => panic!("the claim is not granted but {other:?}"),
        }
    }

    /// Applies an event that has to take effect.
    pub(super) async fn applied(&self, event: Event) {
        match self.apply(event.clone()).await {
            Ok(Answer::Applied) => {}
            other => panic!("{} does not take effect but is {other:?}", event.as_str()),
        }
    }

    /// Applies an event that has to be fenced off and to leave the entry as it was.
    pub(super) async fn fenced(&self, event: Event) {
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

    pub(super) async fn read(&self) -> Option<Entry> {
        let read = self.ledger.read(&self.key).await;
        read.expect("the store answers a read")
    }

    pub(super) async fn entry(&self) -> Entry {
        self.read().await.expect("the entry is stored")
    }

    pub(super) async fn state(&self) -> State {
        self.entry().await.state
    }
}

pub(super) fn key(scope: &str, number: u32) -> EntryKey {
    let mut bytes = [0xa5; 32];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    EntryKey {
        scope: scope.into(),
        key: IdempotencyKey::from_bytes(bytes),
    }
}

pub(super) fn claim() -> Claim {
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

/// A claim whose sends are not announced.
pub(super) fn unannounced() -> Claim {
    Claim {
        announces_sends: false,
        ..claim()
    }
}

pub(super) fn send(epoch: u64, label: &str) -> Event {
    Event::Send {
        epoch,
        write: WriteRecord {
            label: label.to_owned(),
            route: "POST api.example/refunds".to_owned(),
            wire_key: "6ff0c3a2-0000-8000-8000-000000000001".to_owned(),
            only: true,
            reference: (label != "first").then(|| "reference-1".to_owned()),
            profile: (label != "first").then(|| "billing".into()),
            credential: (label == "first").then(|| "c-1".to_owned()),
            request: (label == "first").then(|| StoredRequest::new(*b"\0sealed\xff")),
        },
        lease: LEASE,
        sends_for: SENDS_FOR,
    }
}

pub(super) const fn release(epoch: u64) -> Event {
    let code = Code::TimeoutBeforeSend;
    Event::Release { epoch, code }
}

pub(super) const fn settle(epoch: u64, ending: Ending) -> Event {
    Event::Settle { epoch, ending }
}

pub(super) fn done(result: &[u8]) -> Ending {
    Ending::Done {
        code: Code::Done,
        result: Some(result.into()),
    }
}

pub(super) fn unknown() -> Ending {
    Ending::Unknown {
        conclusion: Code::TimeoutAfterSend.into(),
        result: None,
    }
}

pub(super) const REFUSED: Ending = Ending::Failed {
    code: Code::Rejected,
};

pub(super) const LEASE: Duration = Duration::from_secs(30);

pub(super) const SENDS_FOR: Duration = Duration::from_secs(10);
