//! A socket that is read exactly as far as is wanted, and ended in the way that is wanted.

use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::TcpStream;

/// Takes bytes until it has what it was made for.
pub(crate) trait Reader {
    fn is_complete(&self) -> bool;

    /// Takes at least one byte, and none beyond its end. Called only while incomplete.
    fn take(&mut self, bytes: &[u8]) -> Result<usize, Stop>;
}

/// Why a connection can go no further.
#[derive(Debug)]
pub(crate) enum Stop {
    /// All bytes that the step allows have been read.
    Allowance,
    ClientClosed,
    ClientReset,
    Malformed,
}

pub(crate) struct Line {
    stream: TcpStream,
    buffer: Box<[u8]>,
    allowance: usize,
}

impl Line {
    pub(crate) fn new(stream: TcpStream) -> Self {
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
    pub(crate) fn allow(&mut self, bytes: Option<usize>) {
        self.allowance = bytes.unwrap_or(usize::MAX);
    }

    /// Waits for the first byte of a request and leaves it unread.
    pub(crate) async fn first_byte(&self) -> Result<u8, Stop> {
        let mut first = [0];
        match self.stream.peek(&mut first).await {
            Ok(0) => Err(Stop::ClientClosed),
            Ok(_) => Ok(first[0]),
            Err(_) => Err(Stop::ClientReset),
        }
    }

    /// Whether the client opens with the first bytes of the HTTP/2 preface (RFC 9113 section 3.4).
    pub(crate) async fn opens_h2(&self) -> Result<bool, Stop> {
        // A single byte tells most methods of HTTP/1.1, whose clients may send no more yet.
        if self.first_byte().await? != b'P' {
            return Ok(false);
        }
        Ok(&self.peek::<3>().await? == b"PRI")
    }

    /// Waits until that many bytes have come and leaves them unread.
    pub(crate) async fn peek<const BYTES: usize>(&self) -> Result<[u8; BYTES], Stop> {
        let mut ahead = [0; BYTES];
        loop {
            match self.stream.peek(&mut ahead).await {
                Ok(0) => return Err(Stop::ClientClosed),
                Ok(bytes) if bytes == BYTES => return Ok(ahead),
                Ok(bytes) => self.more_than::<BYTES>(bytes).await?,
                Err(_) => return Err(Stop::ClientReset),
            }
        }
    }

    /// Waits until more bytes are unread than these.
    async fn more_than<const BYTES: usize>(&self, unread: usize) -> Result<(), Stop> {
        let mut ahead = [MaybeUninit::uninit(); BYTES];
        loop {
            let ready = self.stream.ready(Interest::READABLE).await;
            let ready = ready.map_err(|_| Stop::ClientReset)?;
            // To have the next arrival reported, no news is declared dealt with.
            let news = self.stream.try_io(Interest::READABLE, || {
                match SockRef::from(&self.stream).peek(&mut ahead)? {
                    bytes if bytes > unread => Ok(()),
                    _ => Err(io::ErrorKind::WouldBlock.into()),
                }
            });
            match news {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                    return Err(Stop::ClientReset);
                }
                Err(_) if ready.is_read_closed() => return Err(Stop::ClientClosed),
                Err(_) => {}
            }
        }
    }

    /// Reads at least one byte and no more than `most`. Loses nothing when it is dropped.
    pub(crate) async fn read(&mut self, most: usize, into: &mut Vec<u8>) -> Result<(), Stop> {
        let most = most.min(self.buffer.len());
        loop {
            let readable = self.stream.readable().await;
            readable.map_err(|_| Stop::ClientReset)?;
            match self.stream.try_read(&mut self.buffer[..most]) {
                Ok(0) => return Err(Stop::ClientClosed),
                Ok(bytes) => {
                    into.extend_from_slice(&self.buffer[..bytes]);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Err(Stop::ClientReset),
            }
        }
    }

    /// Reads until `reader` is complete and no further.
    pub(crate) async fn fill(&mut self, reader: &mut impl Reader) -> Result<(), Stop> {
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

    pub(crate) async fn send(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let sent = self.stream.write_all(bytes).await;
        sent.map_err(|_| Stop::ClientReset)
    }

    /// Waits until the client has left. Bytes that it sends meanwhile hide that, and stay unread.
    pub(crate) async fn client_left(&self) -> Stop {
        match self.first_byte().await {
            Ok(_) => std::future::pending().await,
            Err(left) => left,
        }
    }

    /// Waits until the client has left, however much of what it sent is unread. Nothing can be
    /// read after that.
    pub(crate) async fn client_left_unread(&self) -> Stop {
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
    pub(crate) async fn close(&mut self) -> Stop {
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
    pub(crate) fn reset(self) {
        // Fails only on a socket that the client has reset already.
        let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }
}

const BUFFER: usize = 16 * 1024;
