//! A refund service on a real tonic server, which counts what it commits.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use futures_util::stream::{self, Stream, StreamExt as _};
use hyper_util::rt::TokioIo;
use tokio::io::DuplexStream;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};
use tonic::body::Body;
use tonic::metadata::MetadataValue;
use tonic::server::{Grpc, NamedService, StreamingService};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status, Streaming};
use tower::Service;

use crate::refunds::Text;

/// What becomes of the next call, whatever its method.
pub(crate) enum Step {
    /// Commits and answers with the refund's id.
    Answer,
    /// Commits, and answers with this status alone.
    CommitThenFail(Status),
    /// Commits, and answers with the refund's id once the other end says so.
    CommitThenHold(oneshot::Receiver<()>),
    /// Commits, and answers with the messages of the other end, until that is dropped.
    CommitThenStream(mpsc::UnboundedReceiver<Result<String, Status>>),
    /// Commits nothing, and answers with this status alone.
    Fail(Status),
    /// Commits nothing, and answers with a message before this status.
    MessageThenFail(Status),
}

/// A refund service that honours keys, and says in its head when it replays. Cloning shares it.
#[derive(Clone)]
pub(crate) struct Billing {
    books: Arc<Mutex<Books>>,
    commits: watch::Sender<usize>,
}

#[derive(Default)]
struct Books {
    script: VecDeque<Step>,
    /// The key of each call that was read to its end.
    received: Vec<Option<String>>,
    committed: Vec<Option<String>>,
    connections: Vec<std::net::TcpStream>,
    longest_answer: Option<usize>,
}

impl Billing {
    pub(crate) fn new() -> Self {
        Self {
            books: Arc::default(),
            commits: watch::Sender::new(0),
        }
    }

    /// A service on a loopback port, and a channel to it.
    pub(crate) async fn on_loopback() -> (Self, Channel) {
        let billing = Self::new();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let books = Arc::clone(&billing.books);
        let incoming = stream::unfold((listener, books), |(listener, books)| async {
            let connection = listener.accept().await.unwrap().0.into_std().unwrap();
            let twin = connection.try_clone().unwrap();
            books.lock().unwrap().connections.push(twin);
            let connection = tokio::net::TcpStream::from_std(connection);
            Some((connection, (listener, books)))
        });
        let server = Server::builder().add_service(billing.clone());
        tokio::spawn(async move { server.serve_with_incoming(incoming).await });
        (billing, endpoint(addr).connect_lazy())
    }

    /// A service without sockets, which a paused clock waits for.
    pub(crate) fn in_memory() -> (Self, Channel) {
        Self::in_memory_through(&Endpoint::from_static("http://billing"))
    }

    /// The same, through an endpoint with settings of its own.
    pub(crate) fn in_memory_through(endpoint: &Endpoint) -> (Self, Channel) {
        let billing = Self::new();
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let incoming = stream::iter([Ok::<_, io::Error>(theirs)]);
        let server = Server::builder().add_service(billing.clone());
        tokio::spawn(async move { server.serve_with_incoming(incoming).await });
        (billing, over(endpoint, ours))
    }

    pub(crate) fn script(&self, steps: impl IntoIterator<Item = Step>) {
        self.books().script.extend(steps);
    }

    /// Scripts an answer that the test holds back.
    pub(crate) fn hold(&self) -> oneshot::Sender<()> {
        let (release, held) = oneshot::channel();
        self.script([Step::CommitThenHold(held)]);
        release
    }

    /// Scripts an answer whose messages the test sends.
    pub(crate) fn stream(&self) -> mpsc::UnboundedSender<Result<String, Status>> {
        let (feed, messages) = mpsc::unbounded_channel();
        self.script([Step::CommitThenStream(messages)]);
        feed
    }

    /// Has the server's library refuse to send messages of more than `bytes`.
    pub(crate) fn limit_answers(&self, bytes: usize) {
        self.books().longest_answer = Some(bytes);
    }

    /// The keys of all calls that were read, in their order.
    pub(crate) fn received(&self) -> Vec<Option<String>> {
        self.books().received.clone()
    }

    pub(crate) fn commits(&self) -> usize {
        self.books().committed.len()
    }

