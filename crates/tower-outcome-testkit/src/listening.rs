//! A port that is listened at, and the connections that came of it.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};

/// Serves each connection in a task of its own, until it is dropped.
pub(crate) struct Listening {
    addr: SocketAddr,
    acceptor: JoinHandle<()>,
    /// Dropped, it tells the acceptor to end at once; used, to see its connections out.
    alive: mpsc::Sender<()>,
}

impl Listening {
    pub(crate) fn start<F>(
        listener: TcpListener,
        serve: impl Fn(TcpStream) -> F + Send + 'static,
    ) -> io::Result<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let addr = listener.local_addr()?;
        let (alive, ended) = mpsc::channel(1);
        Ok(Self {
            addr,
            acceptor: tokio::spawn(accept(listener, serve, ended)),
            alive,
        })
    }

    pub(crate) const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Closes the port and all connections.
    pub(crate) async fn stop(self) {
        drop(self.alive);
        // An error would be a panic of the acceptor, which is as stopped as can be.
        let _ = self.acceptor.await;
    }

    /// Closes the port, serves what had connected by then, and waits for the end of all of it.
    pub(crate) async fn drain(self) {
        // Neither fails but after a panic of the acceptor.
        let _ = self.alive.send(()).await;
        let _ = self.acceptor.await;
    }
}

async fn accept<F>(
    listener: TcpListener,
    serve: impl Fn(TcpStream) -> F,
    mut ended: mpsc::Receiver<()>,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    let drains = loop {
        tokio::select! {
            biased;
            end = ended.recv() => break end.is_some(),
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream));
                }
                // No descriptor is free, or the client has gone. Either passes.
                Err(_) => tokio::task::yield_now().await,
            },
        }
    };
    if drains {
        for stream in queued(listener) {
            connections.spawn(serve(stream));
        }
        loop {
            tokio::select! {
                biased;
                over = connections.join_next() => if over.is_none() { return },
                _ = ended.recv() => break,
            }
        }
    } else {
        drop(listener);
    }
    connections.shutdown().await;
}

/// What the kernel has accepted already. Whoever comes later is refused.
fn queued(listener: TcpListener) -> Vec<TcpStream> {
    let Ok(listener) = listener.into_std() else {
        return Vec::new();
    };
    let accepted = std::iter::from_fn(|| listener.accept().ok());
    accepted
        .filter_map(|(stream, _)| {
            stream.set_nonblocking(true).ok()?;
            TcpStream::from_std(stream).ok()
        })
        .collect()
}
