//! One connection, from acceptance to its end.

use std::mem;
use std::sync::Arc;

use tokio::net::TcpStream;

use crate::books::Books;
use crate::line::{Line, Stop};
use crate::{End, What, h1, h2};

/// Serves the connection until either side ends it.
pub(crate) async fn serve(stream: TcpStream, books: Arc<Books>) {
    let (number, step) = books.accept();
    let mut connection = Connection {
        line: Line::new(stream),
        books,
        number,
        client_left: false,
    };
    let end = match step {
        Some(step) => connection.write(step.plan()).await,
        None => connection.speak().await,
    };
    match end {
        Ok(end) => connection.end(end.unwrap_or(End::Close)).await,
        Err(left) => connection.note_left(&left),
    }
}

pub(crate) struct Connection {
    pub(crate) line: Line,
    pub(crate) books: Arc<Books>,
    pub(crate) number: usize,
    client_left: bool,
}

impl Connection {
    /// Speaks the protocol that the client speaks.
    async fn speak(&mut self) -> Result<Option<End>, Stop> {
        if self.line.opens_h2().await? {
            h2::serve(self).await.map(Some)
        } else {
            h1::serve(self).await
        }
    }

    /// Sends what is no whole answer.
    pub(crate) async fn send_part(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.note(What::Sent { bytes: bytes.len() });
        self.line.send(bytes).await
    }

    async fn end(mut self, end: End) {
        match end {
            End::Close => {
                self.note(What::Closed);
                let left = self.line.close().await;
                self.note_left(&left);
            }
            End::Hold => {
                self.note(What::Holding);
                let left = self.line.client_left_unread().await;
                self.note_left(&left);
            }
            End::Reset => {
                self.note(What::Reset);
                self.line.reset();
            }
        }
    }

    pub(crate) fn note(&self, what: What) {
        self.books.note(self.number, None, what);
    }

    /// Notes once that the client has left.
    pub(crate) fn note_left(&mut self, stop: &Stop) {
        let what = match stop {
            Stop::ClientClosed => What::ClientClosed,
            Stop::ClientReset => What::ClientReset,
            Stop::Allowance | Stop::Malformed => return,
        };
        if !mem::replace(&mut self.client_left, true) {
            self.note(what);
        }
    }
}
