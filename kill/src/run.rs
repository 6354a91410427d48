//! All cycles of a run, several at a time.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::try_join_all;
use tower_outcome::BoxError;
use xtask::servers::Files;

use crate::books::Books;
use crate::checks::{self, Violation};
use crate::cycle;
use crate::database::Database;
use crate::options::{Mutant, Options};
use crate::plan::Plan;
use crate::site::Site;
use crate::store::{Address, Kind};
use crate::tally::Tally;

/// Runs all cycles and says what they came to.
pub(crate) async fn run(options: Options) -> Result<ExitCode, BoxError> {
    let files = Files::new("kill")?;
    let books = Arc::new(Books::new());
    let sites = sites(&options, &files, &books).await?;
    let tally = Mutex::new(Tally::default());
    // Cycles of one remainder share a store, whatever the number of the first.
    let walks = (0..LANES).zip(sites.iter().cycle());
    let walks = walks.map(|(lane, site)| walk(lane, site, &options, &tally));
    try_join_all(walks).await?;
    let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
    println!("{}", title(&options));
    println!("{tally}");
    let found = tally.violations > 0;
    Ok(if found == options.mutant.is_some() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The cycles of one lane.
async fn walk(
    lane: u64,
    site: &Site,
    options: &Options,
    tally: &Mutex<Tally>,
) -> Result<(), BoxError> {
    let cycles = options.from..options.from + options.cycles;
    let mut cycles = cycles.filter(|cycle| cycle % LANES == lane).peekable();
    if cycles.peek().is_none() {
        return Ok(());
    }
    let mut worker = cycle::start(site).await?;
    for cycle in cycles {
        let plan = plan(options, cycle);
        let crashes = plan.crashes_store && site.database.is_some();
        let (next, history) = cycle::run(site, worker, cycle, plan)
            .await
            .map_err(|error| format!("seed {}, cycle {cycle}: {error}", options.seed))?;
        worker = next;
        let violations = checks::check(&history);
        for Violation { rule, what } in &violations {
            eprintln!("seed {}, cycle {cycle}: {rule}: {what}", options.seed);
        }
        if !violations.is_empty() && options.mutant.is_none() {
            eprint!("{history}");
        }
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.add(&history, &violations, crashes);
        if tally.violations > 0 && options.mutant.is_some() {
            // Somebody has noticed: that is all there is to find out.
            break;
        }
    }
    Ok(())
}

/// What happens in a cycle.
fn plan(options: &Options, cycle: u64) -> Plan {
    // Each wrong protocol shows in one of the two.
    let in_turn = cycle / LANES % 2 == 1;
    let freezes = options.freeze || options.mutant.is_some() && in_turn;
    let plan = Plan::draw(options.seed, cycle, freezes);
    match options.mutant {
        Some(Mutant::UnfencedFailed) if !in_turn => plan.with_stale_failure(),
        _ => plan,
    }
}

/// The stores; lanes take turns with them.
async fn sites(
    options: &Options,
    files: &Files,
    books: &Arc<Books>,
) -> Result<Vec<Site>, BoxError> {
    let databases = match options.store {
        Kind::Postgres => vec![Some(Database::postgres()?)],
        Kind::Redis => vec![
            Some(Database::redis()?),
            Some(Database::redis_every_second().await?),
        ],
        Kind::Sqlite => vec![None],
    };
    let scope = format!("kill/{}", options.seed);
    let mut sites = Vec::new();
    for database in databases {
        let file = Address {
            kind: Kind::Sqlite,
            url: files.path().join("ledger.sqlite").display().to_string(),
            forgets: false,
        };
        let address = database.as_ref().map_or(file, |it| it.address.clone());
        let site = Site::open(address, database, books, &scope, options.mutant).await?;
        sites.push(site);
    }
    Ok(sites)
}

fn title(options: &Options) -> String {
    let mut title = format!(
        "kill         {}, seed {}, cycles {} to {}",
        options.store.as_str(),
        options.seed,
        options.from,
        options.from + options.cycles
    );
    if options.freeze {
        title.push_str(", frozen");
    }
    if let Some(mutant) = options.mutant {
        title.push_str(", mutant ");
        title.push_str(mutant.as_str());
    }
    title
}

/// How many cycles run at a time. Most of one is waiting for a lease to end.
const LANES: u64 = 8;
