//! One cycle: a write, a blow in the middle of it, and what others make of what is left.

use std::future::Future;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tower_outcome::BoxError;
use tower_outcome_core::ledger::State;

use crate::books::What;
use crate::history::{CallLog, History};
use crate::plan::{Moment, Plan, Thaw};
use crate::process::Worker;
use crate::site::Site;
use crate::timing;
use crate::words::{CallOrder, Order, Pauses, Report};

/// Runs a cycle. `worker` is hit; the one that comes back took its place.
pub(crate) async fn run(
    site: &Site,
    mut worker: Worker,
    cycle: u64,
    plan: Plan,
) -> Result<(Worker, History), BoxError> {
    let turns = site.turns();
    site.books.plan((cycle, 1), plan.first);
    site.books.plan((cycle, 2), plan.second);
    let mut first = CallLog::new(1, site.books.now());
    let pauses = plan.pauses;
    let order = order(site, cycle, 1, plan.deadline, pauses);
    worker.order(&order).await?;
    reach(plan.blow.moment, &mut worker, &mut first, site, cycle).await?;
    sleep(plan.blow.delay).await;
    if let Some(database) = site.database.as_ref().filter(|_| plan.crashes_store) {
        database.crash(plan.blow.delay * LOST).await?;
        over(&mut worker, &mut first).await?;
    }

    let mut others = Others::new(site, cycle);
    let (at_blow, left);
    let mut heir;
    if plan.freezes {
        worker.freeze()?;
        at_blow = site.row(cycle).await?;
        heir = start(site).await?;
        let finished = Notify::new();
        let (done, thawed) = tokio::join!(
            async {
                let done = others.take_over(&mut heir).await;
                finished.notify_one();
                done
            },
            thaw(&mut worker, &mut first, site, (cycle, plan.thaw), &finished),
        );
        done?;
        thawed?;
        left = worker.kill(&mut first.reports).await?;
    } else {
        left = worker.kill(&mut first.reports).await?;
        at_blow = site.row(cycle).await?;
        heir = start(site).await?;
        others.take_over(&mut heir).await?;
    }
    let closed = timeout(timing::STUCK, left.close()).await;
    closed.map_err(|_| "a service is stuck")??;
    others.finish(&mut heir).await?;

    let mut calls = others.calls;
    calls.insert(0, first);
    let last = site.row_let_go(cycle).await?;
    if last.as_ref().is_some_and(|it| it.state == State::Unknown) {
        site.put_aside(cycle).await?;
    }
    let crashed = turns != site.turns() || turns % 2 == 1;
    let history = History {
        plan,
        calls,
        at_blow,
        last,
        lines: site.books.lines(cycle),
        crashed,
        forgot: crashed && site.address.forgets,
    };
    Ok((heir, history))
}

/// A worker on the site's store.
pub(crate) async fn start(site: &Site) -> Result<Worker, BoxError> {
    Worker::start(&site.address, site.mutant, &site.books).await
}

/// Waits for the moment of the blow, or the end of the call.
async fn reach(
    moment: Moment,
    worker: &mut Worker,
    log: &mut CallLog,
    site: &Site,
    cycle: u64,
) -> Result<(), BoxError> {
    let reported = move |report: &Report| match (moment, report) {
        (_, Report::Said(_)) => true,
        (Moment::Answered(step), Report::Answered(answered, _)) => step == *answered,
        (Moment::Asked(step), Report::Asked(asked)) => step == *asked,
        _ => false,
    };
    let seen = async {
        let seen = |what| match moment {
            Moment::Committed => matches!(what, What::Committed(_)),
            Moment::Received => what == What::Received,
            Moment::Answered(_) | Moment::Asked(_) | Moment::Ordered | Moment::Said => false,
        };
        site.books.wait((cycle, 1), seen).await;
    };
    if moment == Moment::Ordered {
        return Ok(());
    }
    tokio::select! {
        reported = worker.until(&mut log.reports, reported) => reported,
        () = seen => Ok(()),
    }
}

/// Waits until nothing of the call is under way.
async fn over(worker: &mut Worker, log: &mut CallLog) -> Result<(), BoxError> {
    if log.has(is_over) {
        return Ok(());
    }
    worker.until(&mut log.reports, is_over).await
}

