//! Writes whose rules have several versions, in processes that know different ones.

use std::sync::Arc;

use http::Request;
use serde_json::json;
use tokio_test::{assert_pending, task};
use tower::{ServiceBuilder, ServiceExt as _};
use tower_outcome::{
    ClaimLayer, Code, Intent, KeyLayer, MemoryLedger, OutcomeBody, OutcomeLayer, Profile,
    RequestExt as _,
};
use tower_outcome_core::IntentRules;
use tower_outcome_core::ledger::{EntryKey, Event, Ledger as _, State, alias};
use tower_test::mock;

use crate::support::{Mock, Server, left, queued, write};

#[tokio::test(start_paused = true)]
async fn whoever_comes_first_the_other_meets_its_entry_and_its_result() {
    let former: &[u8] = &[1];
    let (overlap, new): (&[u8], &[u8]) = (&[1, 2], &[2]);
    for (first, second) in [
        (former, overlap),
        (overlap, former),
        (overlap, new),
        (new, overlap),
    ] {
        let ledger = Arc::new(MemoryLedger::default());
        let ((one, mut server), (other, mut idle)) = (process(&ledger), process(&ledger));
        let mut sent = task::spawn(one.oneshot(intended(first)));
        assert_pending!(sent.poll());
        let (_, answering) = left(&mut server).await;

        let Ok(skipped) = other.clone().oneshot(intended(second)).await;
        assert_eq!(
            skipped.code(),
            Code::AlreadyInProgress,
            "{first:?}, {second:?}"
        );
        drop(answering);
        let Ok(verdict) = sent.await;
        assert_eq!(verdict.code(), Code::ResponseLost);

        let (_, entry) = alias::find(&*ledger, &intent(second)).await.unwrap();
        let result = Some(br#"{"id":"re_1"}"#.as_slice().into());
        let found = Event::Find { result };
        ledger.apply(&entry.unwrap().key, found).await.unwrap();
        let Ok(met) = other.clone().oneshot(intended(second)).await;
        assert_eq!(met.code(), Code::AlreadyDone, "{first:?}, {second:?}");
        assert_eq!(
            met.reply().unwrap().body().bytes().unwrap(),
            r#"{"id":"re_1"}"#
        );
        assert_pending!(idle.poll_request());
    }
}

#[tokio::test(start_paused = true)]
async fn the_key_on_the_wire_is_that_of_the_entry() {
    let ledger = Arc::new(MemoryLedger::default());
    let mut keys = Vec::new();
    // Nothing is sent, so that the next one may.
    for versions in [&[1][..], &[1, 2], &[2]] {
        let (client, mut server) = process(&ledger);
        let mut sent = task::spawn(client.oneshot(intended(versions)));
        assert_pending!(sent.poll());
        let (request, answering) = queued(&mut server).await;
        keys.push(request.headers()["idempotency-key"].clone());
        let row = ledger.read(&EntryKey::of(&intent(&[1]))).await.unwrap();
        let row = row.unwrap();
        assert_eq!(row.state, State::Dispatching, "{versions:?}");
        assert_eq!(row.writes[0].wire_key.as_bytes(), keys[0].as_bytes());
        answering.send_error("a queue was full");
        let Ok(verdict) = sent.await;
        assert_eq!(verdict.code(), Code::NotSent);
    }
    assert_eq!(keys[0], keys[1]);
    assert_eq!(keys[0], keys[2]);
}

#[tokio::test(start_paused = true)]
async fn a_doubt_of_the_former_version_is_one_of_the_next() {
    let ledger = Arc::new(MemoryLedger::default());
    let (client, mut server) = process(&ledger);
    let mut sent = task::spawn(client.oneshot(intended(&[1])));
    assert_pending!(sent.poll());
    left(&mut server).await.1.send_error("the connection broke");
    let Ok(verdict) = sent.await;
    assert_eq!(verdict.code(), Code::ResponseLost);
    for versions in [&[1, 2][..], &[2]] {
        let (client, mut server) = process(&ledger);
        let Ok(verdict) = client.clone().oneshot(intended(versions)).await;
        assert_eq!(verdict.code(), Code::StillConfirming, "{versions:?}");
        assert_pending!(server.poll_request());
    }
}

type Client = tower_outcome::outcome::OutcomeService<
    tower_outcome::claim::ClaimService<tower_outcome::key::Key<Mock>>,
>;

fn process(ledger: &Arc<MemoryLedger>) -> (Client, Server) {
    let (service, server) = mock::pair();
    let layers = ServiceBuilder::new()
        .layer(OutcomeLayer::new().with_profile(Profile::idempotency_key()))
        .layer(ClaimLayer::new(Arc::clone(ledger)))
        .layer(KeyLayer::new());
    (layers.service::<Mock>(service), server)
}

fn intended(versions: &[u8]) -> Request<OutcomeBody> {
    write().with_intent(intent(versions))
}

fn intent(versions: &[u8]) -> Intent {
    let rules = versions
        .iter()
        .map(|version| IntentRules::new("refund").with_version(version.to_string()));
    let rules = rules.reduce(|former, rules| rules.succeeding(former));
    let rules = rules.expect("there is a version");
    rules.intent("acme", &json!({ "order": 7 })).unwrap()
}
