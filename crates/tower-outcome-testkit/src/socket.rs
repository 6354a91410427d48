//! The stream under a connection.

use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What a connection reads and writes.
pub(crate) enum Socket {
    Plain(TcpStream),
}

impl Socket {
    /// The transport, to be watched and not to be read.
    pub(crate) const fn tcp(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
        }
    }

    /// Whether the system has bytes for [`peek`](Self::peek).
    pub(crate) fn has_bytes(&self) -> bool {
        match self {
            Self::Plain(stream) => {
                let peeked = SockRef::from(stream).peek(&mut [MaybeUninit::uninit()]);
                peeked.is_ok_and(|bytes| bytes > 0)
            }
        }
    }

    /// Waits for bytes and leaves them unread; none is the end.
    pub(crate) async fn peek(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.peek(buffer).await,
        }
    }

    /// Reads what is there; nothing is the end.
    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer).await,
        }
    }

    /// Reads bytes that were peeked at.
    pub(crate) async fn read_exact(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.read_exact(buffer).await.map(drop),
        }
    }

    pub(crate) async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(bytes).await,
        }
    }

    /// Sends FIN.
    pub(crate) async fn shutdown(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.shutdown().await,
        }
    }

    /// Sends RST.
    pub(crate) fn reset(self) {
        // Fails only on a socket that the client has reset already.
        let _ = SockRef::from(self.tcp()).set_linger(Some(Duration::ZERO));
    }
}
