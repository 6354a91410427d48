//! A server in memory: every step of it and of its client is a poll, and no clock passes by itself.

use std::future::{self, Ready, pending};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::server::SendResponse;
use http::{Request, Response, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream, ReadBuf,
};
use tokio::sync::watch;
use tower::Service;
use tower_outcome::OutcomeBody;

/// How it ends a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parting {
    /// Without a word.
    Close,
    /// HTTP/2: a GOAWAY at the last stream that it has seen.
    GoAway,
    /// HTTP/2: a GOAWAY at the highest stream, and one at the last that it has seen later on.
    Grace,
    /// HTTP/1: this answer, which nobody has asked for.
    Say(&'static [u8]),
}

/// What the server took, and a client of it.
#[derive(Clone)]
pub(crate) struct Memory {
    http2: bool,
    /// How many bytes the body of each request has.
    body: usize,
    /// Decides when the client's end of a connection hesitates; with zero it never does.
    order: u64,
    books: Arc<Books>,
}

#[derive(Default)]
struct Books {
    begun: AtomicUsize,
    commits: AtomicUsize,
    parting: watch::Sender<Option<Parting>>,
}

impl Memory {
    pub(crate) fn new(http2: bool, body: usize, order: u64) -> Self {
        Self {
            http2,
            body,
            order,
            books: Arc::default(),
        }
    }

    pub(crate) fn client(&self) -> Client<Self, OutcomeBody> {
        let mut builder = Client::builder(TokioExecutor::new());
        builder.http2_only(self.http2).build(self.clone())
    }

    /// How many requests it has seen a byte of, and how many it has carried out.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let count = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        (count(&self.books.begun), count(&self.books.commits))
    }

    /// Ends the connections that are open.
    pub(crate) fn part(&self, parting: Parting) {
        self.books.parting.send_replace(Some(parting));
    }

    async fn http1(self, mut line: DuplexStream) -> io::Result<()> {
        let mut parting = self.parting();
        let mut request = Vec::new();
        let mut piece = [0; PIECE];
        loop {
            let read = tokio::select! {
                biased;
                parting = told(&mut parting) => {
                    if let Parting::Say(words) = parting {
                        line.write_all(words).await?;
                    }
                    return Ok(());
                }
                read = line.read(&mut piece) => read?,
            };
            if read == 0 {
                return Ok(());
            }
            if request.is_empty() {
                self.books.begun.fetch_add(1, Ordering::Relaxed);
            }
            request.extend_from_slice(&piece[..read]);
            let head = request.windows(4).position(|it| it == b"\r\n\r\n");
            if head.is_some_and(|head| request.len() - head - 4 == self.body) {
                self.books.commits.fetch_add(1, Ordering::Relaxed);
                request.clear();
                line.write_all(b"HTTP/1.1 201 \r\ncontent-length: 2\r\n\r\n{}")
                    .await?;
            }
        }
    }

    async fn http2(self, line: DuplexStream) -> Result<(), h2::Error> {
        let mut parting = self.parting();
        let mut connection = h2::server::handshake(line).await?;
        loop {
            let next = tokio::select! {
                biased;
                parting = told(&mut parting) => {
                    match parting {
                        Parting::Close | Parting::Say(_) => return Ok(()),
                        Parting::GoAway => connection.abrupt_shutdown(h2::Reason::NO_ERROR),
                        Parting::Grace => connection.graceful_shutdown(),
                    }
                    continue;
                }
                next = connection.accept() => next,
            };
            let Some(next) = next else { return Ok(()) };
            let (request, respond) = next?;
            self.books.begun.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(self.clone().answer(request, respond));
        }
    }

    async fn answer(
        self,
        request: Request<h2::RecvStream>,
        mut respond: SendResponse<Bytes>,
    ) -> Result<(), h2::Error> {
        let mut body = request.into_body();
        let mut read = 0;
        while let Some(data) = body.data().await {
            let length = data?.len();
            body.flow_control().release_capacity(length)?;
            read += length;
        }
        assert_eq!(read, self.body);
        self.books.commits.fetch_add(1, Ordering::Relaxed);
        let head = Response::builder().status(201).body(());
        let mut answer = respond.send_response(head.expect("a head"), false)?;
        answer.send_data(Bytes::from_static(b"{}"), true)
    }

    fn parting(&self) -> watch::Receiver<Option<Parting>> {
        let mut parting = self.books.parting.subscribe();
        parting.mark_unchanged();
        parting
    }
}

/// Ready once the server is told to end what is open.
async fn told(parting: &mut watch::Receiver<Option<Parting>>) -> Parting {
    while parting.changed().await.is_ok() {
        if let Some(parting) = *parting.borrow_and_update() {
            return parting;
        }
    }
    pending().await
}

impl Service<Uri> for Memory {
    type Response = TokioIo<Line>;
    type Error = io::Error;
    type Future = Ready<io::Result<TokioIo<Line>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let (near, far) = tokio::io::duplex(PIECE);
        let server = self.clone();
        if self.http2 {
            tokio::spawn(async { drop(server.http2(far).await) });
        } else {
            tokio::spawn(async { drop(server.http1(far).await) });
        }
        future::ready(Ok(TokioIo::new(Line {
            end: near,
            order: self.order.wrapping_mul(SPREAD),
        })))
    }
}

/// The client's end of a connection.
pub(crate) struct Line {
    end: DuplexStream,
    order: u64,
}

impl Line {
    /// Now and then it lets the others have their turn first.
    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // Marsaglia's xorshift.
        self.order ^= self.order << 13;
        self.order ^= self.order >> 7;
        self.order ^= self.order << 17;
        if self.order & 1 == 0 {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Connection for Line {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_turn(cx));
        Pin::new(&mut self.end).poll_read(cx, buf)
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_turn(cx));
        Pin::new(&mut self.end).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.end).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.end).poll_shutdown(cx)
    }
}

/// So few bytes are sent at a time that what is cut is cut small. With less than the server's first
/// frame has, both ends of HTTP/2 would wait for each other to read.
const PIECE: usize = 16;

/// Odd, and with its bits mixed: Knuth's multiplier.
const SPREAD: u64 = 6_364_136_223_846_793_005;
