//! The stream under a connection.

use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::TcpStream;

/// What a connection reads and writes.
pub(crate) enum Socket {
    Plain(TcpStream),
    #[cfg(feature = "tls")]
    Tls(Box<crate::tls_socket::TlsSocket>),
}

impl Socket {
    /// The transport, to be watched and not to be read.
    pub(crate) fn tcp(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.tcp(),
        }
    }

    /// Whether more bytes than these are there for [`peek_beyond`](Self::peek_beyond).
    pub(crate) fn has_more_than(&self, unread: usize) -> bool {
        match self {
            Self::Plain(stream) => has_more_than(stream, unread).is_ok_and(|more| more),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.has_more_than(unread),
        }
    }

    /// Waits until more bytes are there than these and leaves them unread; no more is the end.
    pub(crate) async fn peek_beyond(
        &mut self,
        unread: usize,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => {
                if unread > 0 {
                    more_than(stream, unread).await?;
                }
                stream.peek(buffer).await
            }
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.peek_beyond(unread, buffer).await,
        }
    }

    /// Reads what is there; nothing is the end.
    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer).await,
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.read(buffer).await,
        }
    }

    pub(crate) async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(bytes).await,
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.write_all(bytes).await,
        }
    }

    /// Sends FIN.
    pub(crate) async fn shutdown(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.shutdown().await,
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.shutdown().await,
        }
    }

    /// Sends RST.
    pub(crate) fn reset(self) {
        // Fails only on a socket that the client has reset already.
        let _ = SockRef::from(self.tcp()).set_linger(Some(Duration::ZERO));
    }
}

/// Waits until more bytes are unread than these, or the end.
async fn more_than(stream: &TcpStream, unread: usize) -> io::Result<()> {
    loop {
        let ready = stream.ready(Interest::READABLE).await?;
        // To have the next arrival reported, no news is declared dealt with.
        let news = stream.try_io(Interest::READABLE, || {
            if has_more_than(stream, unread)? {
                Ok(())
            } else {
                Err(io::ErrorKind::WouldBlock.into())
            }
        });
        match news {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && !ready.is_read_closed() => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            news => return news,
        }
    }
}

fn has_more_than(stream: &TcpStream, unread: usize) -> io::Result<bool> {
    let mut ahead = vec![MaybeUninit::uninit(); unread + 1];
    Ok(SockRef::from(stream).peek(&mut ahead)? > unread)
}