    pub(crate) async fn wait_commits(&self, wanted: usize) {
        let mut commits = self.commits.subscribe();
        commits
            .wait_for(|commits| *commits >= wanted)
            .await
            .unwrap();
    }

    /// Closes all connections in the middle of whatever they carry.
    pub(crate) fn cut(&self) {
        for connection in self.books().connections.drain(..) {
            connection.shutdown(Shutdown::Both).unwrap();
        }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    fn next(&self, key: Option<String>) -> Step {
        let mut books = self.books();
        books.received.push(key);
        books.script.pop_front().unwrap_or(Step::Answer)
    }

    /// The place of what was committed under the key.
    fn find(&self, key: Option<&String>) -> Option<usize> {
        let key = key?;
        let books = self.books();
        books
            .committed
            .iter()
            .position(|it| it.as_ref() == Some(key))
    }

    /// The refund's id. A key commits once.
    fn commit(&self, key: Option<String>) -> String {
        let known = self.find(key.as_ref());
        let mut books = self.books();
        let index = known.unwrap_or_else(|| {
            books.committed.push(key);
            books.committed.len() - 1
        });
        self.commits.send_replace(books.committed.len());
        format!("re_{}", index + 1)
    }

    async fn answer(
        self,
        request: Request<Streaming<String>>,
    ) -> Result<Response<Messages>, Status> {
        let key = request.metadata().get("idempotency-key");
        let key = key.map(|key| key.to_str().unwrap().to_owned());
        let replayed = self.find(key.as_ref()).is_some();
        let mut messages = request.into_inner();
        while messages.message().await?.is_some() {}

        let answer = match self.next(key.clone()) {
            Step::Answer => vec![Ok(self.commit(key))],
            Step::CommitThenFail(status) => {
                self.commit(key);
                return Err(status);
            }
            Step::CommitThenHold(held) => {
                let id = self.commit(key);
                // The test has let go of it: that is a release as well.
                let _ = held.await;
                vec![Ok(id)]
            }
            Step::CommitThenStream(mut messages) => {
                self.commit(key);
                let messages = stream::poll_fn(move |cx| messages.poll_recv(cx)).boxed();
                return Ok(headed(messages, replayed));
            }
            Step::Fail(status) => return Err(status),
            Step::MessageThenFail(status) => vec![Ok("nothing".into()), Err(status)],
        };
        Ok(headed(stream::iter(answer).boxed(), replayed))
    }
}

fn headed(messages: Messages, replayed: bool) -> Response<Messages> {
    let mut answer = Response::new(messages);
    if replayed {
        let marker = MetadataValue::from_static("true");
        answer.metadata_mut().insert("idempotent-replayed", marker);
    }
    answer
}

impl Service<http::Request<Body>> for Billing {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let longest = self.books().longest_answer;
        let mut grpc = Grpc::new(Text).apply_max_message_size_config(None, longest);
        let handler = Handler(self.clone());
        Box::pin(async move { Ok(grpc.streaming(handler, request).await) })
    }
}

impl NamedService for Billing {
    const NAME: &'static str = "billing.Refunds";
}

type Messages = Pin<Box<dyn Stream<Item = Result<String, Status>> + Send>>;

/// Every kind of method is a stream on the wire.
struct Handler(Billing);

impl StreamingService<String> for Handler {
    type Response = String;
    type ResponseStream = Messages;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Messages>, Status>> + Send>>;

    fn call(&mut self, request: Request<Streaming<String>>) -> Self::Future {
        Box::pin(self.0.clone().answer(request))
    }
}

pub(crate) fn endpoint(addr: SocketAddr) -> Endpoint {
    Endpoint::from_shared(format!("http://{addr}")).unwrap()
}

/// A channel over one connection that is already there.
pub(crate) fn over(endpoint: &Endpoint, connection: DuplexStream) -> Channel {
    let mut connection = Some(TokioIo::new(connection));
    let connect = tower::service_fn(move |_| {
        let connection = connection.take();
        std::future::ready(connection.ok_or(io::ErrorKind::ConnectionRefused))
    });
    let connect = tower::ServiceExt::map_err(connect, io::Error::from);
    endpoint.connect_with_connector_lazy(connect)
}
