//! The loopback service of one worker. All of them write into the same books.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::books::{Books, Call};
use crate::plan::End;

/// A service that does with each write what the books say.
pub(crate) struct Service {
    address: SocketAddr,
    accepting: JoinHandle<()>,
    connections: Count,
    /// Requests that are being worked on, whether or not somebody waits for the answer.
    under_way: Count,
    probe: watch::Sender<Option<SocketAddr>>,
}

impl Service {
    pub(crate) async fn start(books: Arc<Books>, keys_count: bool) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (connections, under_way) = (Count::default(), Count::default());
        let (probe, probed) = watch::channel(None);
        let desk = Desk {
            books,
            keys_count,
            under_way: under_way.clone(),
        };
        let counted = connections.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, peer)) = listener.accept().await {
                if *probed.borrow() == Some(peer) {
                    return;
                }
                tokio::spawn(connection(stream, desk.clone(), counted.enter()));
            }
        });
        Ok(Self {
            address,
            accepting,
            connections,
            under_way,
            probe,
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until no request is being worked on.
    pub(crate) async fn idle(&self) {
        self.under_way.wait_for_none().await;
    }

    /// Waits until all is done that a client which has died had sent.
    pub(crate) async fn close(self) -> io::Result<()> {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        self.probe.send_replace(Some(socket.local_addr()?));
        // Connections are accepted in the order in which they were made.
        let _probe = socket.connect(self.address).await?;
        let _ = self.accepting.await;
        self.connections.wait_for_none().await;
        self.under_way.wait_for_none().await;
        Ok(())
    }
}

/// What a connection works with.
#[derive(Clone)]
struct Desk {
    books: Arc<Books>,
    keys_count: bool,
    under_way: Count,
}

async fn connection(stream: TcpStream, desk: Desk, _counted: Entered) {
    // An answer is not to wait for more.
    let _ = stream.set_nodelay(true);
    let serve = service_fn(move |request| answer(request, desk.clone()));
    // Ends with an error where the client has died or an answer is lost on purpose.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), serve)
        .await;
}

async fn answer(
    request: Request<Incoming>,
    desk: Desk,
) -> Result<Response<Full<Bytes>>, ConnectionClosed> {
    let path = request.uri().path().trim_start_matches('/').to_owned();
    if request.method() == Method::GET {
        let found = desk.books.effect(&path);
        let found = found.map(|effect| json!({ "effect": effect }));
        return Ok(respond(StatusCode::OK, &found.unwrap_or_default()));
    }
    let key = request.headers().get("idempotency-key").cloned();
    let key = key.and_then(|key| key.to_str().map(str::to_owned).ok());
    let (key, call) = key.zip(call(&path)).ok_or(ConnectionClosed)?;
    let body = request.into_body().collect().await;
    body.map_err(|_| ConnectionClosed)?;

    let fate = desk.books.receive(call);
    let entered = desk.under_way.enter();
    // A task of its own: what was received is worked on though its client dies.
    let work = tokio::spawn(async move {
        let _entered = entered;
        tokio::time::sleep(fate.before_commit).await;
        let effect = match fate.end {
            End::Answered | End::AnswerLost | End::Error => {
                Some(desk.books.commit(call, &key, desk.keys_count))
            }
            End::Refused | End::RequestLost => None,
        };
        tokio::time::sleep(fate.before_answer).await;
        effect
    });
    let effect = work.await.map_err(|_| ConnectionClosed)?;
    match fate.end {
        End::Answered => Ok(respond(StatusCode::CREATED, &json!({ "effect": effect }))),
        End::AnswerLost | End::RequestLost => Err(ConnectionClosed),
        End::Error => Ok(respond(StatusCode::INTERNAL_SERVER_ERROR, &json!({}))),
        End::Refused => Ok(respond(StatusCode::UNPROCESSABLE_ENTITY, &json!({}))),
    }
}

fn call(path: &str) -> Option<Call> {
    let (cycle, call) = path.split_once('/')?;
    Some((cycle.parse().ok()?, call.parse().ok()?))
}

fn respond(status: StatusCode, body: &serde_json::Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.to_string().into()));
    *response.status_mut() = status;
    response
}

/// Has hyper close the connection without a word.
#[derive(Debug)]
struct ConnectionClosed;

impl fmt::Display for ConnectionClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection is closed on purpose")
    }
}

impl std::error::Error for ConnectionClosed {}

/// How many there are.
#[derive(Clone, Default)]
struct Count(Arc<watch::Sender<usize>>);

impl Count {
    fn enter(&self) -> Entered {
        self.0.send_modify(|count| *count += 1);
        Entered(self.clone())
    }

    async fn wait_for_none(&self) {
        let mut counted = self.0.subscribe();
        // The sender lives as long as we do.
        let _ = counted.wait_for(|count| *count == 0).await;
    }
}

struct Entered(Count);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
