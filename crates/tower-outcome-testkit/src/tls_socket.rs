//! A TLS stream that can be peeked at.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// Counts plaintext: what it was peeked for and not read, it keeps.
pub(crate) struct TlsSocket {
    stream: TlsStream<TcpStream>,
    ahead: Vec<u8>,
}

impl TlsSocket {
    pub(crate) const fn new(stream: TlsStream<TcpStream>) -> Self {
        Self {
            stream,
            ahead: Vec::new(),
        }
    }

    pub(crate) fn tcp(&self) -> &TcpStream {
        self.stream.get_ref().0
    }

    pub(crate) const fn has_more_than(&self, unread: usize) -> bool {
        self.ahead.len() > unread
    }

    pub(crate) async fn peek_beyond(
        &mut self,
        unread: usize,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        if self.ahead.len() <= unread {
            let bytes = self.decrypt(buffer).await?;
            self.ahead.extend_from_slice(&buffer[..bytes]);
        }
        let bytes = buffer.len().min(self.ahead.len());
        buffer[..bytes].copy_from_slice(&self.ahead[..bytes]);
        Ok(bytes)
    }

    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.peek_beyond(0, buffer).await?;
        self.ahead.drain(..bytes);
        Ok(bytes)
    }

    pub(crate) async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// Sends the alert `close_notify`, and FIN.
    pub(crate) async fn shutdown(&mut self) -> io::Result<()> {
        self.stream.shutdown().await
    }

    async fn decrypt(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stream.read(buffer).await {
            // FIN without `close_notify`, which is how many clients leave.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            read => read,
        }
    }
}
