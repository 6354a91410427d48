//! The process that is killed: an agent that makes writes through the whole stack.
//!
//! It does what it is told on its standard input and says all it does on its standard output,
//! each line before the next thing happens, so that what a killed one did is known.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines, Stdin};
use tower_outcome::{
    BoxError, ClaimLayer, ForWrites as _, Intent, RequestExt as _, Stack, Watch, WritesClient,
};
use tower_outcome_core::code::Level;
use tower_outcome_tools::Reconciler;

use crate::timing;
use crate::words::{CallOrder, Order, Pauses, Report, Said, Setup, line};

mod look_up;
mod mutant;
mod watched;

use look_up::Effects;
use mutant::Mutated;
use watched::Watched;

/// Works until the orders end.
pub(crate) async fn run() -> ExitCode {
    die_with_the_parent();
    let orders = BufReader::new(tokio::io::stdin()).lines();
    match work(orders).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&Report::Broken(error.to_string()));
            ExitCode::FAILURE
        }
    }
}

/// Even a stopped process, which would not notice that its orders have ended.
fn die_with_the_parent() {
    #[cfg(target_os = "linux")]
    {
        let signal = rustix::process::Signal::KILL;
        // Where it is refused, the end of the orders is noticed.
        let _ = rustix::process::set_parent_process_death_signal(Some(signal));
    }
}

async fn work(mut orders: Lines<BufReader<Stdin>>) -> Result<(), BoxError> {
    let first = orders.next_line().await?.ok_or("no orders")?;
    let setup: Setup = serde_json::from_str(&first)?;
    let store = setup.store.open(false).await?;
    let ledger = Arc::new(Mutated::new(store, setup.mutant));
    let http = reqwest::Client::builder().no_proxy().for_writes().build()?;
    say(&Report::Ready);
    while let Some(order) = orders.next_line().await? {
        match serde_json::from_str(&order)? {
            Order::Call(order) => call(&setup, &ledger, &http, order).await?,
            Order::Reconcile => {
                let passed = reconcile(&setup, &ledger).await;
                say(&Report::Reconciled(passed));
            }
        }
    }
    Ok(())
}

async fn call(
    setup: &Setup,
    ledger: &Arc<Mutated>,
    http: &WritesClient,
    order: CallOrder,
) -> Result<(), BoxError> {
    let watched = Watched::new(Arc::clone(ledger), order.pauses);
    let claims = ClaimLayer::new(watched)
        .with_lease(timing::LEASE)
        .with_patience(timing::PATIENCE);
    let client = Stack::new()
        .with_deadline(order.deadline)
        .with_hard_limit(timing::HARD_LIMIT)
        .with_claims(claims)
        .with_profile(setup.store.profile())
        .over(http.clone());

    let arguments = arguments(order.cycle);
    let intent = Intent::new(&order.scope, TOOL, &arguments)?;
    let watch = Watch::new();
    let url = format!("{}/{}/{}", setup.service, order.cycle, order.number);
    let request = http.post(url).body(arguments.to_string()).build()?;
    let mut request = request.with_intent(intent);
    request.extensions_mut().insert(watch.clone());

    let verdict = client.send(request).await;
    let conclusion = verdict.conclusion();
    let answer = verdict.reply().and_then(|reply| reply.body().bytes());
    let answer: Option<Value> = answer.and_then(|bytes| serde_json::from_slice(bytes).ok());
    say(&Report::Said(Said {
        outcome: conclusion.outcome().as_str().to_owned(),
        code: conclusion.code().as_str().to_owned(),
        of_intent: conclusion.level() == Level::Intent,
        effect: answer.and_then(|answer| answer["effect"].as_u64()),
    }));
    if let Some(call) = watch.call() {
        call.settled().await;
    }
    say(&Report::Over);
    Ok(())
}

async fn reconcile(setup: &Setup, ledger: &Arc<Mutated>) -> bool {
    let watched = Watched::new(Arc::clone(ledger), Pauses::default());
    let effects = Effects::at(&setup.service);
    let passed = Reconciler::new(watched, effects.clone())
        // Whoever makes a pass looks at all that is in doubt, and again however recent the last look.
        .with_backoff(Duration::ZERO, Duration::ZERO)
        .with_give_up_after(u32::MAX)
        .pass()
        .await;
    let believed = ledger.believe_what_is_not_found(&effects).await;
    passed.is_ok() && believed.is_ok()
}

/// What the write of a cycle is about.
pub(crate) fn arguments(cycle: u64) -> Value {
    json!({ "order": cycle })
}

/// Says it before anything else happens: standard output would keep it until the line is full.
fn say(report: &Report) {
    let mut output = std::io::stdout().lock();
    // Nobody listens any more: the orders end as well.
    let _ = output.write_all(line(report).as_bytes());
    let _ = output.flush();
}

/// What the write is made with.
pub(crate) const TOOL: &str = "refund";
