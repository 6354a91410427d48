//! A client that sends frames of its own, and tells which bytes came and how they ended.

use std::io::ErrorKind;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tower_outcome_testkit::Billing;

use crate::client::BODY;

pub(crate) struct Raw {
    stream: TcpStream,
}

#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

/// How the server's bytes ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ending {
    Fin,
    Reset,
}

impl Raw {
    pub(crate) async fn connect(billing: &Billing) -> Self {
        Self::connect_to(billing.addr()).await
    }

    async fn connect_to(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream }
    }

    /// Sends the preface with these settings, and reads all that the server says to it. Gives the
    /// server's settings.
    pub(crate) async fn greeted(billing: &Billing, settings: &[u8]) -> (Self, Vec<u8>) {
        Self::greeted_at(billing.addr(), settings).await
    }

    pub(crate) async fn greeted_at(addr: SocketAddr, settings: &[u8]) -> (Self, Vec<u8>) {
        let mut raw = Self::connect_to(addr).await;
        raw.send([PREFACE, &frame(SETTINGS, 0, 0, settings)].concat())
            .await;
        let server = raw.frame().await;
        assert_eq!((server.kind, server.flags), (SETTINGS, 0));
        assert_eq!(raw.frame().await.kind, WINDOW_UPDATE);
        let ack = raw.frame().await;
        assert_eq!((ack.kind, ack.flags), (SETTINGS, ACK));
        (raw, server.payload)
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    pub(crate) async fn read(&mut self, bytes: usize) -> Vec<u8> {
        let mut read = vec![0; bytes];
        self.stream.read_exact(&mut read).await.unwrap();
        read
    }

    pub(crate) async fn frame(&mut self) -> Frame {
        let header = self.read(9).await;
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
        let stream = u32::from_be_bytes(header[5..].try_into().unwrap());
        Frame {
            kind: header[3],
            flags: header[4],
            stream,
            payload: self.read(usize::try_from(length).unwrap()).await,
        }
    }

    /// Reads all there is and how it ends.
    pub(crate) async fn ending(&mut self) -> (Vec<u8>, Ending) {
        let mut read = Vec::new();
        match self.stream.read_to_end(&mut read).await {
            Ok(_) => (read, Ending::Fin),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => (read, Ending::Reset),
            Err(error) => panic!("{error}"),
        }
    }

    /// Closes the client's half, and reads on.
    pub(crate) async fn finish(&mut self) -> (Vec<u8>, Ending) {
        self.stream.shutdown().await.unwrap();
        self.ending().await
    }
}

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head, payload].concat()
}

/// A header block whose strings are shorter than 127 bytes.
pub(crate) fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let string = |text: &str| {
        let length = u8::try_from(text.len()).unwrap();
        assert!(length < 127);
        [&[length], text.as_bytes()].concat()
    };
    let fields = fields.iter();
    fields
        .flat_map(|(name, value)| [vec![0], string(name), string(value)].concat())
        .collect()
}

/// The head of the write that all tests make.
pub(crate) fn head(stream: u32, key: &str) -> Vec<u8> {
    let fields = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/refunds"),
        (":authority", "billing"),
        ("idempotency-key", key),
    ];
    frame(HEADERS, END_HEADERS, stream, &block(&fields))
}

/// The body of the write that all tests make.
pub(crate) fn body(stream: u32) -> Vec<u8> {
    frame(DATA, END_STREAM, stream, BODY.as_bytes())
}

/// The write that all tests make.
pub(crate) fn write(stream: u32, key: &str) -> Vec<u8> {
    [head(stream, key), body(stream)].concat()
}

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;
