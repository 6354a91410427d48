//! A wire between a ledger and its server that counts what passes and can be cut anywhere.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use crate::support::Place;

/// The running wire.
pub(crate) struct Proxy {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    executes: AtomicUsize,
    syncs: AtomicUsize,
    cut: Mutex<Option<Cut>>,
}

/// Where to cut the connection that is used next.
#[derive(Clone, Copy)]
pub(crate) enum Cut {
    /// After that many bytes of the request.
    Request(usize),
    /// Before the first byte of the answer, which the server has sent.
    Answer,
    /// At the same place, but both ends stay connected: nothing ever comes.
    Silence,
}

impl Proxy {
    /// A wire to the server of `url`, and the URL of its near end.
    async fn start(url: &str) -> (Self, String) {
        let (before, rest) = url.split_once('@').unwrap();
        let (server, after) = rest.split_once('/').unwrap();
        let server: SocketAddr = server.parse().unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let shared = Arc::<Shared>::default();
        tokio::spawn(accept(listener, server, Arc::clone(&shared)));
        let url = format!("{before}@{addr}/{after}");
        (Self { shared }, url)
    }

    /// A wire to a place of its own, whose URL is that of the near end.
    pub(crate) async fn before_a_place() -> (Self, Place) {
        let mut place = Place::new();
        let (proxy, url) = Self::start(&place.url).await;
        place.url = url;
        (proxy, place)
    }

    /// Cuts the connection that is used next. Nothing is cut twice.
    pub(crate) fn cut(&self, cut: Cut) {
        *self.shared.lock() = Some(cut);
    }

    /// Whether the cut has been made.
    pub(crate) fn has_cut(&self) -> bool {
        self.shared.lock().is_none()
    }

    /// Statements that were executed, and round trips, since the last count.
    pub(crate) fn count(&self) -> (usize, usize) {
        let take = |count: &AtomicUsize| count.swap(0, Ordering::SeqCst);
        (take(&self.shared.executes), take(&self.shared.syncs))
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Cut>> {
        self.cut.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, shared: Arc<Shared>) {
    while let Ok((near, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let Ok(far) = TcpStream::connect(server).await else {
                return;
            };
            let (near, far) = (near.into_split(), far.into_split());
            // Whichever way ends first takes the whole connection with it.
            tokio::select! {
                () = requests(near.0, far.1, &shared) => {}
                () = answers(far.0, near.1, &shared) => {}
            }
        });
    }
}

async fn requests(mut near: OwnedReadHalf, mut far: OwnedWriteHalf, shared: &Shared) {
    let mut messages = Messages::default();
    let mut buffer = vec![0; 1 << 20];
    while let Ok(read @ 1..) = near.read(&mut buffer).await {
        let cut = shared.lock().take_if(|cut| match cut {
            Cut::Request(after) => *after < read,
            Cut::Answer | Cut::Silence => false,
        });
        if let Some(Cut::Request(after)) = cut {
            let _ = far.write_all(&buffer[..after]).await;
            return;
        }
        messages.take(&buffer[..read], shared);
        if far.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

async fn answers(mut far: OwnedReadHalf, mut near: OwnedWriteHalf, shared: &Shared) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = far.read(&mut buffer).await {
        let cut = shared
            .lock()
            .take_if(|cut| matches!(cut, Cut::Answer | Cut::Silence));
        if matches!(cut, Some(Cut::Silence)) {
            std::future::pending::<()>().await;
        }
        if cut.is_some() || near.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

/// What the client says, message by message (PostgreSQL protocol 3.0: a type and a length, but for
/// the very first, which has no type).
#[derive(Default)]
struct Messages {
    pending: Vec<u8>,
    started: bool,
}

impl Messages {
    fn take(&mut self, bytes: &[u8], shared: &Shared) {
        self.pending.extend_from_slice(bytes);
        loop {
            let kind = usize::from(self.started);
            let Some(length) = self.pending.get(kind..kind + 4) else {
                return;
            };
            let length = u32::from_be_bytes(length.try_into().unwrap());
            let end = kind + usize::try_from(length).unwrap();
            if self.pending.len() < end {
                return;
            }
            match (self.started, self.pending[0]) {
                (true, b'E') => shared.executes.fetch_add(1, Ordering::SeqCst),
                (true, b'S') => shared.syncs.fetch_add(1, Ordering::SeqCst),
                _ => 0,
            };
            self.started = true;
            self.pending.drain(..end);
        }
    }
}
