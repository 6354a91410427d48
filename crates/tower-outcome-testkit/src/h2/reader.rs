//! Reads frames, and no further into a request than a step allows.

use std::mem;

use crate::books::Books;
use crate::line::{Line, Stop};
use crate::step::{Extent, Plan};

use super::frame::{Fault, Frame, HEADERS, Header, LIMIT, WRONG_SIZE};

/// Loses nothing when a [`next`](Self::next) is dropped.
pub(super) struct FrameReader {
    /// The frame under way.
    header: Option<Header>,
    bytes: Vec<u8>,
    /// The newest stream that was opened.
    newest: u32,
    allowance: Option<Allowance>,
    /// For the first request.
    accepted: Option<Plan>,
}

struct Allowance {
    stream: u32,
    bytes: usize,
    /// Until the head was read.
    plan: Option<Plan>,
}

impl FrameReader {
    pub(super) const fn new(accepted: Option<Plan>) -> Self {
        Self {
            header: None,
            bytes: Vec::new(),
            newest: 0,
            allowance: None,
            accepted,
        }
    }

    /// The next frame. Gives the request that it opens the next step, if that one counts bytes.
    pub(super) async fn next(&mut self, line: &mut Line, books: &Books) -> Result<Frame, Fault> {
        let header = match self.header {
            Some(header) => header,
            None => {
                let header = Header::parse(line.peek().await?);
                if header.length > LIMIT {
                    return Err(WRONG_SIZE);
                }
                self.begin(header, books);
                header
            }
        };
        while let left @ 1.. = Header::BYTES + header.length - self.bytes.len() {
            let allowance = self.allowance.as_mut();
            let allowance = allowance
                .filter(|it| header.is_of_request() && it.stream == header.stream)
                .map(|it| &mut it.bytes);
            let most = left.min(allowance.as_deref().copied().unwrap_or(left));
            if most == 0 {
                return Err(Stop::Allowance.into());
            }
            let before = self.bytes.len();
            line.read(most, &mut self.bytes).await?;
            if let Some(allowance) = allowance {
                *allowance -= self.bytes.len() - before;
            }
        }
        self.header = None;
        Ok(Frame {
            header,
            payload: mem::take(&mut self.bytes).split_off(Header::BYTES),
        })
    }

    /// The step that counts the bytes of this request, or that its connection came with. Given
    /// once.
    pub(super) fn take_plan(&mut self, stream: u32) -> Option<Plan> {
        if let accepted @ Some(_) = self.accepted.take() {
            return accepted;
        }
        let allowance = self.allowance.as_mut();
        allowance.filter(|it| it.stream == stream)?.plan.take()
    }

    /// The stream whose bytes are counted.
    pub(super) fn counted(&self) -> Option<u32> {
        self.allowance.as_ref().map(|it| it.stream)
    }

    /// Counts the bytes of this stream no longer.
    pub(super) fn forget(&mut self, stream: u32) {
        self.allowance.take_if(|it| it.stream == stream);
    }

    /// What was read of a frame that is not whole.
    pub(super) fn partial(&mut self) -> Option<Frame> {
        let mut bytes = mem::take(&mut self.bytes);
        let header = self.header.take()?;
        (bytes.len() > Header::BYTES).then(|| Frame {
            header,
            payload: bytes.split_off(Header::BYTES),
        })
    }

    fn begin(&mut self, header: Header, books: &Books) {
        self.header = Some(header);
        if header.kind != HEADERS || header.stream <= self.newest {
            return;
        }
        self.newest = header.stream;
        if self.allowance.is_none()
            && self.accepted.is_none()
            && let Some(step) = books.next_counting_step()
        {
            let plan = step.plan();
            let Extent::Bytes(bytes) = plan.read else {
                return;
            };
            self.allowance = Some(Allowance {
                stream: header.stream,
                bytes,
                plan: Some(plan),
            });
        }
    }
}
