//! A connection that speaks HTTP/2 in the clear (RFC 9113).

mod answers;
mod control;
mod frame;
mod hpack;
mod outgoing;
mod reader;
mod requests;
mod stream;

use std::collections::BTreeMap;
use std::mem;

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::connection::Connection;
use crate::line::{Stop, closing};
use crate::step::{Extent, Plan, Say};
use crate::{End, ErrorCode, What};

use self::frame::{
    CONTINUATION, DATA, Fault, Frame, GOAWAY, HEADERS, LOW_31, MALFORMED, PING, PUSH_PROMISE,
    RST_STREAM, SETTINGS, WINDOW_UPDATE, frame,
};
use self::hpack::Blocks;
use self::reader::FrameReader;
use self::requests::Block;
use self::stream::{Phase, Stream};

/// Serves requests until one of them ends the connection. The first one takes the plan, if the
/// connection came with one.
pub(crate) async fn serve(
    connection: &mut Connection,
    accepted: Option<Plan>,
) -> Result<End, Stop> {
    let mut session = Session {
        closing: connection.books.closing(),
        connection,
        blocks: Blocks::new(),
        reader: FrameReader::new(accepted),
        streams: BTreeMap::new(),
        newest: 0,
        last_served: LOW_31,
        block: None,
        has_settings: false,
        window: DEFAULT_WINDOW,
        initial_window: DEFAULT_WINDOW,
        consumed: 0,
        waits: JoinSet::new(),
        holds_nothing: false,
    };
    let end = session.run().await;
    session.file_partial();
    let end = match end {
        Err(Fault::Stop(Stop::Allowance)) => session.stop().await,
        Err(Fault::Protocol(code)) => session.refuse(code).await,
        Err(Fault::Stop(stop)) => Err(stop),
        Ok(end) => Ok(end),
    };
    session.file_unfinished();
    end
}

struct Session<'a> {
    connection: &'a mut Connection,
    blocks: Blocks,
    reader: FrameReader,
    /// Those that are not answered in full.
    streams: BTreeMap<u32, Stream>,
    newest: u32,
    /// Later streams were said to be ignored, and are.
    last_served: u32,
    /// The header block under way.
    block: Option<Block>,
    has_settings: bool,
    /// What the client lets through on the connection, and on a new stream.
    window: i64,
    initial_window: i64,
    /// What the client has used up of the connection's window.
    consumed: u32,
    /// Streams whose answers are held back.
    waits: JoinSet<u32>,
    /// Turns true when nothing is to be held any more, and the connection is to end.
    closing: watch::Receiver<bool>,
    holds_nothing: bool,
}

impl Session<'_> {
    async fn run(&mut self) -> Result<End, Fault> {
        self.greet().await?;
        loop {
            let end = tokio::select! {
                biased;
                Some(over) = self.waits.join_next() => match over {
                    Ok(stream) => self.wait_over(stream).await?,
                    // A panic: tokio's clock is off in the test's runtime.
                    Err(_) => None,
                },
                // Before the reader, which sends FIN then at the client's next pause.
                () = closing(&mut self.closing), if !self.holds_nothing => {
                    self.let_go().await?
                }
                frame = self.reader.next(&mut self.connection.line, &self.connection.books) => {
                    self.take(frame?).await?
                }
            };
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    async fn take(&mut self, frame: Frame) -> Result<Option<End>, Fault> {
        let header = frame.header;
        let is_continued = self.block.as_ref().map(|block| block.stream);
        let continues = (header.kind == CONTINUATION).then_some(header.stream);
        if is_continued != continues || !self.has_settings && header.kind != SETTINGS {
            return Err(MALFORMED);
        }
        match header.kind {
            CONTINUATION => self.continuation(&frame).await,
            DATA => self.data(&frame).await,
            HEADERS => self.headers(&frame).await,
            PING => self.ping(&frame).await,
            PUSH_PROMISE => Err(MALFORMED),
            RST_STREAM => self.client_reset_stream(&frame),
            SETTINGS => self.settings(&frame).await,
            WINDOW_UPDATE => self.window_update(&frame).await,
            _ => Ok(None),
        }
    }

    /// Ends a request in the middle, as its step says.
    async fn stop(&mut self) -> Result<End, Stop> {
        let stream = self.reader.counted().unwrap_or_default();
        let plan = match self.streams.get_mut(&stream) {
            Some(Stream {
                phase: Phase::Reading(plan),
                ..
            }) => plan.take(),
            _ => self.reader.take_plan(stream),
        };
        let Some(plan) = plan else {
            return Ok(End::Close);
        };
        if let Extent::Bytes(bytes) = plan.read {
            self.note(stream, What::Stopped { bytes });
        }
        if let Say::Bytes(bytes) = plan.say {
            self.connection.send_part(&bytes).await?;
        }
        Ok(plan.end.unwrap_or(End::Close))
    }

    /// Answers what is not HTTP/2.
    async fn refuse(&mut self, code: ErrorCode) -> Result<End, Stop> {
        self.connection.note(What::Malformed);
        let payload = [self.newest.to_be_bytes(), code.0.to_be_bytes()].concat();
        let bytes = frame(GOAWAY, 0, 0, &payload);
        self.connection.send_part(&bytes).await?;
        Ok(End::Close)
    }

    /// Takes what came of the body in a frame that broke off.
    fn file_partial(&mut self) {
        if let Some(partial) = self.reader.partial()
            && partial.header.kind == DATA
            && let Some(stream) = self.streams.get_mut(&partial.header.stream)
        {
            stream.take_partial(&partial);
        }
    }

    fn file_unfinished(&mut self) {
        for (_, stream) in mem::take(&mut self.streams) {
            if let Phase::Reading(_) = stream.phase {
                self.connection.books.receive_body(&stream.request);
            }
        }
    }

    fn note(&self, stream: u32, what: What) {
        let Connection { books, number, .. } = &*self.connection;
        books.note(*number, Some(stream), what);
    }
}

/// What either side lets through where nothing else was agreed.
const DEFAULT_WINDOW: i64 = 65_535;
