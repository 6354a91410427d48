//! A client that hides nothing: it sends bytes, and tells which bytes came and how they ended.

use std::io::ErrorKind;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tower_outcome_testkit::{Billing, ReplayingProxy, What};

pub(crate) struct Client {
    stream: TcpStream,
    /// Lives as long as the client.
    _proxy: Option<ReplayingProxy>,
}

/// How the server's bytes ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ending {
    Fin,
    Reset,
}

impl Client {
    pub(crate) async fn connect(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            _proxy: None,
        }
    }

    /// Connects to a proxy and keeps it running.
    pub(crate) async fn through(proxy: ReplayingProxy) -> Self {
        let client = Self::connect(proxy.addr()).await;
        Self {
            _proxy: Some(proxy),
            ..client
        }
    }

    /// Connects and sends.
    pub(crate) async fn sending(billing: &Billing, request: impl AsRef<[u8]>) -> Self {
        let mut client = Self::connect(billing.addr()).await;
        client.send(request).await;
        client
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    /// Reads that many bytes.
    pub(crate) async fn read(&mut self, bytes: usize) -> String {
        let mut read = vec![0; bytes];
        self.stream.read_exact(&mut read).await.unwrap();
        String::from_utf8(read).unwrap()
    }

    /// Reads one answer: all of its head and as much body as that says.
    pub(crate) async fn answer(&mut self) -> String {
        let mut answer = String::new();
        while !answer.ends_with("\r\n\r\n") {
            answer += &self.read(1).await;
        }
        let length = answer.split("content-length: ").nth(1);
        let length = length.and_then(|rest| rest.split("\r\n").next());
        let body = length.map_or(0, |length| length.parse().unwrap());
        answer += &self.read(body).await;
        answer
    }

    /// Reads all there is and how it ends.
    pub(crate) async fn ending(&mut self) -> (String, Ending) {
        let mut read = Vec::new();
        let ending = match self.stream.read_to_end(&mut read).await {
            Ok(_) => Ending::Fin,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ending::Reset,
            Err(error) => panic!("{error}"),
        };
        (String::from_utf8(read).unwrap(), ending)
    }

    /// Closes the client's half, and reads on.
    pub(crate) async fn finish(&mut self) -> (String, Ending) {
        self.stream.shutdown().await.unwrap();
        self.ending().await
    }
}

pub(crate) const BODY: &str = r#"{"order":"A-1","amount":1000,"reference":"r-1"}"#;

/// What the first commit of [`BODY`] is answered with.
pub(crate) const CREATED: &str = "HTTP/1.1 201 \r\ncontent-type: application/json\r\n\
    content-length: 59\r\n\r\n\
    {\"id\":\"re_1\",\"order\":\"A-1\",\"amount\":1000,\"reference\":\"r-1\"}";

/// The head of the write that all tests make.
pub(crate) fn head(key: &str) -> String {
    let length = BODY.len();
    format!(
        "POST /refunds HTTP/1.1\r\nhost: billing\r\nidempotency-key: {key}\r\n\
         content-length: {length}\r\n\r\n"
    )
}

/// The write that all tests make.
pub(crate) fn write(key: &str) -> String {
    head(key) + BODY
}

pub(crate) fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nhost: billing\r\n\r\n")
}

/// What happened so far on a connection.
pub(crate) fn happened(billing: &Billing, connection: usize) -> Vec<What> {
    billing
        .timeline()
        .into_iter()
        .filter(|event| event.connection == connection)
        .map(|event| event.what)
        .collect()
}

/// Waits until this has happened.
pub(crate) async fn until(billing: &Billing, what: What) {
    billing.wait_for(|event| event.what == what).await;
}
