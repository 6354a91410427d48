//! An address from which nothing comes back.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// A loopback port at which a connect neither succeeds nor fails.
///
/// It listens, never accepts, and its queue is full, so that the kernel drops what else arrives.
/// No packet leaves the machine. On Linux a connect hangs until the kernel gives up after minutes;
/// other systems may refuse it.
///
/// ```
/// use std::time::Duration;
///
/// use tokio::net::TcpStream;
/// use tower_outcome_testkit::Unreachable;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let unreachable = Unreachable::start().await?;
/// let connect = TcpStream::connect(unreachable.addr());
/// assert!(tokio::time::timeout(Duration::from_millis(20), connect).await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Unreachable {
    addr: SocketAddr,
    _listener: TcpListener,
    _queued: TcpStream,
}

impl Unreachable {
    /// Takes a port and fills its queue.
    ///
    /// # Errors
    ///
    /// The operating system gives no port.
    pub async fn start() -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        // Linux keeps one connection more than it is told to.
        let listener = socket.listen(0)?;
        let addr = listener.local_addr()?;
        Ok(Self {
            addr,
            _listener: listener,
            _queued: TcpStream::connect(addr).await?,
        })
    }

    /// The address that is silent.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// `http://127.0.0.1:PORT`
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }
}
