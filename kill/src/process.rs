//! The parent's hold on a worker.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tower_outcome::BoxError;

use crate::books::Books;
use crate::options::Mutant;
use crate::service::Service;
use crate::store::Address;
use crate::timing;
use crate::words::{Order, Report, Setup, line};

/// A running worker, and the service that it alone talks to. Dropping it kills the worker.
pub(crate) struct Worker {
    child: Child,
    orders: ChildStdin,
    reports: mpsc::UnboundedReceiver<Stamped>,
    pub(crate) service: Service,
}

/// What a worker said, and the number of the books when it was heard.
pub(crate) type Stamped = (u64, Report);

impl Worker {
    /// Starts workers until one has its store: the store's server may be down.
    pub(crate) async fn start(
        store: &Address,
        mutant: Option<Mutant>,
        books: &Arc<Books>,
    ) -> Result<Self, BoxError> {
        let mut refused = None;
        for _ in 0..STARTS {
            let mut worker = Self::spawn(store, mutant, books).await?;
            match worker.next().await? {
                Some((_, Report::Ready)) => return Ok(worker),
                said => refused = said,
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err(format!("no worker could start: {refused:?}").into())
    }

    async fn spawn(
        store: &Address,
        mutant: Option<Mutant>,
        books: &Arc<Books>,
    ) -> Result<Self, BoxError> {
        let service = Service::start(Arc::clone(books), store.forgets).await?;
        let mut child = Command::new(std::env::current_exe()?)
            .arg(WORKER)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let orders = child.stdin.take().ok_or("no standard input")?;
        let output = child.stdout.take().ok_or("no standard output")?;
        let (heard, reports) = mpsc::unbounded_channel();
        tokio::spawn(listen(output, heard, Arc::clone(books)));
        let setup = Setup {
            store: store.clone(),
            service: service.url(),
            mutant,
        };
        let mut worker = Self {
            child,
            orders,
            reports,
            service,
        };
        worker.tell(line(&setup)).await?;
        Ok(worker)
    }

    pub(crate) async fn order(&mut self, order: &Order) -> Result<(), BoxError> {
        self.tell(line(order)).await
    }

    async fn tell(&mut self, line: String) -> Result<(), BoxError> {
        self.orders.write_all(line.as_bytes()).await?;
        Ok(self.orders.flush().await?)
    }

    /// The next report; `None` once it has ended.
    pub(crate) async fn next(&mut self) -> Result<Option<Stamped>, BoxError> {
        let next = timeout(timing::STUCK, self.reports.recv()).await;
        next.map_err(|_| "a worker is stuck".into())
    }

    /// Collects reports up to the one that is wanted.
    pub(crate) async fn until(
        &mut self,
        log: &mut Vec<Stamped>,
        wanted: impl Fn(&Report) -> bool,
    ) -> Result<(), BoxError> {
        loop {
            let report = self.next().await?;
            let report = report.ok_or("a worker has ended by itself")?;
            let found = wanted(&report.1);
            log.push(report);
            if found {
                return Ok(());
            }
        }
    }

    /// Collects what has been heard so far.
    pub(crate) fn hear(&mut self, log: &mut Vec<Stamped>) {
        while let Ok(report) = self.reports.try_recv() {
            log.push(report);
        }
    }

    pub(crate) fn freeze(&self) -> Result<(), BoxError> {
        self.signal(Signal::STOP)
    }

    pub(crate) fn thaw(&self) -> Result<(), BoxError> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> Result<(), BoxError> {
        let id = self.child.id().ok_or("a worker has ended by itself")?;
        let id = Pid::from_raw(i32::try_from(id)?).ok_or("no process id")?;
        Ok(kill_process(id, signal)?)
    }

    /// Kills it and collects what it had said. Its service may still be working on what it had sent.
    pub(crate) async fn kill(mut self, log: &mut Vec<Stamped>) -> Result<Service, BoxError> {
        self.child.kill().await?;
        while let Some(report) = self.next().await? {
            log.push(report);
        }
        Ok(self.service)
    }
}

/// Hears all that is said, as soon as it is said.
async fn listen(output: ChildStdout, heard: mpsc::UnboundedSender<Stamped>, books: Arc<Books>) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        // The last line of a process may have been cut off with it.
        let Ok(report) = serde_json::from_str(&line) else {
            return;
        };
        if heard.send((books.now(), report)).is_err() {
            return;
        }
    }
}

/// The argument that makes this program a worker.
pub(crate) const WORKER: &str = "--worker";

const STARTS: u32 = 200;

const PAUSE: Duration = Duration::from_millis(50);
