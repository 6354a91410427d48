use tower_outcome_core::IdempotencyKey;
use tower_outcome_core::ledger::{Answer, EntryKey, Event, Ledger, State};
use tower_outcome_postgres::Settings;

use crate::support::{Place, granted, key};

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let place = Place::new();
    drop(place.ledger().await);
    let client = place.client().await;
    client
        .batch_execute("INSERT INTO migrations (version) VALUES (5)")
        .await
        .unwrap();
    refused(place.settings(), "newer version").await;
}

#[tokio::test]
async fn a_schema_of_the_version_before_is_taken_over_whole() {
    let place = Place::new();
    let former = include_str!("../data/version_2.sql");
    let former = former.replace("\"ledger\"", &place.schema);
    let client = place.client().await;
    client.batch_execute(&former).await.unwrap();
    let ledger = place.ledger().await;
    let entry = async |number| {
        let mut key = [0; 32];
        key[31] = number;
        let key = EntryKey {
            scope: "acme".into(),
            key: IdempotencyKey::from_bytes(key),
        };
        ledger.read(&key).await.unwrap().unwrap()
    };
    let done = entry(1).await;
    assert_eq!((done.state, done.alias_of), (State::Done, None));
    assert_eq!(done.result.as_deref(), Some(b"{}".as_slice()));
    let doubt = entry(2).await;
    assert_eq!((doubt.state, doubt.generation), (State::Unknown, 1));
    assert_eq!((doubt.looks, &*doubt.writes[0].wire_key), (3, "k-2"));

    // The same schema learns a second key of what it knew.
    let alias = key(9);
    let (of, shared) = (done.key.key, false);
    let answer = ledger.apply(&alias, Event::Alias { of, shared }).await;
    assert_eq!(answer.unwrap(), Answer::Applied);
    let led = ledger.read(&alias).await.unwrap().unwrap();
    assert_eq!(led.leads_to(), Some(done.key));
}

#[tokio::test]
async fn a_schema_of_another_program_is_refused_and_left_alone() {
    let place = Place::new();
    let client = place.client().await;
    let theirs = format!(
        "CREATE SCHEMA {}; CREATE TABLE notes (text text)",
        place.schema
    );
    client.batch_execute(&theirs).await.unwrap();
    refused(place.settings(), "another program").await;
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema";
    let count: i64 = client.query_one(tables, &[]).await.unwrap().get(0);
    assert_eq!(count, 1);
}

#[tokio::test]
async fn tables_with_other_columns_are_refused() {
    let place = Place::new();
    drop(place.ledger().await);
    let client = place.client().await;
    let change = "DROP VIEW outcomes; ALTER TABLE entries RENAME landing TO landed";
    client.batch_execute(change).await.unwrap();
    refused(place.settings(), "are not as").await;
}

#[tokio::test]
async fn a_name_that_is_no_plain_name_is_refused() {
    let long = "x".repeat(64);
    for name in [
        "",
        "Ledger",
        "1st",
        "a b",
        "a\"; DROP",
        "pg_ledger",
        long.as_str(),
    ] {
        refused(
            Place::new().settings().with_schema(name),
            "the name of the ledger's schema",
        )
        .await;
    }
}

#[tokio::test]
async fn a_schema_without_a_ledger_is_refused_and_left_alone_by_whoever_only_looks() {
    let place = Place::new();
    refused(place.settings().that_exists(), "no ledger").await;
    let client = place.client().await;
    let exists = "SELECT to_regnamespace($1::text) IS NOT NULL";
    let exists = client.query_one(exists, &[&place.schema]).await.unwrap();
    assert!(!exists.get::<_, bool>(0));
    drop(place.ledger().await);
    let looked = place.settings().that_exists().connect().await.unwrap();
    granted(&looked, 1).await;
}

#[tokio::test]
async fn an_empty_schema_becomes_a_ledger() {
    let place = Place::new();
    let client = place.client().await;
    let create = format!("CREATE SCHEMA {}", place.schema);
    client.batch_execute(&create).await.unwrap();
    granted(&place.ledger().await, 1).await;
}

#[tokio::test]
async fn ledgers_in_different_schemas_know_nothing_of_each_other() {
    let (one, other) = (Place::new().ledger().await, Place::new().ledger().await);
    granted(&one, 1).await;
    assert_eq!(other.read(&key(1)).await.unwrap(), None);
    granted(&other, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_who_connect_to_a_new_schema_at_once_get_it() {
    for _ in 0..5 {
        let place = Place::new();
        let mut opening = tokio::task::JoinSet::new();
        for _ in 0..12 {
            opening.spawn(place.settings().connect());
        }
        for ledger in opening.join_all().await {
            ledger.unwrap();
        }
        let client = place.client().await;
        let versions = "SELECT count(*) FROM migrations";
        let count: i64 = client.query_one(versions, &[]).await.unwrap().get(0);
        assert_eq!(count, 4);
    }
}

async fn refused(settings: Settings, because: &str) {
    let error = settings.connect().await.unwrap_err();
    assert!(error.to_string().contains(because), "{error:?}");
}
