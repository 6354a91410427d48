//! A proxy that does to requests what gateways and meshes do.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::Reply;
use crate::h1::raw::{RawRequest, is_whole};
use crate::line::{Line, Stop};
use crate::listening::Listening;
use crate::socket::Socket;

/// How a proxy hands one write on.
///
/// An answer is lost if the upstream ends its connection before all of it has come, refuses it, or
/// says nothing for 5 seconds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Relay {
    /// Sends it on, and once more if the answer is lost. Hands the last answer back.
    AgainIfLost,
    /// Sends it on, waits for the answer, and answers this instead: a 429 or 503 that looks as if
    /// the write had gone no further.
    AnswerInstead(Reply),
    /// Sends it on in full, and answers this while the upstream is still at work: a 504.
    AnswerMeanwhile(Reply),
    /// Sends it on, and answers this if the answer is lost: the 503 of a gateway.
    LostAs(Reply),
    /// Sends it on and hands the answer back. What an empty script means.
    Once,
    /// Sends it on over two connections at once and hands the first answer back.
    TwiceAtOnce,
}

/// An HTTP/1.1 proxy on a loopback port, which sends requests on more often than it got them.
///
/// It reads each request in full before it sends it on, every time over a new connection. An answer
/// that is lost for good is handed back as far as it has come, and the connection is closed. Reads
/// are always sent on once. It does not answer `Expect: 100-continue`, and stops when it is
/// dropped.
///
/// What went through it is in the books of the service behind it:
///
/// ```
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use tokio::net::TcpStream;
/// use tower_outcome_testkit::{Billing, Relay, ReplayingProxy, Step};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let billing = Billing::start_without_keys().await?;
/// billing.script([Step::CommitThenReset]);
/// let proxy = ReplayingProxy::start(billing.addr()).await?;
/// proxy.script([Relay::AgainIfLost]);
///
/// let mut client = TcpStream::connect(proxy.addr()).await?;
/// client.write_all(b"POST /refunds HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}").await?;
/// let mut answer = [0; 12];
/// client.read_exact(&mut answer).await?;
///
/// assert_eq!(&answer, b"HTTP/1.1 201"); // after one request of the client's
/// assert_eq!(billing.commits(), 2);
/// # Ok(())
/// # }
/// ```
pub struct ReplayingProxy {
    script: Arc<Mutex<VecDeque<Relay>>>,
    listening: Listening,
}

impl ReplayingProxy {
    /// Starts a proxy in front of this address.
    ///
    /// # Errors
    ///
    /// The operating system gives no port.
    pub async fn start(upstream: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let script = Arc::new(Mutex::new(VecDeque::new()));
        let shared = Arc::clone(&script);
        let serve = move |stream| Proxied::new(upstream, Arc::clone(&shared)).serve(stream);
        let listening = Listening::start(listener, serve)?;
        Ok(Self { script, listening })
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.listening.addr()
    }

    /// `http://127.0.0.1:PORT`
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.addr())
    }

    /// Adds to the script. Each write takes the next relay when it was read in full. An empty
    /// script means [`Relay::Once`].
    pub fn script(&self, relays: impl IntoIterator<Item = Relay>) {
        // Collected first: the iterator is the caller's code and may call back.
        let relays: Vec<_> = relays.into_iter().collect();
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        script.extend(relays);
    }
}

impl fmt::Debug for ReplayingProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayingProxy")
            .field("addr", &self.addr())
            .finish_non_exhaustive()
    }
}

/// One connection of a client's.
struct Proxied {
    upstream: SocketAddr,
    script: Arc<Mutex<VecDeque<Relay>>>,
    /// Exchanges that nobody waits for any more.
    behind: JoinSet<()>,
}

impl Proxied {
    fn new(upstream: SocketAddr, script: Arc<Mutex<VecDeque<Relay>>>) -> Self {
        Self {
            upstream,
            script,
            behind: JoinSet::new(),
        }
    }

    async fn serve(mut self, stream: TcpStream) {
        // Kept to the end, for its end would tell the line to close.
        let (_open, closing) = watch::channel(false);
        let mut line = Line::new(Socket::Plain(stream), closing);
        match self.requests(&mut line).await {
            Ok(()) => {
                line.close().await;
            }
            Err(Stop::Malformed) => {
                // Whether the client still takes it does not matter.
                let _ = line.send(&Reply::new(400).bytes()).await;
                line.close().await;
            }
            Err(_) => {}
        }
        while self.behind.join_next().await.is_some() {}
    }

    /// Hands requests on until one of them ends the connection.
    async fn requests(&mut self, line: &mut Line) -> Result<(), Stop> {
        loop {
            let request = RawRequest::read(line).await?;
            let relay = if request.is_read {
                Relay::Once
            } else {
                self.next_relay()
            };
            let answer = self.relay(relay, &request.closing()).await;
            line.send(&answer).await?;
            if request.last || !is_whole(&answer) {
                return Ok(());
            }
        }
    }

    async fn relay(&mut self, relay: Relay, request: &[u8]) -> Vec<u8> {
        let upstream = self.upstream;
        match relay {
            Relay::AgainIfLost => {
                let answer = exchange(upstream, request).await;
                if is_whole(&answer) {
                    return answer;
                }
                exchange(upstream, request).await
            }
            Relay::AnswerInstead(reply) => {
                exchange(upstream, request).await;
                reply.bytes()
            }
            Relay::AnswerMeanwhile(reply) => {
                if let Ok(stream) = send(upstream, request).await {
                    self.behind.spawn(async { drop(receive(stream).await) });
                }
                reply.bytes()
            }
            Relay::LostAs(reply) => {
                let answer = exchange(upstream, request).await;
                if is_whole(&answer) {
                    return answer;
                }
                reply.bytes()
            }
            Relay::Once => exchange(upstream, request).await,
            Relay::TwiceAtOnce => self.race(request).await,
        }
    }

    /// The first whole answer of two exchanges, or what came of the slower one.
    async fn race(&mut self, request: &[u8]) -> Vec<u8> {
        let mut both = JoinSet::new();
        for _ in 0..2 {
            let (upstream, request) = (self.upstream, request.to_vec());
            both.spawn(async move { exchange(upstream, &request).await });
        }
        let mut answer = Vec::new();
        while let Some(Ok(next)) = both.join_next().await {
            answer = next;
            if is_whole(&answer) {
                break;
            }
        }
        let rest = async move { while both.join_next().await.is_some() {} };
        self.behind.spawn(rest);
        answer
    }

    fn next_relay(&self) -> Relay {
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        script.pop_front().unwrap_or(Relay::Once)
    }
}

/// As much of the answer as came.
async fn exchange(upstream: SocketAddr, request: &[u8]) -> Vec<u8> {
    match send(upstream, request).await {
        Ok(stream) => receive(stream).await,
        Err(_) => Vec::new(),
    }
}

async fn send(upstream: SocketAddr, request: &[u8]) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(upstream).await?;
    // An upstream that has stopped reading may have answered before.
    let _ = stream.write_all(request).await;
    Ok(stream)
}

async fn receive(mut stream: TcpStream) -> Vec<u8> {
    let mut answer = Vec::new();
    // What came before an error or a silence stays in `answer`.
    while let Ok(Ok(1..)) = timeout(PATIENCE, stream.read_buf(&mut answer)).await {}
    answer
}

/// For how long an upstream may say nothing, by tokio's clock.
const PATIENCE: Duration = Duration::from_secs(5);
