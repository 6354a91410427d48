//! A stretch of wire before the server, which a test can break.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What happens to connections.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Mode {
    /// The next answer is lost together with its connection.
    LoseAnswer,
    /// Everything goes through.
    Open,
    /// Those that there are end, and new ones at once.
    Shut,
    /// No answer comes through any more.
    Silent,
}

/// A proxy that ends with its handle.
pub(crate) struct Proxy {
    mode: watch::Sender<Mode>,
    connections: Arc<AtomicUsize>,
}

impl Proxy {
    /// A proxy before the server at `url`, and the URL that leads through it.
    pub(crate) async fn start(url: &str) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (user, server) = url.split_once('@').unwrap();
        let server = server.trim_end_matches("/0").to_owned();
        let through = format!("{user}@{}/0", listener.local_addr().unwrap());
        let mode = watch::Sender::new(Mode::Open);
        let connections = Arc::new(AtomicUsize::new(0));
        let proxy = Self {
            mode: mode.clone(),
            connections: Arc::clone(&connections),
        };
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                connections.fetch_add(1, Ordering::SeqCst);
                let server = TcpStream::connect(&server).await.unwrap();
                tokio::spawn(relay(client, server, mode.clone()));
            }
        });
        (proxy, through)
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    /// How many connections there have been.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn relay(mut client: TcpStream, mut server: TcpStream, mode: watch::Sender<Mode>) {
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let mut modes = mode.subscribe();
    let answers = async {
        let mut bytes = [0; 4096];
        loop {
            let Ok(count @ 1..) = from_server.read(&mut bytes).await else {
                return;
            };
            match *mode.borrow() {
                Mode::Open => {}
                Mode::Silent => continue,
                Mode::LoseAnswer | Mode::Shut => break,
            }
            if to_client.write_all(&bytes[..count]).await.is_err() {
                return;
            }
        }
        mode.send_if_modified(|mode| {
            let lost = *mode == Mode::LoseAnswer;
            if lost {
                *mode = Mode::Open;
            }
            lost
        });
    };
    tokio::select! {
        _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
        _ = modes.wait_for(|mode| *mode == Mode::Shut) => {}
        () = answers => {}
    }
}
