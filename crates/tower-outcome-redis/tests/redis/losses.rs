//! A server that has forgotten an entry, as after a failover.

use futures_util::future::join_all;
use tower_outcome_core::ledger::{Answer, EntryKey, Filter, Grant, Ledger, State};

use crate::support::{
    Place, applied, claim, done, doubt, entry, fenced, granted, in_doubt, key, others_are_listed,
    refused, release, send,
};

#[tokio::test]
async fn a_lost_claim_is_put_back_by_its_owner_s_next_step() {
    let place = Place::new();
    let ledger = place.ledger().await;
    for (order, event, state) in [
        (1, send(1), State::Dispatching),
        (2, doubt(1), State::Unknown),
        (3, done(1, Some(b"{}")), State::Done),
        (4, release(1), State::Free),
    ] {
        granted(&ledger, order).await;
        place
            .client()
            .await
            .run(&["DEL", &place.entry(order)])
            .await;
        assert_eq!(ledger.read(&key(order)).await.unwrap(), None);
        applied(&ledger, order, event).await;
        assert_eq!(entry(&ledger, order).await.state, state);
    }
}

#[tokio::test]
async fn a_lost_claim_is_not_granted_again_by_the_process_that_remembers_it() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let grant = granted(&ledger, 1).await;
    let mut client = place.client().await;
    client.run(&["DEL", &place.entry(1)]).await;
    let again = ledger.apply(&key(1), claim(1)).await.unwrap();
    assert_eq!(again, Answer::InProgress);

    applied(&ledger, 1, send(grant.epoch)).await;
    applied(&ledger, 1, doubt(grant.epoch)).await;
    client.run(&["DEL", &place.entry(1)]).await;
    let again = ledger.apply(&key(1), claim(1)).await.unwrap();
    assert_eq!(again, Answer::StillConfirming);
}

#[tokio::test]
async fn a_lost_claim_that_another_process_has_by_now_takes_proof_and_nothing_else() {
    let place = Place::new();
    let (ours, theirs) = (place.ledger().await, place.ledger().await);
    let lost = granted(&ours, 1).await;
    place.client().await.run(&["DEL", &place.entry(1)]).await;
    let current = granted(&theirs, 1).await;
    assert_eq!(lost.epoch, current.epoch, "the server has begun anew");
    applied(&theirs, 1, send(current.epoch)).await;

    for event in [send(1), release(1), refused(1), doubt(1)] {
        fenced(&ours, 1, event).await;
        assert_eq!(entry(&theirs, 1).await.state, State::Dispatching);
    }
    applied(&ours, 1, done(lost.epoch, None)).await;
    assert_eq!(entry(&theirs, 1).await.state, State::Done);
}

/// More claims than are remembered, so that the first of them is not.
#[tokio::test]
async fn a_forgotten_claim_that_was_lost_is_not_taken_for_the_one_granted_since() {
    let place = Place::new();
    let (ours, theirs) = (place.ledger().await, place.ledger().await);
    let lost = [granted(&ours, 1).await, granted(&ours, 2).await];
    for batch in 0..20 {
        let more = (0..501).map(|order| granted(&ours, 1_000 * (batch + 1) + order));
        join_all(more).await;
    }
    for order in [1, 2] {
        let entry = place.entry(order);
        place.client().await.run(&["DEL", &entry]).await;
    }

    let current = [granted(&theirs, 1).await, granted(&ours, 2).await];
    for (order, claim) in (1..).zip(current) {
        applied(&theirs, order, send(claim.epoch)).await;
    }
    for (order, Grant { epoch, .. }) in (1..).zip(lost) {
        for event in [send(epoch), release(epoch), refused(epoch), doubt(epoch)] {
            fenced(&ours, order, event).await;
            assert_eq!(entry(&theirs, order).await.state, State::Dispatching);
        }
        applied(&ours, order, done(epoch, None)).await;
        assert_eq!(entry(&theirs, order).await.state, State::Done);
    }
    // Those that were claimed since are remembered as ever.
    applied(&ours, 20_500, release(1)).await;
}

