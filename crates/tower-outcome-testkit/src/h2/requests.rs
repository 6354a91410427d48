//! Requests as they come in.

use std::mem;

use crate::step::{Extent, First, Plan, Wait};
use crate::{End, ErrorCode, Received, What};

use super::Session;
use super::frame::{END_HEADERS, END_STREAM, Fault, Frame, MALFORMED, WINDOW_UPDATE, frame};
use super::hpack::{Fields, Head};
use super::stream::{Answer, Phase, Stream};

/// A header block whose end has not come.
pub(super) struct Block {
    pub(super) stream: u32,
    ends_stream: bool,
    bytes: Vec<u8>,
}

impl Session<'_> {
    pub(super) async fn headers(&mut self, frame: &Frame) -> Result<Option<End>, Fault> {
        let stream = frame.header.stream;
        if stream.is_multiple_of(2) {
            return Err(MALFORMED);
        }
        let block = Block {
            stream,
            ends_stream: frame.header.has(END_STREAM),
            bytes: frame.content()?.to_vec(),
        };
        self.block(block, frame.header.has(END_HEADERS)).await
    }

    pub(super) async fn continuation(&mut self, frame: &Frame) -> Result<Option<End>, Fault> {
        let mut block = self.block.take().ok_or(MALFORMED)?;
        block.bytes.extend_from_slice(&frame.payload);
        if block.bytes.len() > LONGEST_HEAD {
            return Err(Fault::Protocol(ErrorCode::ENHANCE_YOUR_CALM));
        }
        self.block(block, frame.header.has(END_HEADERS)).await
    }

    pub(super) async fn data(&mut self, frame: &Frame) -> Result<Option<End>, Fault> {
        let id = frame.header.stream;
        if id == 0 || id > self.newest {
            return Err(MALFORMED);
        }
        self.consume(frame.header.length).await;
        let body = frame.content()?;
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.take_body(body);
        }
        if frame.header.has(END_STREAM) {
            return self.ended(id).await;
        }
        Ok(None)
    }

    /// The client gives a request up.
    pub(super) fn client_reset_stream(&mut self, frame: &Frame) -> Result<Option<End>, Fault> {
        let id = frame.header.stream;
        let code = ErrorCode(frame.number()?);
        if id == 0 || id > self.newest {
            return Err(MALFORMED);
        }
        self.reader.forget(id);
        self.give_up(id);
        self.note(id, What::ClientResetStream { code });
        Ok(None)
    }

    /// Processes a request no further.
    pub(super) fn give_up(&mut self, id: u32) {
        if let Some(stream) = self.streams.remove(&id)
            && let Phase::Reading(_) = stream.phase
        {
            self.connection.books.receive_body(&stream.request);
        }
    }

    async fn block(&mut self, block: Block, is_whole: bool) -> Result<Option<End>, Fault> {
        if !is_whole {
            self.block = Some(block);
            return Ok(None);
        }
        let fields = self.blocks.decode(&block.bytes)?;
        if block.stream > self.newest {
            self.newest = block.stream;
            return self.open(&block, fields).await;
        }
        // Trailers, which end the request.
        if !block.ends_stream {
            return Err(MALFORMED);
        }
        self.ended(block.stream).await
    }

    async fn open(&mut self, block: &Block, fields: Fields) -> Result<Option<End>, Fault> {
        let id = block.stream;
        let head = Head::new(fields)?;
        let is_look_up = ["GET", "HEAD", "OPTIONS", "TRACE"].contains(&head.method.as_str());
        let books = &self.connection.books;
        let request = books.receive(Received {
            sequence: 0,
            connection: self.connection.number,
            stream: Some(id),
            method: head.method,
            path: head.path,
            query: head.query,
            headers: head.headers,
            body: Vec::new(),
            complete: block.ends_stream,
        });
        if id > self.last_served {
            return Ok(None);
        }
        let mut plan = match self.reader.take_plan(id) {
            None if is_look_up => None,
            None => Some(books.next_step().plan()),
            plan => plan,
        };
        let first = plan
            .as_mut()
            .map(|plan| mem::replace(&mut plan.first, First::Nothing));
        let reads_on = plan.as_ref().is_none_or(|plan| plan.read != Extent::Head);
        let stream = Stream {
            request,
            window: self.initial_window,
            phase: Phase::Reading(plan),
        };
        self.streams.insert(id, stream);
        match first {
            Some(First::Answer(reply)) => self.answer_early(id, &reply).await?,
            Some(First::HalfClose) => self.connection.half_close().await?,
            Some(First::Nothing) | None => {}
        }
        match (reads_on, block.ends_stream) {
            (false, _) => self.act(id).await,
            (true, true) => self.ended(id).await,
            (true, false) => Ok(None),
        }
    }

    /// The request was read to its end.
    async fn ended(&mut self, id: u32) -> Result<Option<End>, Fault> {
        let Some(Stream {
            request,
            phase: Phase::Reading(_),
            ..
        }) = self.streams.get_mut(&id)
        else {
            return Ok(None);
        };
        request.complete = true;
        self.connection.books.receive_body(request);
        self.act(id).await
    }

    /// Does with a request what its step says.
    async fn act(&mut self, id: u32) -> Result<Option<End>, Fault> {
        let Some(stream) = self.streams.get_mut(&id) else {
            return Ok(None);
        };
        let Phase::Reading(plan) = mem::replace(&mut stream.phase, Phase::Deaf) else {
            return Ok(None);
        };
        let books = &self.connection.books;
        let Some(plan) = plan else {
            let reply = books.look_up(&stream.request);
            return self.answer_look_up(id, &reply).await;
        };
        let releases = books.releases();
        let Plan {
            commit,
            wait,
            say,
            end,
            on_release,
            ..
        } = plan;
        if let Some(bytes) = on_release {
            self.connection.parting = Some((books.releases(), bytes));
        }
        let result = commit.then(|| books.commit(&stream.request));
        let answer = Answer { say, result, end };
        match wait {
            None => self.say(id, answer).await,
            Some(Wait::Release) if self.holds_nothing => self.say(id, answer).await,
            Some(wait) => {
                stream.phase = Phase::Waiting(wait, answer);
                self.hold(id, wait, releases);
                Ok(None)
            }
        }
    }

    /// Gives the connection's window back long before it runs out, and seldom, as a client that has
    /// left would see to it that a write breaks the reading. The streams' windows are as large as
    /// they can be and left alone.
    async fn consume(&mut self, bytes: usize) {
        self.consumed += u32::try_from(bytes).unwrap_or_default();
        if self.consumed >= WINDOW_TO_GIVE_BACK {
            let consumed = mem::take(&mut self.consumed);
            let update = frame(WINDOW_UPDATE, 0, 0, &consumed.to_be_bytes());
            self.send_control(&update).await;
        }
    }
}

const WINDOW_TO_GIVE_BACK: u32 = 1024 * 1024;
/// The longest header block that is read.
const LONGEST_HEAD: usize = 1024 * 1024;
