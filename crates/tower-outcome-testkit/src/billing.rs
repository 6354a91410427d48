//! The running server.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;

#[cfg(feature = "tls")]
use crate::Tls;
use crate::books::Books;
use crate::door::Door;
use crate::listening::Listening;
use crate::{Event, LookUp, Received, Refusing, Step, What, connection};

/// A billing service on a loopback port, which does to each write what its script says.
///
/// It runs on the runtime that started it and stops when it is dropped: the listener and all
/// connections close as soon as that runtime gets to it. See the [crate docs](crate) for what it
/// understands.
pub struct Billing {
    books: Arc<Books>,
    door: Door,
    listening: Listening,
}

impl Billing {
    /// Starts a service that honours `Idempotency-Key`: a key that has committed is answered with
    /// the original 201 and `Idempotent-Replayed: true`, and with 422 where path or body differ.
    ///
    /// # Errors
    ///
    /// The operating system gives no port.
    pub async fn start() -> io::Result<Self> {
        Self::start_with(Books::new(true), Door::Plain).await
    }

    /// Starts a service that ignores `Idempotency-Key`: every request that is read in full commits.
    ///
    /// # Errors
    ///
    /// The operating system gives no port.
    pub async fn start_without_keys() -> io::Result<Self> {
        Self::start_with(Books::new(false), Door::Plain).await
    }

    /// Does as [`start`](Self::start), over TLS.
    ///
    /// Steps count the bytes under the encryption, and those that act on acceptance do so after the
    /// handshake; a connection whose handshake fails does not count. [`End::Close`](crate::End) says
    /// `close_notify` before FIN, and [`End::Reset`](crate::End) says nothing.
    ///
    /// # Errors
    ///
    /// The operating system gives no port.
    #[cfg(feature = "tls")]
    pub async fn start_tls(tls: &Tls) -> io::Result<Self> {
        Self::start_with(Books::new(true), Door::Tls(tls.config().into())).await
    }

    /// Does as [`start_without_keys`](Self::start_without_keys), over TLS like
    /// [`start_tls`](Self::start_tls).
    ///
    /// # Errors
    ///
    /// The operating system gives no port.
    #[cfg(feature = "tls")]
    pub async fn start_tls_without_keys(tls: &Tls) -> io::Result<Self> {
        Self::start_with(Books::new(false), Door::Tls(tls.config().into())).await
    }

    async fn start_with(books: Books, door: Door) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Self::serve(listener, Arc::new(books), door)
    }

    pub(crate) fn serve(listener: TcpListener, books: Arc<Books>, door: Door) -> io::Result<Self> {
        let shared = (Arc::clone(&books), door.clone());
        let serve = move |stream| {
            let (books, door) = shared.clone();
            async move {
                if let Some(socket) = door.pass(stream).await {
                    connection::serve(socket, books).await;
                }
            }
        };
        let listening = Listening::start(listener, serve)?;
        Ok(Self {
            books,
            door,
            listening,
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
        let addr = self.addr();
        self.listening.stop().await;
        Refusing::at(addr, self.books, self.door)
    }

    /// Refuses new connections, sends FIN on the open ones as soon as their client pauses, and
    /// waits until all of them are over. What clients still send until then is served and counted.
    pub(crate) async fn drain(self) -> Arc<Books> {
        self.books.close();
        self.listening.drain().await;
        self.books
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.listening.addr()
    }

    /// `http://127.0.0.1:PORT`, or `https://` over TLS.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.door.scheme(), self.addr())
    }

    /// Adds steps to the script. Each write takes the next one when its first byte has come (the
    /// first on a connection when its protocol shows, after three), over HTTP/2 when its head has;
    /// [`Step`] names those that are taken earlier. An empty script means [`Step::Answer`].
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
            .field("addr", &self.addr())
            .field("commits", &self.commits())
            .finish_non_exhaustive()
    }
}
