//! The running server.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use crate::books::Books;
use crate::{Event, LookUp, Received, Refusing, Step, What, connection};

/// A billing service on a loopback port, which does to each write what its script says.
///
/// It runs on the runtime that started it and stops when it is dropped: the listener and all
/// connections close as soon as that runtime gets to it. See the [crate docs](crate) for what it
/// understands.
pub struct Billing {
    addr: SocketAddr,
    books: Arc<Books>,
    acceptor: JoinHandle<()>,
    /// Dropped, it tells the acceptor to end.
    alive: oneshot::Sender<()>,
}

impl Billing {
    /// Starts a service that honours `Idempotency-Key`: a key that has committed is answered with
    /// the original 201 and `Idempotent-Replayed: true`, and with 422 where path or body differ.
    ///
    /// # Errors
    ///
    /// The operating system gives no port.
    pub async fn start() -> io::Result<Self> {
        Self::start_with(Books::new(true)).await
    }

    /// Starts a service that ignores `Idempotency-Key`: every request that is read in full commits.
    ///
    /// # Errors
    ///
    /// The operating system gives no port.
    pub async fn start_without_keys() -> io::Result<Self> {
        Self::start_with(Books::new(false)).await
    }

    async fn start_with(books: Books) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Self::serve(listener, Arc::new(books))
    }

    pub(crate) fn serve(listener: TcpListener, books: Arc<Books>) -> io::Result<Self> {
        let addr = listener.local_addr()?;
        let (alive, stopped) = oneshot::channel();
        let acceptor = tokio::spawn(accept(listener, Arc::clone(&books), stopped));
        Ok(Self {
            addr,
            books,
            acceptor,
            alive,
        })
    }

    /// Closes the listener and all connections, and refuses every connect from then on.
    ///
    /// What was committed is kept for a service [opened](Refusing::open) there again.
    ///
    /// # Errors
    ///
    /// The operating system does not give the port back.
    pub async fn stop(self) -> io::Result<Refusing> {
        drop(self.alive);
        // An error would be a panic of the acceptor, which is as stopped as can be.
        let _ = self.acceptor.await;
        Refusing::at(self.addr, self.books)
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// `http://127.0.0.1:PORT`
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Adds steps to the script. Each write takes the next one when its first byte has come (the
    /// first on a connection when its protocol shows, after three), over HTTP/2 when its head has;
    /// [`Step`] names two that are taken earlier. An empty script means [`Step::Answer`].
    pub fn script(&self, steps: impl IntoIterator<Item = Step>) {
        self.books.script(steps);
    }

    /// Restricts what a look-up may ask for.
    pub fn look_up_by(&self, look_up: LookUp) {
        self.books.set_look_up(look_up);
    }

    /// Has every later connection over HTTP/2 told that it may open that many streams at once
    /// (`SETTINGS_MAX_CONCURRENT_STREAMS`); nothing is told without it.
    ///
    /// The server serves all streams that are opened: a client may send before it was told.
    pub fn allow_streams(&self, most: u32) {
        self.books.allow_streams(most);
    }

    /// Lets every answer go that is held back now. Later ones wait for the next release.
    pub fn release(&self) {
        self.books.release();
    }

    /// How many writes took effect.
    #[must_use]
    pub fn commits(&self) -> usize {
        self.books.commits(|_| true)
    }

    /// How many writes took effect at this path.
    #[must_use]
    pub fn commits_at(&self, path: &str) -> usize {
        self.books.commits(|refund| refund.path == path)
    }

    /// How many writes took effect that carried this `Idempotency-Key`, honoured or not.
    #[must_use]
    pub fn commits_of(&self, key: &str) -> usize {
        self.books
            .commits(|refund| refund.key.as_deref() == Some(key))
    }

    /// Every request whose head was read, look-ups too, in the order in which they were read.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.books.received()
    }

    /// Everything that happened so far, in order.
    #[must_use]
    pub fn timeline(&self) -> Vec<Event> {
        self.books.timeline()
    }

    /// Waits until that many writes have taken effect since the start.
    pub async fn wait_commits(&self, commits: usize) {
        let mut left = commits;
        if left > 0 {
            self.wait_for(|event| {
                left -= usize::from(matches!(event.what, What::Committed { .. }));
                left == 0
            })
            .await;
        }
    }

    /// Waits for the first event that `wanted` accepts and returns it, at once if it has happened.
    ///
    /// `wanted` sees every event once, in order. Dropping the future changes nothing.
    pub async fn wait_for(&self, wanted: impl FnMut(&Event) -> bool) -> Event {
        self.books.wait_for(wanted).await
    }
}

impl fmt::Debug for Billing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Billing")
            .field("addr", &self.addr)
            .field("commits", &self.commits())
            .finish_non_exhaustive()
    }
}

async fn accept(listener: TcpListener, books: Arc<Books>, mut stopped: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            _ = &mut stopped => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection::serve(stream, Arc::clone(&books)));
                }
                // No descriptor is free, or the client has gone. Either passes.
                Err(_) => tokio::task::yield_now().await,
            },
        }
    }
    drop(listener);
    connections.shutdown().await;
}
