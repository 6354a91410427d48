//! How a fault is staged.

use std::cell::Cell;
use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;
use tower_outcome_testkit::{
    Billing, BrokenTls, Observation, Scenario, Step, TlsFault, Told, Unreachable, What,
};

use crate::Write;
use crate::workers::{Held, settle};

/// How a fault is staged.
#[derive(Clone, Debug)]
pub enum Staging {
    /// A TLS handshake that goes wrong.
    BrokenTls(TlsFault),
    /// A connect that never ends.
    Hangs,
    /// The server answers, and does the rest of this step to the idle connection so that it lies in
    /// the client's socket when the next write is made, and no reactor has seen it yet.
    IdleEnd(Step),
    /// A host name that does not resolve.
    Nowhere,
    /// A server that allows one stream, and ends the connection with this step while a second write
    /// waits for its turn.
    OneStream(Step),
    /// A server with a script.
    Scripted(Box<Scenario>),
}

impl Staging {
    pub(crate) async fn run(&self, name: &'static str, write: &Write) -> io::Result<Observation> {
        match self {
            Self::Scripted(scenario) => scripted(scenario, write).await,
            Self::Hangs => {
                let unreachable = Unreachable::start().await?;
                let told = timeout(LIMIT, write(unreachable.url())).await.ok();
                Ok(Observation::new(name, told, 0, 0))
            }
            Self::Nowhere => {
                let told = timeout(LIMIT, write("http://billing.invalid".to_owned())).await;
                Ok(Observation::new(name, told.ok(), 0, 0))
            }
            Self::BrokenTls(fault) => {
                let broken = BrokenTls::start(*fault).await?;
                let told = timeout(LIMIT, write(broken.url())).await.ok();
                Ok(Observation::new(name, told, 0, 0))
            }
            Self::OneStream(step) => {
                let billing = Billing::start_without_keys().await?;
                billing.allow_streams(1);
                // Makes the connection and has its settings read.
                write(billing.url()).await;
                billing.script([step.clone(), step.clone()]);
                let both = async { tokio::join!(write(billing.url()), write(billing.url())) };
                let told = timeout(LIMIT, both).await.ok().map(|(_, second)| second);
                Ok(seen(name, told, &billing, 2))
            }
            Self::IdleEnd(step) => idle_end(name, step.clone(), write).await,
        }
    }
}

/// What came of the write after `before` others.
fn seen(name: &'static str, told: Option<Told>, billing: &Billing, before: usize) -> Observation {
    let commits = billing.commits().saturating_sub(before);
    let requests = billing.received().len().saturating_sub(before);
    Observation::new(name, told, commits, requests)
}

/// What has happened to the connection that an earlier write left is known when the write is made.
async fn scripted(scenario: &Scenario, write: &Write) -> io::Result<Observation> {
    let writes = Cell::new(0);
    let write = async |url| {
        let before = writes.replace(writes.get() + 1);
        if before > 0 {
            // Where it fails there are no ports, which the server's will not be told of either.
            let _ = settle().await;
        }
        write(url).await
    };
    scenario.run(&write).await
}

async fn idle_end(name: &'static str, step: Step, write: &Write) -> io::Result<Observation> {
    let server = Elsewhere::start(step);
    write(server.url.clone()).await;
    settle().await?;
    let end_now = || {
        let _ = server.release.send(());
    };
    let held = Held::until(end_now, server.closed).await;
    let told = timeout(LIMIT, write(server.url)).await.ok();
    drop(held);
    let _ = server.stop.send(());
    let (commits, requests) = server.counts.recv().unwrap_or_default();
    Ok(Observation::new(
        name,
        told,
        commits.saturating_sub(1),
        requests.saturating_sub(1),
    ))
}

/// A server on a thread of its own.
struct Elsewhere {
    url: String,
    release: oneshot::Sender<()>,
    closed: mpsc::Receiver<()>,
    stop: oneshot::Sender<()>,
    counts: mpsc::Receiver<(usize, usize)>,
}

impl Elsewhere {
    fn start(scripted: Step) -> Self {
        let (urls, url) = mpsc::channel();
        let (closing, closed) = mpsc::channel();
        let (counting, counts) = mpsc::channel();
        let (release, released) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime?.block_on(async {
                let billing = Billing::start_without_keys().await?;
                billing.script([scripted]);
                let _ = urls.send(billing.url());
                let _ = released.await;
                billing.release();
                billing
                    .wait_for(|event| matches!(event.what, What::Closed | What::Reset))
                    .await;
                let _ = closing.send(());
                let _ = stopped.await;
                let _ = counting.send((billing.commits(), billing.received().len()));
                io::Result::Ok(())
            })
        });
        Self {
            url: url.recv().unwrap_or_default(),
            release,
            closed,
            stop,
            counts,
        }
    }
}

const LIMIT: Duration = Duration::from_secs(30);
