//! A schema of its own for every test.

use std::sync::atomic::{AtomicU32, Ordering};

use tower_outcome_postgres::tokio_postgres::{Client, NoTls};
use tower_outcome_postgres::{PostgresLedger, Settings, tokio_postgres};
pub(crate) use tower_outcome_store_tests::orders::*;
use xtask::servers::{Postgres, Server as _};

/// A schema that no other test uses, in the database of the test server or of another one.
pub(crate) struct Place {
    pub(crate) url: String,
    pub(crate) schema: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let url = std::env::var(Postgres::VARIABLE).unwrap_or_else(|_| {
            panic!(
                "{} is not set: these tests need a PostgreSQL server, which `cargo xtask test` \
                 starts for them",
                Postgres::VARIABLE
            )
        });
        Self::at(url)
    }

    pub(crate) fn at(url: String) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let schema = format!("ledger_{}_{number}", std::process::id());
        Self { url, schema }
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings::new(&self.url).unwrap().with_schema(&self.schema)
    }

    pub(crate) async fn ledger(&self) -> PostgresLedger {
        self.settings().connect().await.unwrap()
    }

    /// A client without a ledger, whose statements find the ledger's tables.
    pub(crate) async fn client(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        let path = format!("SET search_path = {}", self.schema);
        client.batch_execute(&path).await.unwrap();
        client
    }
}
