//! One request on its way to an answer.

use crate::step::{Plan, Say, Wait};
use crate::{End, Received, Reply};

use super::frame::{Frame, PADDED};
use super::outgoing::Outgoing;

pub(super) struct Stream {
    pub(super) request: Received,
    /// How much body the client lets through.
    pub(super) window: i64,
    pub(super) phase: Phase,
}

pub(super) enum Phase {
    /// Its frames are thrown away.
    Deaf,
    /// The request is being read; a look-up has no plan.
    Reading(Option<Plan>),
    /// The client's windows hold an answer back.
    Sending(Outgoing, Option<End>),
    /// A step holds an answer back.
    Waiting(Wait, Answer),
}

/// What is to be said.
pub(super) struct Answer {
    pub(super) say: Say,
    /// What the commit gave.
    pub(super) result: Option<Reply>,
    pub(super) end: Option<End>,
}

impl Stream {
    pub(super) fn take_body(&mut self, body: &[u8]) {
        if let Phase::Reading(_) = self.phase {
            self.request.body.extend_from_slice(body);
        }
    }

    /// Takes what came of a DATA frame that broke off.
    pub(super) fn take_partial(&mut self, partial: &Frame) {
        let mut body = partial.payload.as_slice();
        if partial.header.has(PADDED)
            && let Some((padding, rest)) = body.split_first()
        {
            let length = partial
                .header
                .length
                .saturating_sub(1 + usize::from(*padding));
            body = &rest[..length.min(rest.len())];
        }
        self.take_body(body);
    }
}
