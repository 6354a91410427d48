//! A port at which nobody listens yet, or no longer.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpSocket;

use crate::Billing;
use crate::books::Books;
use crate::door::Door;

/// A loopback port that refuses every connect, until a service is opened there.
///
/// The port stays bound all the while, so that no other process can come to listen there.
///
/// ```
/// use tokio::net::TcpStream;
/// use tower_outcome_testkit::Refusing;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let refusing = Refusing::start()?;
/// let error = TcpStream::connect(refusing.addr()).await.unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
///
/// let billing = refusing.open()?;
/// assert!(TcpStream::connect(billing.addr()).await.is_ok());
/// # Ok(())
/// # }
/// ```
pub struct Refusing {
    addr: SocketAddr,
    books: Arc<Books>,
    door: Door,
    socket: TcpSocket,
}

impl Refusing {
    /// Takes a port. The service that may be opened there honours keys.
    ///
    /// # Errors
    ///
    /// The operating system gives no port.
    pub fn start() -> io::Result<Self> {
        let books = Arc::new(Books::new(true));
        Self::at((Ipv4Addr::LOCALHOST, 0).into(), books, Door::Plain)
    }

    pub(crate) fn at(addr: SocketAddr, books: Arc<Books>, door: Door) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        // Connections of a service that ran here may still be in TIME-WAIT.
        socket.set_reuseaddr(true)?;
        socket.bind(addr)?;
        Ok(Self {
            addr: socket.local_addr()?,
            books,
            door,
            socket,
        })
    }

    /// Starts the service at this address. If one ran here before, it goes on where that stopped.
    ///
    /// # Errors
    ///
    /// The operating system does not let the port listen.
    pub fn open(self) -> io::Result<Billing> {
        Billing::serve(self.socket.listen(BACKLOG)?, self.books, self.door)
    }

    /// The address that refuses.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// `http://127.0.0.1:PORT`, or `https://` where a service over TLS ran.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.door.scheme(), self.addr)
    }
}

impl fmt::Debug for Refusing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refusing")
            .field("addr", &self.addr)
            .finish_non_exhaustive()
    }
}

const BACKLOG: u32 = 1024;
