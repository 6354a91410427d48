use tower_outcome_core::Code;
use tower_outcome_core::ledger::{Answer, Ending, Event, Ledger, State};
use tower_outcome_postgres::tokio_postgres::IsolationLevel;

use crate::support::{Place, claim, granted, key};

#[tokio::test]
async fn a_row_of_ones_own_and_the_entry_change_together_or_not_at_all() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let mut client = place.client().await;
    client
        .batch_execute("CREATE TABLE refunds (order_id int4)")
        .await
        .unwrap();
    for (order, commits) in [(1, true), (2, false)] {
        let grant = granted(&ledger, order).await;
        let transaction = client.transaction().await.unwrap();
        let insert = format!("INSERT INTO refunds VALUES ({order})");
        transaction.batch_execute(&insert).await.unwrap();
        let ended = ledger
            .apply_in(&transaction, &key(order), done(grant.epoch))
            .await;
        assert_eq!(ended.unwrap(), Answer::Applied);
        // Nobody else sees it yet.
        let before = ledger.read(&key(order)).await.unwrap().unwrap();
        assert_eq!(before.state, State::Claimed);
        if commits {
            transaction.commit().await.unwrap();
        } else {
            transaction.rollback().await.unwrap();
        }
        let rows = format!("SELECT count(*) FROM refunds WHERE order_id = {order}");
        let rows: i64 = client.query_one(&rows, &[]).await.unwrap().get(0);
        assert_eq!(rows, i64::from(commits));
        let entry = ledger.read(&key(order)).await.unwrap().unwrap();
        let expected = if commits { State::Done } else { State::Claimed };
        assert_eq!(entry.state, expected);
    }
}

#[tokio::test]
async fn a_fenced_event_leaves_the_transaction_as_it_was() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let mut client = place.client().await;
    let grant = granted(&ledger, 1).await;
    let transaction = client.transaction().await.unwrap();
    let stale = Event::Release {
        epoch: grant.epoch + 1,
        code: Code::NotSent,
    };
    let fenced = ledger.apply_in(&transaction, &key(1), stale).await;
    assert!(fenced.unwrap_err().is_fenced());
    let ended = ledger
        .apply_in(&transaction, &key(1), done(grant.epoch))
        .await;
    assert_eq!(ended.unwrap(), Answer::Applied);
    transaction.commit().await.unwrap();
    let entry = ledger.read(&key(1)).await.unwrap().unwrap();
    assert_eq!(entry.state, State::Done);
}

#[tokio::test]
async fn a_claim_inside_a_transaction_meets_every_other_claim() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let (mut one, mut other) = (place.client().await, place.client().await);
    let first = one.transaction().await.unwrap();
    let second = other.transaction().await.unwrap();
    let granted = ledger.apply_in(&first, &key(1), claim(1)).await.unwrap();
    assert!(matches!(granted, Answer::Granted(_)));
    // The second waits for the first one's end.
    let (one, two) = (key(1), key(1));
    let (met, committed) = tokio::join!(ledger.apply_in(&second, &one, claim(1)), first.commit(),);
    committed.unwrap();
    assert_eq!(met.unwrap(), Answer::InProgress);
    assert_eq!(
        ledger.apply(&two, claim(1)).await.unwrap(),
        Answer::InProgress
    );
}

#[tokio::test]
async fn an_entry_that_a_transaction_holds_does_not_keep_the_others_waiting() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let mut client = place.client().await;
    let holder = client.transaction().await.unwrap();
    ledger.apply_in(&holder, &key(1), claim(1)).await.unwrap();
    let keys = [key(0), key(1), key(2)];
    let (before, held, after) = tokio::join!(
        ledger.apply(&keys[0], claim(0)),
        ledger.apply(&keys[1], claim(1)),
        ledger.apply(&keys[2], claim(2)),
    );
    assert!(matches!(before.unwrap(), Answer::Granted(_)));
    assert!(matches!(after.unwrap(), Answer::Granted(_)));
    let held = held.unwrap_err();
    assert!(!held.is_fenced());
    assert_eq!(held.code(), Code::StoreUnavailable);
    holder.rollback().await.unwrap();
    granted(&ledger, 1).await;
}

/// It sees the entry as it was when it began.
#[tokio::test]
async fn a_transaction_that_sees_the_past_is_granted_nothing_that_another_has() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let mut client = place.client().await;
    let grant = granted(&ledger, 2).await;
    for level in [IsolationLevel::RepeatableRead, IsolationLevel::Serializable] {
        for order in [1, 2] {
            let transaction = client.build_transaction().isolation_level(level);
            let transaction = transaction.start().await.unwrap();
            let look = "SELECT count(*) FROM entries";
            transaction.query_one(look, &[]).await.unwrap();
            match order {
                1 => assert!(ledger.apply(&key(1), claim(1)).await.is_ok()),
                _ => drop(ledger.apply(&key(2), done(grant.epoch)).await.unwrap()),
            }
            let claimed = ledger
                .apply_in(&transaction, &key(order), claim(order))
                .await;
            assert!(
                !matches!(claimed, Ok(Answer::Granted(_))),
                "{order} {claimed:?}"
            );
            let committed = transaction.commit().await;
            let entry = ledger.read(&key(order)).await.unwrap().unwrap();
            assert_eq!(entry.epoch, 1, "{order} {committed:?}");
        }
    }
}

/// What is sent on the strength of a claim has to find the claim after a crash of the server.
#[tokio::test]
async fn a_commit_waits_for_the_disk_where_others_of_the_session_do_not() {
    let place = Place::new();
    let ledger = place.ledger().await;
    let mut client = place.client().await;
    let setting = "SELECT current_setting('synchronous_commit')";
    for (order, chosen, expected) in [(1, "off", "on"), (2, "remote_write", "remote_write")] {
        let choose = format!("SET synchronous_commit = {chosen}");
        client.batch_execute(&choose).await.unwrap();
        let transaction = client.transaction().await.unwrap();
        let key = key(order);
        let claimed = ledger.apply_in(&transaction, &key, claim(order)).await;
        assert!(matches!(claimed.unwrap(), Answer::Granted(_)));
        let within: String = transaction.query_one(setting, &[]).await.unwrap().get(0);
        transaction.commit().await.unwrap();
        let after: String = client.query_one(setting, &[]).await.unwrap().get(0);
        assert_eq!((&*within, &*after), (expected, chosen));
    }
}

fn done(epoch: u64) -> Event {
    let code = Code::Done;
    let result = None;
    let ending = Ending::Done { code, result };
    Event::Settle { epoch, ending }
}
