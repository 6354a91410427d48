//! A socket that is read exactly as far as is wanted, and ended in the way that is wanted.

use std::io;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::TcpStream;

/// Takes bytes until it has what it was made for.
pub(super) trait Reader {
    fn is_complete(&self) -> bool;

    /// Takes at least one byte, and none beyond its end. Called only while incomplete.
    fn take(&mut self, bytes: &[u8]) -> Result<usize, Stop>;
}

/// Why a connection can go no further.
#[derive(Debug)]
pub(super) enum Stop {
    /// All bytes that the step allows have been read.
    Allowance,
    ClientClosed,
    ClientReset,
    Malformed,
}

pub(super) struct Line {
    stream: TcpStream,
    buffer: Box<[u8]>,
    allowance: usize,
}

impl Line {
    pub(super) fn new(stream: TcpStream) -> Self {
        // Or an answer right behind a 100 would wait for the client's delayed acknowledgement.
        // Fails only if the client is gone already, which the next read tells.
        let _ = stream.set_nodelay(true);
        Self {
            stream,
            buffer: vec![0; BUFFER].into_boxed_slice(),
            allowance: usize::MAX,
        }
    }

    /// Sets how many bytes may be read from now on; `None` is no limit.
    pub(super) fn allow(&mut self, bytes: Option<usize>) {
        self.allowance = bytes.unwrap_or(usize::MAX);
    }

    /// Waits for the first byte of a request and leaves it unread.
    pub(super) async fn first_byte(&self) -> Result<u8, Stop> {
        let mut first = [0];
        match self.stream.peek(&mut first).await {
            Ok(0) => Err(Stop::ClientClosed),
            Ok(_) => Ok(first[0]),
            Err(_) => Err(Stop::ClientReset),
        }
    }

    /// Reads until `reader` is complete and no further.
    pub(super) async fn fill(&mut self, reader: &mut impl Reader) -> Result<(), Stop> {
        while !reader.is_complete() {
            let most = self.buffer.len().min(self.allowance);
            if most == 0 {
                return Err(Stop::Allowance);
            }
            let peeked = self.stream.peek(&mut self.buffer[..most]).await;
            let taken = match peeked {
                Ok(0) => return Err(Stop::ClientClosed),
                Ok(bytes) => reader.take(&self.buffer[..bytes])?,
                Err(_) => return Err(Stop::ClientReset),
            };
            let read = self.stream.read_exact(&mut self.buffer[..taken]).await;
            read.map_err(|_| Stop::ClientReset)?;
            if self.allowance != usize::MAX {
                self.allowance -= taken;
            }
        }
        Ok(())
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let sent = self.stream.write_all(bytes).await;
        sent.map_err(|_| Stop::ClientReset)
    }

    /// Waits until the client has left. Bytes that it sends meanwhile hide that, and stay unread.
    pub(super) async fn client_left(&self) -> Stop {
        match self.first_byte().await {
            Ok(_) => std::future::pending().await,
            Err(left) => left,
        }
    }

    /// Waits until the client has left, however much of what it sent is unread. Nothing can be
    /// read after that.
    pub(super) async fn client_left_unread(&self) -> Stop {
        loop {
            match self.stream.ready(Interest::READABLE).await {
                Ok(ready) if ready.is_read_closed() => break,
                // To have the next arrival reported, which may be the end, this one is declared
                // dealt with.
                Ok(_) => {
                    let unread = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
                    let _ = self.stream.try_io(Interest::READABLE, unread);
                }
                Err(_) => return Stop::ClientReset,
            }
        }
        match self.stream.take_error() {
            Ok(None) => Stop::ClientClosed,
            _ => Stop::ClientReset,
        }
    }

    /// Sends FIN and throws away what arrives, until the client has left.
    ///
    /// A socket closed over unread bytes sends RST, which would overtake what the client has yet
    /// to read.
    pub(super) async fn close(&mut self) -> Stop {
        if self.stream.shutdown().await.is_err() {
            return Stop::ClientReset;
        }
        loop {
            match self.stream.read(&mut self.buffer).await {
                Ok(0) => return Stop::ClientClosed,
                Ok(_) => {}
                Err(_) => return Stop::ClientReset,
            }
        }
    }

    /// Sends RST.
    pub(super) fn reset(self) {
        // Fails only on a socket that the client has reset already.
        let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }
}

const BUFFER: usize = 16 * 1024;
