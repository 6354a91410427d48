use std::pin::pin;
use std::task::{Context, Waker};

use tower_outcome_core::Code;
use tower_outcome_core::ledger::{Answer, Ending, Event, Ledger, State, conformance};

use crate::support::{Place, claim, granted, key};

#[tokio::test]
async fn keeps_every_rule_of_a_ledger() {
    conformance::run(async |clock| {
        let settings = Place::new().settings().with_clock(move || clock.now());
        settings.connect().await.unwrap()
    })
    .await;
}

#[tokio::test]
async fn keeps_every_rule_of_a_ledger_that_is_shared() {
    let places: Vec<Place> = (0..10).map(|_| Place::new()).collect();
    conformance::run_shared(async |clock, number| {
        let settings = places[number as usize].settings();
        let settings = settings.with_clock(move || clock.now());
        settings.connect().await.unwrap()
    })
    .await;
}

#[tokio::test]
async fn what_was_answered_is_there_for_the_next_process() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let grant = granted(&ledger, 7).await;
    let ending = Ending::Done {
        code: Code::Done,
        result: Some(b"{\"id\":1}".as_slice().into()),
    };
    let epoch = grant.epoch;
    ledger
        .apply(&key(7), Event::Settle { epoch, ending })
        .await
        .unwrap();
    let before = ledger.read(&key(7)).await.unwrap();
    drop(ledger);

    let next = place.ledger().await;
    assert_eq!(next.read(&key(7)).await.unwrap(), before);
    let again = next.apply(&key(7), claim(7)).await.unwrap();
    assert!(matches!(
        again,
        Answer::Settled {
            code: Code::AlreadyDone,
            ..
        }
    ));
}

#[tokio::test]
async fn what_was_asked_is_done_though_nobody_waits_and_the_ledger_is_dropped() {
    let place = Place::new();
    let ledger = place.ledger().await;
    for order in 0..3 {
        let key = key(order);
        let asked = pin!(ledger.apply(&key, claim(order)));
        let mut context = Context::from_waker(Waker::noop());
        assert!(asked.poll(&mut context).is_pending());
    }
    drop(ledger);
    let next = place.ledger().await;
    for order in 0..3 {
        let entry = loop {
            // The dropped ledger's task runs between these looks.
            if let Some(entry) = next.read(&key(order)).await.unwrap() {
                break entry;
            }
        };
        assert_eq!(entry.state, State::Claimed);
    }
}

#[tokio::test]
async fn a_store_that_fails_is_unavailable_and_recovers() {
    let place = Place::new();
    let ledger = place.ledger().await;
    granted(&ledger, 1).await;
    let client = place.client().await;
    client
        .batch_execute("ALTER TABLE entries RENAME TO elsewhere")
        .await
        .unwrap();
    let error = ledger.apply(&key(2), claim(2)).await.unwrap_err();
    assert_eq!(error.code(), Code::StoreUnavailable);
    assert!(!error.is_fenced());
    client
        .batch_execute("ALTER TABLE elsewhere RENAME TO entries")
        .await
        .unwrap();
    granted(&ledger, 2).await;
}

#[tokio::test]
async fn a_disk_without_room_refuses_claims_and_what_has_begun_can_end() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let grant = granted(&ledger, 1).await;
    let client = place.client().await;
    client.batch_execute(NO_ROOM).await.unwrap();
    let (one, two) = (key(2), key(3));
    let (first, second) = tokio::join!(ledger.apply(&one, claim(2)), ledger.apply(&two, claim(3)));
    for refused in [first, second] {
        assert_eq!(refused.unwrap_err().code(), Code::StoreFull);
    }
    let (epoch, code) = (grant.epoch, Code::NotSent);
    let ended = ledger.apply(&key(1), Event::Release { epoch, code }).await;
    assert_eq!(ended.unwrap(), Answer::Applied);
}

#[tokio::test]
async fn leases_are_measured_on_the_clock_of_the_database() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let client = place.client().await;
    let time = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::int8";
    let before: i64 = client.query_one(time, &[]).await.unwrap().get(0);
    // An answer brings the time; what is decided next is decided by it.
    ledger.read(&key(1)).await.unwrap();
    granted(&ledger, 1).await;
    let after: i64 = client.query_one(time, &[]).await.unwrap().get(0);
    let entry = ledger.read(&key(1)).await.unwrap().unwrap();
    let created = i64::try_from(entry.created_at.0).unwrap();
    assert!(
        (before..=after).contains(&created),
        "{before} {created} {after}"
    );
}

/// Answers new claims as a server does whose disk is full.
const NO_ROOM: &str = "
    CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER no_room BEFORE INSERT ON entries
        FOR EACH ROW WHEN (new.state = 'claimed') EXECUTE FUNCTION no_room();";