fn is_over(report: &Report) -> bool {
    matches!(report, Report::Over)
}

/// Lets the frozen worker go on when its lease has long ended, and hears it out.
async fn thaw(
    worker: &mut Worker,
    log: &mut CallLog,
    site: &Site,
    (cycle, thaw): (u64, Thaw),
    finished: &Notify,
) -> Result<(), BoxError> {
    let between = async {
        match thaw {
            Thaw::Afterwards => std::future::pending().await,
            Thaw::Between(delay) => {
                let received = |what| what == What::Received;
                site.books.wait((cycle, 2), received).await;
                sleep(delay).await;
            }
        }
    };
    let waited = async {
        tokio::select! {
            () = between => {}
            () = finished.notified() => {}
        }
    };
    sleep(timing::LEASE).await;
    // It may hold a lock of the store, without which nobody can finish.
    let _ = timeout(timing::LONGEST_FREEZE, waited).await;
    // All that it had said before it was frozen has been heard by now.
    worker.hear(&mut log.reports);
    if log.said().is_none() {
        log.since = site.books.now();
    }
    worker.thaw()?;
    over(worker, log).await
}

/// Those who come after the blow.
struct Others<'a> {
    site: &'a Site,
    cycle: u64,
    calls: Vec<CallLog>,
}

impl<'a> Others<'a> {
    const fn new(site: &'a Site, cycle: u64) -> Self {
        Self {
            site,
            cycle,
            calls: Vec::new(),
        }
    }

    /// Identical calls, and a pass over what is in doubt between them.
    async fn take_over(&mut self, worker: &mut Worker) -> Result<(), BoxError> {
        self.call(worker).await?;
        self.reconcile(worker).await?;
        self.call(worker).await
    }

    /// Once nothing is under way any more and nobody has the row: another look at what is in doubt,
    /// which finds what there is to be found, and another identical call.
    async fn finish(&mut self, worker: &mut Worker) -> Result<(), BoxError> {
        idle(worker.service.idle()).await?;
        self.site.row_let_go(self.cycle).await?;
        self.reconcile(worker).await?;
        self.call(worker).await?;
        idle(worker.service.idle()).await
    }

    /// Makes the call again until the store can be asked.
    async fn call(&mut self, worker: &mut Worker) -> Result<(), BoxError> {
        for _ in 0..ATTEMPTS {
            let number = u32::try_from(self.calls.len() + 2)?;
            let mut log = CallLog::new(number, self.site.books.now());
            let pauses = Pauses::default();
            let order = order(self.site, self.cycle, number, timing::DEADLINE, pauses);
            worker.order(&order).await?;
            over(worker, &mut log).await?;
            let code = log.said().map(|(_, said)| said.code.clone());
            self.calls.push(log);
            if code.as_deref() != Some("store_unavailable") {
                return Ok(());
            }
            sleep(PAUSE).await;
        }
        Err("the store could not be asked for too long".into())
    }

    async fn reconcile(&self, worker: &mut Worker) -> Result<(), BoxError> {
        for _ in 0..ATTEMPTS {
            worker.order(&Order::Reconcile).await?;
            let mut log = Vec::new();
            let ended = |report: &Report| matches!(report, Report::Reconciled(_));
            worker.until(&mut log, ended).await?;
            if let Some((_, Report::Reconciled(true))) = log.last() {
                return Ok(());
            }
            sleep(PAUSE).await;
        }
        Err("the store could not list what is in doubt for too long".into())
    }
}

async fn idle(idle: impl Future<Output = ()>) -> Result<(), BoxError> {
    let ended = timeout(timing::STUCK, idle).await;
    ended.map_err(|_| "a service is stuck".into())
}

fn order(site: &Site, cycle: u64, number: u32, deadline: Duration, pauses: Pauses) -> Order {
    Order::Call(CallOrder {
        scope: site.scope.clone(),
        cycle,
        number,
        deadline,
        pauses,
    })
}

/// For how much longer than the blow's delay a store's server has not reached its disk.
const LOST: u32 = 10;

const ATTEMPTS: usize = 300;

const PAUSE: Duration = Duration::from_millis(50);