#[tokio::test]
async fn a_name_that_no_ledger_has_given_is_named_and_hides_no_entry() {
    let place = Place::new();
    let ledger = place.ledger().await;
    in_doubt(&ledger, 1).await;
    let mut client = place.client().await;
    let foreign = format!("{{{}}}:entry:note", place.prefix);
    client.run(&["SET", &foreign, "of somebody else"]).await;
    for set in ["open", "due", "aliases"] {
        let set = format!("{{{}}}:{set}", place.prefix);
        client.run(&["ZADD", &set, "0", "note"]).await;
    }
    let note = vec![EntryKey::resembling("", b"note")];
    for listing in [ledger.due(9).await, ledger.unresolved(9).await] {
        let listing = listing.unwrap();
        assert_eq!(listing.entries.len(), 1);
        assert_eq!(listing.unreadable, note);
    }
    let page = ledger.page(&Filter::new(9)).await.unwrap();
    assert_eq!((page.entries.len(), page.unreadable), (1, note));
    let counts = ledger.counts().await.unwrap();
    assert_eq!((counts.total(), counts.unreadable), (2, 1));
    assert_eq!(ledger.purge(9).await.unwrap(), 0);
    let kept: String = client.ask(&["GET", &foreign]).await;
    assert_eq!(kept, "of somebody else");
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_named_and_hides_no_other() {
    let place = Place::new();
    let ledger = place.ledger().await;
    for order in 1..=4 {
        in_doubt(&ledger, order).await;
    }
    let mut client = place.client().await;
    let harm = |row: &str, (was, is)| row.replace(was, is);
    for damage in [
        ("\"format\":2", "\"format\":3"),
        ("unknown", "later"),
        ("}", ""),
    ] {
        let mut healthy = Vec::new();
        for harmed in [1, 3] {
            let row: String = client.ask(&["GET", &place.entry(harmed)]).await;
            client
                .run(&["SET", &place.entry(harmed), &harm(&row, damage)])
                .await;
            healthy.push((harmed, row));
        }
        others_are_listed(&ledger, [1, 3].map(key), [2, 4]).await;
        let counts = ledger.counts().await.unwrap();
        assert_eq!((counts.total(), counts.unreadable), (4, 2));
        let other = place.ledger().await;
        assert!(other.apply(&key(3), claim(3)).await.is_err());
        for (harmed, row) in healthy {
            client.run(&["SET", &place.entry(harmed), &row]).await;
        }
    }
}

#[tokio::test]
async fn a_row_that_cannot_be_read_back_is_left_alone() {
    let place = Place::new();
    let mut client = place.client().await;
    granted(&place.ledger().await, 1).await;
    let ledger = place.ledger().await;
    let row: String = client.ask(&["GET", &place.entry(1)]).await;
    for damaged in [
        String::new(),
        "short".to_owned(),
        row[..row.len() - 1].to_owned(),
        row.replace("\"format\":2", "\"format\":3"),
        row.replace("claimed", "claiming"),
        row.replace("\"epoch\":1", "\"epoch\":-1"),
        row.replace("\"fingerprint\":{", "\"fingerprint\":{\"x\":7,"),
    ] {
        assert_ne!(damaged, row);
        client.run(&["SET", &place.entry(1), &damaged]).await;
        for event in [claim(1), send(1), release(1), done(1, None)] {
            let error = ledger.apply(&key(1), event).await.unwrap_err();
            assert!(!error.is_fenced(), "{error:?}");
            assert!(
                format!("{error:?}").contains("cannot be read back"),
                "{error:?}"
            );
        }
        assert!(ledger.read(&key(1)).await.is_err());
        let kept: String = client.ask(&["GET", &place.entry(1)]).await;
        assert_eq!(kept, damaged);
    }
}
