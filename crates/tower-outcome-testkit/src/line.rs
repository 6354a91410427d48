//! A socket that is read exactly as far as is wanted, and ended in the way that is wanted.

use std::{io, mem};

use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::socket::Socket;

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
    socket: Socket,
    buffer: Box<[u8]>,
    allowance: usize,
    /// Turns true when the client's next pause is to end the connection.
    closing: watch::Receiver<bool>,
    finished: bool,
}

impl Line {
    pub(crate) fn new(socket: Socket, closing: watch::Receiver<bool>) -> Self {
        // Or an answer right behind a 100 would wait for the client's delayed acknowledgement.
        // Fails only if the client is gone already, which the next read tells.
        let _ = socket.tcp().set_nodelay(true);
        Self {
            socket,
            buffer: vec![0; BUFFER].into_boxed_slice(),
            allowance: usize::MAX,
            closing,
            finished: false,
        }
    }

    /// Sets how many bytes may be read from now on; `None` is no limit.
    pub(crate) fn allow(&mut self, bytes: Option<usize>) {
        self.allowance = bytes.unwrap_or(usize::MAX);
    }

    /// Waits for the first byte of a request and leaves it unread.
    pub(crate) async fn first_byte(&mut self) -> Result<u8, Stop> {
        match self.peek_beyond(0, 1).await {
            Ok(0) => Err(Stop::ClientClosed),
            Ok(_) => Ok(self.buffer[0]),
            Err(_) => Err(Stop::ClientReset),
        }
    }

    /// Whether the client opens with the first bytes of the HTTP/2 preface (RFC 9113 section 3.4).
    pub(crate) async fn opens_h2(&mut self) -> Result<bool, Stop> {
        // A single byte tells most methods of HTTP/1.1, whose clients may send no more yet.
        if self.first_byte().await? != b'P' {
            return Ok(false);
        }
        Ok(&self.peek::<3>().await? == b"PRI")
    }

    /// Waits until that many bytes have come and leaves them unread.
    pub(crate) async fn peek<const BYTES: usize>(&mut self) -> Result<[u8; BYTES], Stop> {
        let mut seen = 0;
        loop {
            match self.peek_beyond(seen, BYTES).await {
                Ok(bytes) if bytes <= seen => return Err(Stop::ClientClosed),
                Ok(bytes) => seen = bytes,
                Err(_) => return Err(Stop::ClientReset),
            }
            if let Some(ahead) = self.buffer[..seen].first_chunk() {
                return Ok(*ahead);
            }
        }
    }

    /// Reads at least one byte and no more than `most`. Loses nothing when it is dropped.
    pub(crate) async fn read(&mut self, most: usize, into: &mut Vec<u8>) -> Result<(), Stop> {
        let most = most.min(self.buffer.len());
        let read = match self.peek_beyond(0, most).await {
            Ok(0) => return Err(Stop::ClientClosed),
            Ok(bytes) => self.socket.read(&mut self.buffer[..bytes]).await,
            Err(_) => return Err(Stop::ClientReset),
        };
        let bytes = read.map_err(|_| Stop::ClientReset)?;
        into.extend_from_slice(&self.buffer[..bytes]);
        Ok(())
    }

    /// Reads until `reader` is complete and no further.
    pub(crate) async fn fill(&mut self, reader: &mut impl Reader) -> Result<(), Stop> {
        while !reader.is_complete() {
            let most = self.buffer.len().min(self.allowance);
            if most == 0 {
                return Err(Stop::Allowance);
            }
            let taken = match self.peek_beyond(0, most).await {
                Ok(0) => return Err(Stop::ClientClosed),
                Ok(bytes) => reader.take(&self.buffer[..bytes])?,
                Err(_) => return Err(Stop::ClientReset),
            };
            // Gives all of them, for they are there.
            let read = self.socket.read(&mut self.buffer[..taken]).await;
            read.map_err(|_| Stop::ClientReset)?;
            if self.allowance != usize::MAX {
                self.allowance -= taken;
            }
        }
        Ok(())
    }

    /// Sends the bytes, or drops them where FIN went before.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        if self.finished {
            return Ok(());
        }
        let sent = self.socket.write_all(bytes).await;
        sent.map_err(|_| Stop::ClientReset)
    }

    /// Sends FIN. What the client sends can still be read.
    pub(crate) async fn finish(&mut self) -> Result<(), Stop> {
        if mem::replace(&mut self.finished, true) {
            return Ok(());
        }
        let sent = self.socket.shutdown().await;
        sent.map_err(|_| Stop::ClientReset)
    }

    /// Whether FIN was sent.
    pub(crate) const fn is_finished(&self) -> bool {
        self.finished
    }

    /// Waits until the client has left. Bytes that it sends meanwhile hide that, and stay unread.
    pub(crate) async fn client_left(&mut self) -> Stop {
        match self.first_byte().await {
            Ok(_) => std::future::pending().await,
            Err(left) => left,
        }
    }

    /// Waits until the client has left, however much of what it sent is unread. Nothing can be
    /// read after that.
    pub(crate) async fn client_left_unread(&mut self) -> Stop {
        tokio::select! {
            biased;
            left = left_unread(self.socket.tcp()) => return left,
            () = closing(&mut self.closing) => {}
        }
        match self.finish().await {
            Ok(()) => left_unread(self.socket.tcp()).await,
            Err(left) => left,
        }
    }

    /// Sends FIN and throws away what arrives, until the client has left.
    ///
    /// A socket closed over unread bytes sends RST, which would overtake what the client has yet
    /// to read.
    pub(crate) async fn close(&mut self) -> Stop {
        if let Err(left) = self.finish().await {
            return left;
        }
        loop {
            match self.socket.read(&mut self.buffer).await {
                Ok(0) => return Stop::ClientClosed,
                Ok(_) => {}
                Err(_) => return Stop::ClientReset,
            }
        }
    }

    /// Sends RST.
    pub(crate) fn reset(self) {
        self.socket.reset();
    }

    /// Waits until more bytes are unread than these, or the end, and leaves them unread.
    async fn peek_beyond(&mut self, unread: usize, most: usize) -> io::Result<usize> {
        if !self.finished {
            tokio::select! {
                biased;
                peeked = self.socket.peek_beyond(unread, &mut self.buffer[..most]) => return peeked,
                () = closing(&mut self.closing) => {}
            }
            // What has come already may not have been reported yet.
            if !self.socket.has_more_than(unread) {
                self.finished = true;
                self.socket.shutdown().await?;
            }
        }
        let buffer = &mut self.buffer[..most];
        self.socket.peek_beyond(unread, buffer).await
    }
}

/// Waits until connections are to end.
pub(crate) async fn closing(closing: &mut watch::Receiver<bool>) {
    // Cannot fail: the sender lives in the books, which the connection holds.
    let _ = closing.wait_for(|closing| *closing).await;
}

async fn left_unread(tcp: &TcpStream) -> Stop {
    loop {
        match tcp.ready(Interest::READABLE).await {
            Ok(ready) if ready.is_read_closed() => break,
            // To have the next arrival reported, which may be the end, this one is declared
            // dealt with.
            Ok(_) => {
                let unread = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
                let _ = tcp.try_io(Interest::READABLE, unread);
            }
            Err(_) => return Stop::ClientReset,
        }
    }
    match tcp.take_error() {
        Ok(None) => Stop::ClientClosed,
        _ => Stop::ClientReset,
    }
}

const BUFFER: usize = 16 * 1024;
