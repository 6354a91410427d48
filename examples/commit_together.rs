//! A row of our own and the ledger's entry, in one PostgreSQL transaction: both or neither.
//!
//! `cargo run --example commit_together` starts a private PostgreSQL; with a URL as its argument it
//! uses that one. Exits with 1 if a row stands without its entry or the other way round.

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tower_outcome::{Code, Intent, Ledger as _};
use tower_outcome_core::ledger::{Answer, Claim, Ending, EntryKey, Event, Owner};
use tower_outcome_postgres::PostgresLedger;
use tower_outcome_postgres::tokio_postgres::{self, Client, NoTls, Transaction};
use xtask::servers::{Postgres, Server as _};

#[tokio::main]
async fn main() -> ExitCode {
    let ended = match std::env::args().nth(1) {
        Some(database) => play(&database).await,
        None => match Postgres::start() {
            Ok(server) => play(&server.url()).await,
            Err(reason) => Err(reason.into()),
        },
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("commit_together: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn play(database: &str) -> Result<bool, Box<dyn Error>> {
    let ledger = PostgresLedger::connect(database).await?;
    let (mut client, connection) = tokio_postgres::connect(database, NoTls).await?;
    tokio::spawn(connection);
    client
        .batch_execute("CREATE TEMPORARY TABLE credits (customer text, cents int8)")
        .await?;

    // Another run on the same database is about other credits.
    let run = std::process::id();
    let mut as_expected = true;
    for (customer, commits) in [("ann", true), ("bob", false)] {
        let arguments = json!({ "customer": customer, "cents": 2000, "run": run });
        let intent = Intent::new("acme", "credit", &arguments)?;
        let transaction = client.transaction().await?;
        credit(&ledger, &transaction, &intent, customer).await?;
        if commits {
            transaction.commit().await?;
        } else {
            transaction.rollback().await?;
        }
        let (row, entry) = both(&client, &ledger, &intent, customer).await?;
        let end = if commits { "commit" } else { "rollback" };
        println!("{customer}, after the {end}: row {row}, entry {entry}");
        as_expected &= row == commits && entry == commits;
    }
    Ok(as_expected)
}

/// Credits a customer once, however often the same wish comes: who finds it done changes nothing.
async fn credit(
    ledger: &PostgresLedger,
    transaction: &Transaction<'_>,
    intent: &Intent,
    customer: &str,
) -> Result<(), Box<dyn Error>> {
    let key = EntryKey::of(intent);
    let claim = Claim::new(intent, Owner::random(), Duration::from_secs(30));
    let claimed = ledger.apply_in(transaction, &key, Event::Claim(claim));
    let Answer::Granted(grant) = claimed.await? else {
        return Ok(());
    };
    let insert = "INSERT INTO credits VALUES ($1, 2000)";
    transaction.execute(insert, &[&customer]).await?;
    let done = Event::Settle {
        epoch: grant.epoch,
        ending: Ending::Done {
            code: Code::Done,
            result: None,
        },
    };
    ledger.apply_in(transaction, &key, done).await?;
    Ok(())
}

/// Whether the row is there, and whether the entry is.
async fn both(
    client: &Client,
    ledger: &PostgresLedger,
    intent: &Intent,
    customer: &str,
) -> Result<(bool, bool), Box<dyn Error>> {
    let look = "SELECT FROM credits WHERE customer = $1";
    let row = client.query_opt(look, &[&customer]).await?.is_some();
    let entry = ledger.read(&EntryKey::of(intent)).await?;
    Ok((row, entry.is_some()))
}
