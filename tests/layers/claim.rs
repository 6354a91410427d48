//! A ledger is asked before a write leaves, and told what became of it.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio_test::{assert_pending, task};
use tower::{Service as _, ServiceBuilder, ServiceExt as _};
use tower_outcome::deadline::GRACE;
use tower_outcome::{ClaimLayer, Code, DeadlineLayer, MemoryLedger, OutcomeLayer, Profile};
use tower_outcome_core::Level;
use tower_outcome_core::ledger::{Answer, EntryKey, Event, Ledger, LedgerFuture, State};
use tower_test::mock;

use crate::support::{Mock, intended, intent, left, paid, queued, write};

fn over(ledger: impl Ledger) -> (impl Fn() -> Client, crate::support::Server) {
    over_provider(ledger, Profile::generic())
}

fn over_provider(
    ledger: impl Ledger,
    profile: Profile,
) -> (impl Fn() -> Client, crate::support::Server) {
    let (service, server) = mock::pair();
    let layers = ServiceBuilder::new()
        .layer(OutcomeLayer::new().with_profile(profile))
        .layer(ClaimLayer::new(ledger));
    let client = layers.service::<Mock>(service);
    (move || client.clone(), server)
}

type Client = tower_outcome::outcome::OutcomeService<tower_outcome::claim::ClaimService<Mock>>;

#[tokio::test(start_paused = true)]
async fn a_claim_that_sent_nothing_is_free_again() {
    let ledger = Arc::new(MemoryLedger::default());
    let (client, mut server) = over(Arc::clone(&ledger));
    for _ in 0..2 {
        let mut sent = task::spawn(client().oneshot(intended()));
        assert_pending!(sent.poll());
        queued(&mut server).await.1.send_error("a queue was full");
        let Ok(verdict) = sent.await;
        assert_eq!(verdict.code(), Code::NotSent);
        let row = ledger
            .read(&EntryKey::of(&intent()))
            .await
            .unwrap()
            .unwrap();
        assert_eq!((row.state, row.maybe_sent), (State::Free, false));
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_left_and_failed_is_in_doubt_for_everyone() {
    let ledger = Arc::new(MemoryLedger::default());
    let (client, mut server) = over(Arc::clone(&ledger));
    let mut sent = task::spawn(client().oneshot(intended()));
    assert_pending!(sent.poll());
    left(&mut server).await.1.send_error("the connection broke");
    let Ok(verdict) = sent.await;
    assert_eq!(verdict.code(), Code::ResponseLost);
    let row = ledger
        .read(&EntryKey::of(&intent()))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(row.state, State::Unknown);

    let Ok(verdict) = client().oneshot(intended()).await;
    assert_eq!(verdict.code(), Code::StillConfirming);
    assert_pending!(server.poll_request());
}

#[tokio::test(start_paused = true)]
async fn an_identical_call_in_flight_is_skipped() {
    let (client, mut server) = over(MemoryLedger::default());
    let mut first = task::spawn(client().oneshot(intended()));
    assert_pending!(first.poll());
    let _running = queued(&mut server).await;
    let Ok(second) = client().oneshot(intended()).await;
    assert_eq!(second.code(), Code::AlreadyInProgress);
    assert_pending!(server.poll_request());
}

#[tokio::test(start_paused = true)]
async fn a_full_ledger_refuses_before_anything_leaves() {
    let (client, mut server) = over(MemoryLedger::new(0));
    let Ok(verdict) = client().oneshot(intended()).await;
    assert_eq!(verdict.code(), Code::StoreFull);
    assert_pending!(server.poll_request());
}

#[tokio::test(start_paused = true)]
async fn a_write_without_an_intent_asks_no_ledger() {
    let (client, mut server) = over(MemoryLedger::new(0));
    let mut service = client();
    let mut sent = task::spawn(service.ready().await.unwrap().call(write()));
    assert_pending!(sent.poll());
    left(&mut server).await.1.send_response(paid());
    let Ok(verdict) = sent.await;
    assert_eq!(verdict.reply().unwrap().body().bytes().unwrap(), "paid");
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_may_forget_claims_only_what_the_provider_stops_from_happening_twice() {
    let ledger = Arc::new(Forgetful(MemoryLedger::default()));
    for profile in [Profile::generic(), Profile::idempotency_key().without_key()] {
        let (client, mut server) = over_provider(Arc::clone(&ledger), profile);
        let Ok(verdict) = client().oneshot(intended()).await;
        assert_eq!(verdict.code(), Code::StoreUnavailable);
        let shown = format!("{verdict:?}");
        assert!(shown.contains("honours keys"), "{shown}");
        assert_pending!(server.poll_request());
        assert_eq!(ledger.read(&EntryKey::of(&intent())).await.unwrap(), None);
    }

    let (client, mut server) = over_provider(ledger, Profile::idempotency_key());
    let mut sent = task::spawn(client().oneshot(intended()));
    assert_pending!(sent.poll());
    assert!(server.poll_request().is_ready());
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_the_ledger_did_not_take_down_in_time_speaks_of_the_call_alone() {
    for (releases, level) in [(true, Level::Intent), (false, Level::Call)] {
        let ledger = Slow {
            inner: MemoryLedger::default(),
            releases,
        };
        let (service, mut server) = mock::pair();
        let layers = ServiceBuilder::new()
            .layer(OutcomeLayer::new())
            .layer(DeadlineLayer::new(LIMIT))
            .layer(ClaimLayer::new(ledger));
        let Ok(verdict) = layers.service::<Mock>(service).oneshot(intended()).await;
        assert_eq!(verdict.code(), Code::TimeoutBeforeSend);
        assert_eq!(verdict.conclusion().level(), level);
        assert!(matches!(server.poll_request(), Poll::Ready(None)));
    }
}

/// Answers a claim once the call's time is over.
struct Slow {
    inner: MemoryLedger,
    /// Whether it answers a release at all.
    releases: bool,
}

impl Ledger for Slow {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        Box::pin(async move {
            match event {
                Event::Claim(_) => tokio::time::sleep(LIMIT + GRACE / 2).await,
                Event::Release { .. } if !self.releases => std::future::pending().await,
                _ => {}
            }
            self.inner.apply(key, event).await
        })
    }

    tower_outcome_core::forward_ledger!(self => self.inner;
        read unresolved due page counts purge changed);
}

const LIMIT: Duration = Duration::from_secs(2);

struct Forgetful(MemoryLedger);

impl Ledger for Forgetful {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        self.0.apply(key, event)
    }

    tower_outcome_core::forward_ledger!(self => self.0;
        read unresolved due page counts purge changed);

    fn may_lose_writes(&self) -> bool {
        true
    }
}
