//! The tables: who owns them, which version they have, how they are made.

use tokio_postgres::{Client, Row};
use tower_outcome_core::ledger::Timestamp;

use crate::fault::Refusal;

/// A database schema that holds one ledger.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    name: String,
    /// Whether a ledger is made where there is none.
    makes: bool,
}

impl Schema {
    /// Takes names that look the same with and without quotes.
    pub(crate) fn new(name: &str, makes: bool) -> Result<Self, Refusal> {
        let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
        let starts = name.starts_with(|first: char| !first.is_ascii_digit());
        if !starts || name.len() > 63 || !name.bytes().all(plain) || name.starts_with("pg_") {
            return Err(Refusal::new(
                "the name of the ledger's schema has other than 1 to 63 lower case letters, \
                 digits and underscores, or starts with a digit or pg_",
            ));
        }
        let name = name.to_owned();
        Ok(Self { name, makes })
    }

    /// A statement that was written for a schema called "ledger".
    pub(crate) fn statement(&self, text: &str) -> String {
        text.replace("\"ledger\"", &format!("\"{}\"", self.name))
    }

    /// What is there. Refuses what is not ours or newer.
    pub(crate) async fn look(&self, client: &Client) -> Result<Found, Refusal> {
        let found = client.query_one(LOOK, &[&self.name]).await?;
        let time = Timestamp(u64::try_from(found.get::<_, i64>("time")).unwrap_or_default());
        let is_whole = self.version(client, &found).await? == VERSION;
        Ok(Found { time, is_whole })
    }

    /// Makes what is missing. Refuses what [`look`](Self::look) does, and changes nothing there.
    pub(crate) async fn migrate(&self, client: &mut Client) -> Result<(), Refusal> {
        let transaction = client.transaction().await?;
        transaction.query_one(LOCK, &[&self.name]).await?;
        // Looked at again: another process may have been quicker.
        let found = transaction.query_one(LOOK, &[&self.name]).await?;
        let version = self.version(transaction.client(), &found).await?;
        if !found.get::<_, bool>("exists") {
            let create = self.statement("CREATE SCHEMA \"ledger\"");
            transaction.batch_execute(&create).await?;
        }
        if version == 0 {
            transaction
                .batch_execute(&self.statement(MIGRATIONS_TABLE))
                .await?;
        }
        for (number, migration) in (1..).zip(MIGRATIONS).filter(|(it, _)| *it > version) {
            transaction
                .batch_execute(&self.statement(migration))
                .await?;
            let note = self.statement("INSERT INTO \"ledger\".migrations (version) VALUES ($1)");
            transaction.execute(&note, &[&number]).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// The version of the tables; 0 where there are none.
    async fn version(&self, client: &Client, found: &Row) -> Result<i32, Refusal> {
        if !found.get::<_, bool>("ours") {
            if found.get::<_, bool>("used") {
                return Err(Refusal::new(format!(
                    "the schema {} holds tables of another program; the ledger needs a schema of \
                     its own",
                    self.name
                )));
            }
            if !self.makes {
                return Err(Refusal::new(format!(
                    "there is no ledger in the schema {} of the database",
                    self.name
                )));
            }
            return Ok(0);
        }
        let ask = self.statement("SELECT coalesce(max(version), 0) FROM \"ledger\".migrations");
        let version = client.query_one(&ask, &[]).await?.get(0);
        if version > VERSION {
            return Err(Refusal::new(format!(
                "the schema {} has version {version}, written by a newer version of \
                 tower-outcome-postgres; this one knows {VERSION}",
                self.name
            )));
        }
        Ok(version)
    }
}

/// What a look at the database has found.
pub(crate) struct Found {
    /// The database's time.
    pub(crate) time: Timestamp,
    /// Whether all tables are there.
    pub(crate) is_whole: bool,
}

/// One at a time, and none is ever changed once it is released.
const MIGRATIONS: [&str; 4] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];

/// The schema that this version reads and writes.
const VERSION: i32 = 4;

const MIGRATIONS_TABLE: &str = r#"
CREATE TABLE "ledger".migrations (
    version    int4        PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE "ledger".migrations IS 'of tower-outcome-postgres: which it has made here';
"#;

const LOOK: &str = "
    SELECT
        namespace.oid IS NOT NULL AS exists,
        EXISTS (SELECT FROM pg_class WHERE relnamespace = namespace.oid) AS used,
        EXISTS (
            SELECT FROM pg_class WHERE relnamespace = namespace.oid AND relname = 'migrations'
        ) AS ours,
        floor(extract(epoch FROM clock_timestamp()) * 1000)::int8 AS time
    FROM (VALUES ($1::text)) AS asked (name)
    LEFT JOIN pg_namespace AS namespace ON namespace.nspname = asked.name";

/// Held until the end of the transaction.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtext('tower-outcome-postgres'), hashtext($1))";
