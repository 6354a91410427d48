use std::error::Error as _;

use tower_outcome_core::Code;
use tower_outcome_core::ledger::LedgerError;
use tower_outcome_postgres::{PostgresLedger, Settings};

use crate::support::Place;

#[tokio::test]
async fn a_url_that_cannot_be_read_is_refused_without_showing_it() {
    for url in [
        "postgres://agent:hunter2@@db:54x32/shop?what=hunter2",
        "host=db password=hunter2 hunter2",
        "hunter2",
        "mysql://agent:hunter2@db/shop",
    ] {
        let error = Settings::new(url).unwrap_err();
        refused(&error, "cannot be read");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_as_such() {
    let port = xtask::servers::free_port().unwrap();
    let url = format!("postgres://agent:hunter2@127.0.0.1:{port}/shop");
    let error = PostgresLedger::connect(&url).await.unwrap_err();
    refused(&error, "cannot be reached");
    assert!(error.source().is_some());
}

#[tokio::test]
async fn a_wrong_password_is_refused_without_showing_it() {
    let place = Place::new();
    let url = with_user(&place.url, "tower:hunter2");
    let error = PostgresLedger::connect(&url).await.unwrap_err();
    refused(&error, "user or password");
}

#[tokio::test]
async fn a_database_that_does_not_exist_is_named_as_such() {
    let place = Place::new();
    let (server, _) = place.url.rsplit_once('/').unwrap();
    let url = format!("{server}/nowhere");
    let error = PostgresLedger::connect(&url).await.unwrap_err();
    refused(&error, "does not exist");
}

#[tokio::test]
async fn a_role_without_rights_is_told_which_it_needs() {
    let place = Place::new();
    let role = Role::new(&place, "NOCREATEDB").await;
    let error = role.connect(&place).await.unwrap_err();
    refused(&error, "lacks a right");

    // With the tables made by somebody else and not granted, and then granted.
    drop(place.ledger().await);
    let error = role.connect(&place).await.unwrap_err();
    refused(&error, "lacks a right");
    let client = place.client().await;
    let grant = format!(
        "GRANT USAGE ON SCHEMA {schema} TO {name};
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {name}",
        schema = place.schema,
        name = role.name
    );
    client.batch_execute(&grant).await.unwrap();
    let ledger = role.connect(&place).await.unwrap();
    crate::support::granted(&ledger, 1).await;
}

#[tokio::test]
async fn a_database_that_may_only_be_read_is_refused() {
    let place = Place::new();
    let role = Role::new(&place, "SUPERUSER").await;
    let client = place.client().await;
    let only = format!(
        "ALTER ROLE {} SET default_transaction_read_only = on",
        role.name
    );
    client.batch_execute(&only).await.unwrap();
    let error = role.connect(&place).await.unwrap_err();
    assert!(
        format!("{error:?}").contains("does not allow writes"),
        "{error:?}"
    );
}

#[tokio::test]
async fn nothing_that_is_shown_holds_the_password() {
    let place = Place::new();
    let settings = place.settings();
    let password = place.url.split([':', '@']).nth(2).unwrap().to_owned();
    assert!(place.url.contains(&password) && password.len() > 20);
    let shown = format!(
        "{settings:?} {:?}",
        settings.clone().connect().await.unwrap()
    );
    assert!(!shown.contains(&password), "{shown}");
    assert!(shown.contains(&place.schema));
}

/// A role of the test's own, whose password shall not show up.
struct Role {
    name: String,
}

impl Role {
    async fn new(place: &Place, rights: &str) -> Self {
        let name = format!("role_{}", place.schema);
        let client = place.client().await;
        let create = format!("CREATE ROLE {name} LOGIN PASSWORD 'hunter2' {rights}");
        client.batch_execute(&create).await.unwrap();
        Self { name }
    }

    async fn connect(&self, place: &Place) -> Result<PostgresLedger, LedgerError> {
        let url = with_user(&place.url, &format!("{}:hunter2", self.name));
        let settings = Settings::new(&url).unwrap();
        settings.with_schema(&place.schema).connect().await
    }
}

fn with_user(url: &str, user: &str) -> String {
    let (_, server) = url.split_once('@').unwrap();
    format!("postgres://{user}@{server}")
}

fn refused(error: &LedgerError, because: &str) {
    assert!(error.to_string().contains(because), "{error:?}");
    assert_eq!(error.code(), Code::StoreUnavailable);
    let source = error.source().map(ToString::to_string).unwrap_or_default();
    for shown in [error.to_string(), source, format!("{error:?}")] {
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
