//! One connection, from acceptance to its end.

use std::mem;
use std::sync::Arc;

use tokio::sync::watch;

use crate::books::Books;
use crate::line::{self, Line, Stop};
use crate::socket::Socket;
use crate::step::{Extent, First, Plan, Step};
use crate::{End, What, h1, h2};

/// Serves the connection until either side ends it.
pub(crate) async fn serve(socket: Socket, books: Arc<Books>) {
    let (number, step) = books.accept();
    let mut connection = Connection {
        line: Line::new(socket, books.closing()),
        books,
        number,
        client_left: false,
        parting: None,
    };
    let end = match step.map(Step::plan) {
        // Nothing is to be read, so that the protocol does not matter.
        Some(plan) if plan.read == Extent::Bytes(0) => connection.write(plan).await,
        plan => connection.speak(plan).await,
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
    /// What the end waits for, and what is sent then.
    pub(crate) parting: Option<(watch::Receiver<usize>, Vec<u8>)>,
}

impl Connection {
    /// Speaks the protocol that the client speaks. The first request takes the plan.
    async fn speak(&mut self, accepted: Option<Plan>) -> Result<Option<End>, Stop> {
        if let Some(First::HalfClose) = accepted.as_ref().map(|plan| &plan.first) {
            self.half_close().await?;
        }
        if self.line.opens_h2().await? {
            h2::serve(self, accepted).await.map(Some)
        } else {
            h1::serve(self, accepted).await
        }
    }

    /// Sends FIN, if it was not sent yet, and can still read.
    pub(crate) async fn half_close(&mut self) -> Result<(), Stop> {
        self.note_closed();
        self.line.finish().await
    }

    /// Sends what is no whole answer.
    pub(crate) async fn send_part(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.note(What::Sent { bytes: bytes.len() });
        self.line.send(bytes).await
    }

    async fn end(mut self, end: End) {
        if let Some((mut released, bytes)) = self.parting.take() {
            let mut closing = self.books.closing();
            tokio::select! {
                // Cannot fail: the sender lives in the books.
                _ = released.changed() => {}
                () = line::closing(&mut closing) => {}
            }
            if let Err(left) = self.send_part(&bytes).await {
                self.note_left(&left);
                return;
            }
        }
        match end {
            End::Close => {
                self.note_closed();
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

    /// Notes that FIN is about to be sent, once.
    fn note_closed(&self) {
        if !self.line.is_finished() {
            self.note(What::Closed);
        }
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
