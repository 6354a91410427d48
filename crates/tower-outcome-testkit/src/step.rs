//! What the server does with one write, down to the byte.

use std::time::Duration;

use crate::frames::Act;
use crate::{Frames, Reply};

/// What becomes of one write request.
///
/// Over HTTP/2 a request is a stream, and a step means the same with these differences:
///
/// * An answer is the frames of its stream: HEADERS, DATA if it has a body, HEADERS if it has
///   trailers. Its bytes are counted with the nine of each frame's header.
/// * A step that is silent is so on its stream; the others go on. A step that has an [`End`], or
///   closes or resets, ends the connection with all its streams, without GOAWAY.
/// * The body that a step does not read is read off the socket and thrown away.
/// * [`SpeakFirst`](Self::SpeakFirst) and [`StopAfter`](Self::StopAfter) on an open connection are
///   taken by the first request that opens a stream, a look-up too: its method is not known yet.
///   The steps that close their half there do so when they have read the head.
/// * An interim answer is a HEADERS frame that does not end the stream. An answer that comes early,
///   or with bytes behind it, is sent whatever the client's flow-control windows are.
///
/// "Commits" means that the write takes effect, exactly as it would with [`Answer`](Self::Answer):
/// where keys are honoured, a request whose key has committed before is a replay and commits
/// nothing. Whatever the step, a request that was not read in full never commits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Step {
    /// Commits and answers 201. What an empty script means.
    Answer,
    /// Commits and answers 201 after this time, measured by tokio's clock.
    AnswerAfter(Duration),
    /// Commits, answers 201 in full, and ends the connection, as a server does with a connection
    /// that the client takes for idle.
    AnswerThen(End),
    /// Does as [`AnswerThen`](Self::AnswerThen), and ends the connection only once
    /// [`Billing::release`](crate::Billing::release) is called.
    AnswerThenReleased(End),
    /// Does as [`AnswerThenSend`](Self::AnswerThenSend), and sends the bytes and ends the connection
    /// only once [`Billing::release`](crate::Billing::release) is called.
    AnswerThenReleasedSend {
        /// Sent as they are.
        bytes: Vec<u8>,
        /// What follows them.
        end: End,
    },
    /// Commits, answers 201 in full, sends these bytes behind it, and ends the connection. A 408
    /// there is what a server says to a connection that was idle for too long (RFC 9110 section
    /// 15.5.9), and what a client may take for the answer to its next request.
    AnswerThenSend {
        /// Sent as they are.
        bytes: Vec<u8>,
        /// What follows them.
        end: End,
    },
    /// Reads the request in full, commits nothing and answers this. Of a status below 200 it is an
    /// interim answer, and silence.
    AnswerWith(Reply),
    /// Commits and answers this, a gateway's 503 for instance. Of a status below 200 it is an interim
    /// answer, and silence.
    CommitThenAnswerWith(Reply),
    /// Commits and closes the connection without an answer.
    CommitThenClose,
    /// Commits and answers 201 once [`Billing::release`](crate::Billing::release) is called.
    CommitThenHold,
    /// Commits and resets the connection without an answer.
    CommitThenReset,
    /// Commits, sends these bytes instead of an answer, and ends the connection.
    CommitThenSend {
        /// Sent as they are.
        bytes: Vec<u8>,
        /// What follows them.
        end: End,
    },
    /// Commits and never answers. The connection stays open until the client closes it.
    CommitThenSilence,
    /// Answers after the head, with the body unread, and ends the connection. Commits nothing.
    EarlyAnswer {
        /// The answer.
        reply: Reply,
        /// What follows it.
        end: End,
    },
    /// Answers this after the head, reads the body all the same, and commits. The connection stays
    /// open for further requests.
    EarlyAnswerThenCommit(Reply),
    /// Does what only HTTP/2 can. A request over HTTP/1.1 is answered 505 and commits nothing.
    Frames(Frames),
    /// Commits, sends that many bytes of the 201, and ends the connection.
    HalfAnswer {
        /// How many bytes of the answer, counted from the start of its head, over HTTP/2 from the
        /// start of its HEADERS frame. The client's flow-control windows do not matter.
        bytes: usize,
        /// What follows them.
        end: End,
    },
    /// Sends FIN before it has read anything, then reads a request in full and commits.
    ///
    /// Acts as soon as a connection is accepted, like [`StopAfter`](Self::StopAfter) with no bytes.
    HalfCloseThenCommit,
    /// Does as [`HalfCloseThenCommit`](Self::HalfCloseThenCommit) and commits nothing.
    HalfCloseThenRead,
    /// Commits, sends this interim answer (a status of 1xx), and then the 201.
    InterimThenAnswer(Reply),
    /// Reads the request in full, commits nothing and never answers.
    ReadAllThenSilence,
    /// Reads the head and not one byte of the body, commits nothing and never answers.
    ReadHeadThenSilence,
    /// Sends these bytes before it has read anything, and ends the connection. Commits nothing.
    ///
    /// Acts as soon as a connection is accepted, like [`StopAfter`](Self::StopAfter) with no bytes.
    SpeakFirst {
        /// Sent as they are.
        bytes: Vec<u8>,
        /// What follows them.
        end: End,
    },
    /// Reads that many bytes of the request, or all of a shorter one, and ends the connection
    /// without an answer. Commits nothing.
    ///
    /// With no bytes it acts on the next connection as soon as that is accepted, whatever the
    /// connection is for; where no connection comes first, on the next write over an open one.
    StopAfter {
        /// How many bytes, counted from the start of the request's head. Over HTTP/2 the bytes of
        /// the HEADERS, CONTINUATION and DATA frames of the request's stream are counted, with the
        /// nine of each frame's header. What the connection needs for itself is not (preface,
        /// SETTINGS, `WINDOW_UPDATE`, PING), so that it makes no difference when that comes.
        bytes: usize,
        /// What follows.
        end: End,
    },
}

