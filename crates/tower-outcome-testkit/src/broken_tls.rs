//! A server whose TLS handshake goes wrong.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;

use crate::books::Books;
use crate::line::{Line, Reader, Stop};
use crate::listening::Listening;
use crate::socket::Socket;
use crate::{Event, What};

/// What follows the `ClientHello`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TlsFault {
    /// FIN.
    Close,
    /// Bytes that are no TLS, and FIN.
    Garbage,
    /// RST.
    Reset,
    /// Nothing. The connection stays open until the client closes it.
    Silence,
}

/// A loopback port at which no TLS handshake succeeds, so that no request can ever leave.
///
/// It reads the `ClientHello` of every connection and does one thing to all of them. It stops when it
/// is dropped.
///
/// ```
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use tokio::net::TcpStream;
/// use tower_outcome_testkit::{BrokenTls, TlsFault};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let broken = BrokenTls::start(TlsFault::Close).await?;
///
/// let mut client = TcpStream::connect(broken.addr()).await?;
/// client.write_all(&[22, 3, 1, 0, 1, 1]).await?; // a record that holds one byte
/// assert_eq!(client.read(&mut [0]).await?, 0);
/// assert_eq!(broken.connections(), 1);
/// # Ok(())
/// # }
/// ```
pub struct BrokenTls {
    books: Arc<Books>,
    listening: Listening,
}

impl BrokenTls {
    /// Starts the server.
    ///
    /// # Errors
    ///
    /// The operating system gives no port.
    pub async fn start(fault: TlsFault) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let books = Arc::new(Books::new(false));
        let shared = Arc::clone(&books);
        let serve = move |stream| fail(Socket::Plain(stream), fault, Arc::clone(&shared));
        let listening = Listening::start(listener, serve)?;
        Ok(Self { books, listening })
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.listening.addr()
    }

    /// `https://127.0.0.1:PORT`
    #[must_use]
    pub fn url(&self) -> String {
        format!("https://{}", self.addr())
    }

    /// How many connections were accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        let accepted = |event: &&Event| event.what == What::Accepted;
        self.timeline().iter().filter(accepted).count()
    }

    /// Everything that happened so far, in order.
    #[must_use]
    pub fn timeline(&self) -> Vec<Event> {
        self.books.timeline()
    }

    /// Waits for the first event that `wanted` accepts and returns it, at once if it has happened.
    ///
    /// `wanted` sees every event once, in order. Dropping the future changes nothing.
    pub async fn wait_for(&self, wanted: impl FnMut(&Event) -> bool) -> Event {
        self.books.wait_for(wanted).await
    }
}

impl fmt::Debug for BrokenTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrokenTls")
            .field("addr", &self.addr())
            .field("connections", &self.connections())
            .finish_non_exhaustive()
    }
}

async fn fail(socket: Socket, fault: TlsFault, books: Arc<Books>) {
    let (number, _) = books.accept();
    let note = |what| books.note(number, None, what);
    let mut line = Line::new(socket, books.closing());
    let left = match line.fill(&mut HelloReader::default()).await {
        Ok(()) => {
            note(What::ReadHello);
            match fault {
                TlsFault::Close => {
                    note(What::Closed);
                    line.close().await
                }
                TlsFault::Garbage => {
                    let bytes = GARBAGE.len();
                    note(What::Sent { bytes });
                    // A client that is gone is seen by the close.
                    let _ = line.send(GARBAGE).await;
                    note(What::Closed);
                    line.close().await
                }
                TlsFault::Reset => {
                    note(What::Reset);
                    return line.reset();
                }
                TlsFault::Silence => {
                    note(What::Holding);
                    line.client_left_unread().await
                }
            }
        }
        Err(left) => left,
    };
    note(match left {
        Stop::Allowance | Stop::Malformed => What::Malformed,
        Stop::ClientClosed => What::ClientClosed,
        Stop::ClientReset => What::ClientReset,
    });
}

/// Reads one record of the type "handshake" (RFC 8446 section 5.1), which every client that is
/// known to us puts its `ClientHello` into.
#[derive(Default)]
struct HelloReader {
    header: Vec<u8>,
    read: usize,
}

impl HelloReader {
    /// The length of the record without its header.
    fn length(&self) -> Option<usize> {
        let length = self.header.get(3..HEADER)?;
        Some(usize::from(u16::from_be_bytes(length.try_into().ok()?)))
    }
}

impl Reader for HelloReader {
    fn is_complete(&self) -> bool {
        self.length() == Some(self.read)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<usize, Stop> {
        if let Some(length) = self.length() {
            let taken = bytes.len().min(length - self.read);
            self.read += taken;
            return Ok(taken);
        }
        let taken = bytes.len().min(HEADER - self.header.len());
        self.header.extend_from_slice(&bytes[..taken]);
        match self.header.first() {
            Some(&HANDSHAKE) => Ok(taken),
            _ => Err(Stop::Malformed),
        }
    }
}

const HEADER: usize = 5;
const HANDSHAKE: u8 = 22;
const GARBAGE: &[u8] = b"HTTP/1.1 400 \r\n\r\n";
