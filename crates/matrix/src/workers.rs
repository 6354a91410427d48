//! The workers of the runtime that a client runs on: what they know must not be chance.

use std::io;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Waits until every task has dealt with all that the reactor can tell by now.
pub(crate) async fn settle() -> io::Result<()> {
    for _ in 0..ROUNDS {
        pass_the_reactor().await?;
        meet().await;
    }
    Ok(())
}

/// Workers that stand still, until this is dropped.
pub(crate) struct Held {
    _held: Vec<mpsc::Sender<()>>,
}

impl Held {
    /// Stops all workers, and has one of them go on once `event` has come: what happens meanwhile
    /// lies in the sockets, and nobody but that one gets to see it.
    pub(crate) async fn until(act: impl FnOnce(), event: mpsc::Receiver<()>) -> Self {
        let workers = workers();
        let barrier = Arc::new(Barrier::new(workers));
        let mut held = Vec::new();
        for _ in 1..workers {
            let (release, released) = mpsc::channel();
            held.push(release);
            let barrier = Arc::clone(&barrier);
            tokio::spawn(async move {
                barrier.wait();
                let _ = released.recv();
            });
        }
        let (stopped, all_stopped) = mpsc::channel();
        let last = async move {
            barrier.wait();
            let _ = stopped.send(());
            let _ = event.recv();
        };
        if workers == 1 {
            act();
            let _ = tokio::spawn(last).await;
        } else {
            let last = tokio::spawn(last);
            while let Err(RecvTimeoutError::Timeout) = all_stopped.recv_timeout(STALL) {
                wake_a_worker();
            }
            act();
            let _ = last.await;
        }
        Self { _held: held }
    }
}

/// What is readable behind all else is reported behind all else.
async fn pass_the_reactor() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let (client, accepted) = tokio::join!(
        TcpStream::connect(listener.local_addr()?),
        listener.accept()
    );
    accepted?.0.write_all(b"!").await?;
    client?.read_exact(&mut [0]).await?;
    Ok(())
}

/// Once all workers have met, none of them is in the middle of a task from before.
async fn meet() {
    let workers = workers();
    let barrier = Arc::new(Barrier::new(workers));
    let mut met = JoinSet::new();
    for _ in 0..workers {
        let barrier = Arc::clone(&barrier);
        met.spawn(async move {
            barrier.wait();
        });
    }
    while !met.is_empty() {
        if timeout(STALL, met.join_next()).await.is_err() {
            wake_a_worker();
        }
    }
}

/// A worker may take two tasks into its queue and stand still in the first. The second is left to
/// the others, which may all be asleep by then.
fn wake_a_worker() {
    tokio::spawn(async {});
}

fn workers() -> usize {
    Handle::current().metrics().num_workers()
}

/// Longer than a meeting takes where nobody is asleep.
const STALL: Duration = Duration::from_millis(20);

/// A worker may have taken something up before it came to the first meeting.
const ROUNDS: usize = 3;