/// How the server ends its part of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// Sends FIN. What the client still sends is thrown away, so that the client sees a clean end
    /// of the stream and no reset, even if part of its request was never read.
    Close,
    /// Says nothing more, reads nothing more, and leaves the connection open until the client
    /// closes it.
    Hold,
    /// Sends RST.
    Reset,
}

/// A step in the order in which a connection carries it out.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) first: First,
    pub(crate) read: Extent,
    pub(crate) commit: bool,
    pub(crate) wait: Option<Wait>,
    pub(crate) say: Say,
    /// `None` keeps the connection for further requests.
    pub(crate) end: Option<End>,
    /// The end waits for a release, and these bytes come before it.
    pub(crate) on_release: Option<Vec<u8>>,
}

/// What happens before the request is read in full.
#[derive(Debug)]
pub(crate) enum First {
    /// Comes between head and body.
    Answer(Reply),
    /// Comes before everything.
    HalfClose,
    Nothing,
}

/// How much of the request is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Extent {
    All,
    Bytes(usize),
    Head,
}

/// What the answer waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    Release,
    Time(Duration),
}

#[derive(Debug)]
pub(crate) enum Say {
    Bytes(Vec<u8>),
    Frames(Vec<Act>),
    /// This, and then the answer that the commit gave.
    InterimThenResult(Reply),
    Nothing,
    /// That many bytes of the answer that the commit gave.
    Part(usize),
    Reply(Reply),
    /// The answer that the commit gave.
    Result,
    /// The answer that the commit gave, and then these bytes.
    ResultThen(Vec<u8>),
    /// Nothing, ever: the request is left open.
    Silence,
}

impl Step {
    /// Whether the step needs no request to act on.
    pub(crate) fn acts_on_accept(&self) -> bool {
        matches!(
            self,
            Self::HalfCloseThenCommit
                | Self::HalfCloseThenRead
                | Self::SpeakFirst { .. }
                | Self::StopAfter { bytes: 0, .. }
        )
    }

