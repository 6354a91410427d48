//! Two processes on one PostgreSQL ledger race for the same 100 refunds; billing gets each once.
//!
//! `cargo run --example ledger_shared` starts a private PostgreSQL; with a URL as its argument it
//! uses that one. Billing ignores keys, so that nothing but the ledger keeps a refund from being
//! sent twice. Exits with 1 unless exactly 100 were sent.

use std::error::Error;
use std::process::{ExitCode, Stdio};

use serde_json::json;
use tokio::process::Command;
use tower_outcome::{ForWrites as _, Intent, Outcome, Profile, RequestExt as _, Stack};
use tower_outcome_postgres::PostgresLedger;
use tower_outcome_testkit::Billing;
use xtask::servers::{Postgres, Server as _};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match arguments.as_slice() {
        ["--racer", database, billing, run] => race(database, billing, run).await.map(|()| true),
        [] => match Postgres::start() {
            Ok(server) => start(&server.url()).await,
            Err(reason) => Err(reason.into()),
        },
        [database] => start(database).await,
        _ => Err("usage: ledger_shared [postgres://user:password@host/database]".into()),
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("ledger_shared: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Starts the racers and counts what reached billing.
async fn start(database: &str) -> Result<bool, Box<dyn Error>> {
    let billing = Billing::start_without_keys().await?;
    // Another run on the same database is about other refunds.
    let run = std::process::id().to_string();
    let mut racers = Vec::new();
    for _ in 0..2 {
        let racer = Command::new(std::env::current_exe()?)
            .args(["--racer", database, &billing.url(), &run])
            .stdout(Stdio::inherit())
            .spawn()?;
        racers.push(racer);
    }
    let mut all_well = true;
    for mut racer in racers {
        all_well &= racer.wait().await?.success();
    }
    let (sent, made) = (billing.received().len(), billing.commits());
    println!("billing got {sent} requests and made {made} refunds for {ORDERS} orders");
    Ok(all_well && sent == ORDERS && made == ORDERS)
}

/// One process: refunds every order, unless the other one has or does.
async fn race(database: &str, billing: &str, run: &str) -> Result<(), Box<dyn Error>> {
    let http = reqwest::Client::builder().for_writes().build()?;
    let client = Stack::new()
        .with_ledger(PostgresLedger::connect(database).await?)
        .with_profile(Profile::idempotency_key())
        .over(http.clone())
        .boxed();
    let mut racing = tokio::task::JoinSet::new();
    for order in 0..ORDERS {
        let refund = json!({ "order": order, "amount": 20 });
        let intent = Intent::new(&format!("acme/{run}"), "refund", &refund)?;
        let request = http
            .post(format!("{billing}/refunds"))
            .body(refund.to_string())
            .build()?
            .with_intent(intent);
        let client = client.clone();
        racing.spawn(async move { client.send(request).await.outcome() });
    }
    let words = racing.join_all().await;
    let count = |word| words.iter().filter(|it| **it == word).count();
    let (ok, already_done) = (count(Outcome::Ok), count(Outcome::AlreadyDone));
    let process = std::process::id();
    println!("process {process}: {ok} ok, {already_done} already_done");
    if ok + already_done == ORDERS {
        Ok(())
    } else {
        Err(format!("process {process} was left in doubt: {words:?}").into())
    }
}

const ORDERS: usize = 100;