    /// Whether the step has to be known before the first byte of a request is read.
    pub(crate) fn counts_bytes(&self) -> bool {
        matches!(self, Self::SpeakFirst { .. } | Self::StopAfter { .. })
    }

    /// How the connection ends behind the whole answer.
    pub(crate) fn idle_end(self) -> Option<End> {
        let plan = self.plan();
        let goes_away = |act: &Act| matches!(act, Act::GoAway(..));
        match plan.say {
            Say::Frames(acts) if acts.iter().any(goes_away) => Some(End::Close),
            Say::Result | Say::ResultThen(_) => plan.end,
            _ => None,
        }
    }

    pub(crate) fn plan(self) -> Plan {
        match self {
            Self::Answer => Plan::commit(Say::Result, None),
            Self::AnswerAfter(time) => Plan {
                wait: Some(Wait::Time(time)),
                ..Plan::commit(Say::Result, None)
            },
            Self::AnswerThen(end) => Plan::commit(Say::Result, Some(end)),
            Self::AnswerThenReleased(end) => Plan {
                on_release: Some(Vec::new()),
                ..Plan::commit(Say::Result, Some(end))
            },
            Self::AnswerThenReleasedSend { bytes, end } => Plan {
                on_release: Some(bytes),
                ..Plan::commit(Say::Result, Some(end))
            },
            Self::AnswerThenSend { bytes, end } => Plan::commit(Say::ResultThen(bytes), Some(end)),
            Self::AnswerWith(reply) => Plan::ignore(Extent::All, Say::Reply(reply), None),
            Self::CommitThenAnswerWith(reply) => Plan::commit(Say::Reply(reply), None),
            Self::CommitThenClose => Plan::commit(Say::Nothing, Some(End::Close)),
            Self::CommitThenHold => Plan {
                wait: Some(Wait::Release),
                ..Plan::commit(Say::Result, None)
            },
            Self::CommitThenReset => Plan::commit(Say::Nothing, Some(End::Reset)),
            Self::CommitThenSend { bytes, end } => Plan::commit(Say::Bytes(bytes), Some(end)),
            Self::CommitThenSilence => Plan::commit(Say::Silence, None),
            Self::EarlyAnswer { reply, end } => {
                Plan::ignore(Extent::Head, Say::Reply(reply), Some(end))
            }
            Self::EarlyAnswerThenCommit(reply) => Plan {
                first: First::Answer(reply),
                ..Plan::commit(Say::Nothing, None)
            },
            Self::Frames(frames) => frames.plan(),
            Self::HalfAnswer { bytes, end } => Plan::commit(Say::Part(bytes), Some(end)),
            Self::HalfCloseThenCommit => Plan {
                first: First::HalfClose,
                ..Plan::commit(Say::Nothing, Some(End::Close))
            },
            Self::HalfCloseThenRead => Plan {
                first: First::HalfClose,
                ..Plan::ignore(Extent::All, Say::Nothing, Some(End::Close))
            },
            Self::InterimThenAnswer(interim) => Plan::commit(Say::InterimThenResult(interim), None),
            Self::ReadAllThenSilence => Plan::ignore(Extent::All, Say::Silence, None),
            Self::ReadHeadThenSilence => Plan::ignore(Extent::Head, Say::Silence, None),
            Self::SpeakFirst { bytes, end } => {
                Plan::ignore(Extent::Bytes(0), Say::Bytes(bytes), Some(end))
            }
            Self::StopAfter { bytes, end } => {
                Plan::ignore(Extent::Bytes(bytes), Say::Nothing, Some(end))
            }
        }
    }
}

impl Plan {
    const fn commit(say: Say, end: Option<End>) -> Self {
        Self {
            first: First::Nothing,
            read: Extent::All,
            commit: true,
            wait: None,
            say,
            end,
            on_release: None,
        }
    }

    const fn ignore(read: Extent, say: Say, end: Option<End>) -> Self {
        Self {
            first: First::Nothing,
            read,
            commit: false,
            wait: None,
            say,
            end,
            on_release: None,
        }
    }
}
