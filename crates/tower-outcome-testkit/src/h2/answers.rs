//! Answers as they go out.

use tokio::sync::watch;

use crate::frames::Act;
use crate::line::Stop;
use crate::step::{Say, Wait};
use crate::{End, ErrorCode, LastStream, Reply, What};

use super::Session;
use super::frame::{Fault, GOAWAY, RST_STREAM, frame};
use super::outgoing::Outgoing;
use super::stream::{Answer, Phase};

impl Session<'_> {
    pub(super) fn hold(&mut self, id: u32, wait: Wait, mut releases: watch::Receiver<usize>) {
        self.note(id, What::Holding);
        self.waits.spawn(async move {
            match wait {
                // Cannot fail: the sender lives in the books.
                Wait::Release => drop(releases.changed().await),
                Wait::Time(time) => tokio::time::sleep(time).await,
            }
            id
        });
    }

    pub(super) async fn wait_over(&mut self, id: u32) -> Result<Option<End>, Fault> {
        let Some(stream) = self.streams.get_mut(&id) else {
            return Ok(None);
        };
        match std::mem::replace(&mut stream.phase, Phase::Deaf) {
            Phase::Waiting(_, answer) => self.say(id, answer).await,
            phase => {
                stream.phase = phase;
                Ok(None)
            }
        }
    }

    /// Lets every answer go that waits for a release, now and from now on.
    pub(super) async fn let_go(&mut self) -> Result<Option<End>, Fault> {
        self.holds_nothing = true;
        let held = self.streams.iter();
        let held = held.filter(|(_, it)| matches!(it.phase, Phase::Waiting(Wait::Release, _)));
        for id in held.map(|(id, _)| *id).collect::<Vec<_>>() {
            if let end @ Some(_) = self.wait_over(id).await? {
                return Ok(end);
            }
        }
        Ok(None)
    }

    /// Does what is to be done on the wire. `Some` ends the connection.
    pub(super) async fn say(&mut self, id: u32, answer: Answer) -> Result<Option<End>, Fault> {
        let Answer { say, result, end } = answer;
        match (say, result) {
            (Say::Bytes(bytes), _) => self.send_part(id, &bytes).await?,
            (Say::Frames(acts), result) => {
                for act in acts {
                    self.act_out(id, act, result.as_ref()).await?;
                }
            }
            (Say::InterimThenResult(interim), Some(result)) => {
                let interim = Outgoing::start(&interim).frames(id);
                self.send_part(id, &interim).await?;
                let outgoing = Outgoing::whole(&result);
                return self.answer(id, result.status(), outgoing, end).await;
            }
            (Say::Part(bytes), Some(result)) => {
                let answer = Outgoing::whole(&result).frames(id);
                self.send_part(id, &answer[..bytes.min(answer.len())])
                    .await?;
            }
            (Say::Reply(reply), _) | (Say::Result, Some(reply)) => {
                return self
                    .answer(id, reply.status(), Outgoing::whole(&reply), end)
                    .await;
            }
            (Say::ResultThen(bytes), Some(result)) => {
                self.answer_at_once(id, &result).await?;
                self.send_part(id, &bytes).await?;
            }
            (Say::Silence, _) => self.note(id, What::Holding),
            (Say::Nothing, _)
            | (Say::InterimThenResult(_) | Say::Part(_) | Say::Result | Say::ResultThen(_), None) =>
                {}
        }
        Ok(end)
    }

    pub(super) async fn answer_look_up(
        &mut self,
        id: u32,
        reply: &Reply,
    ) -> Result<Option<End>, Fault> {
        let is_head = self
            .streams
            .get(&id)
            .is_some_and(|it| it.request.method == "HEAD");
        let outgoing = if is_head {
            Outgoing::head_of(reply)
        } else {
            Outgoing::whole(reply)
        };
        self.answer(id, reply.status(), outgoing, None).await
    }

    /// Sends what the client's windows have held back and now let through.
    pub(super) async fn flush(&mut self) -> Result<Option<End>, Fault> {
        let streams: Vec<_> = self.streams.keys().copied().collect();
        for id in streams {
            if let end @ Some(_) = self.flush_stream(id).await? {
                return Ok(end);
            }
        }
        Ok(None)
    }

    async fn answer(
        &mut self,
        id: u32,
        status: u16,
        outgoing: Outgoing,
        end: Option<End>,
    ) -> Result<Option<End>, Fault> {
        self.note(id, What::Answered { status });
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.phase = Phase::Sending(outgoing, end);
        }
        self.flush_stream(id).await
    }

    async fn flush_stream(&mut self, id: u32) -> Result<Option<End>, Fault> {
        let Some(stream) = self.streams.get_mut(&id) else {
            return Ok(None);
        };
        let Phase::Sending(outgoing, end) = &mut stream.phase else {
            return Ok(None);
        };
        let frames = outgoing.next_frames(id, &mut [&mut stream.window, &mut self.window]);
        let end = *end;
        let is_done = outgoing.is_done();
        if is_done {
            self.streams.remove(&id);
        }
        self.connection.line.send(&frames).await?;
        Ok(end.filter(|_| is_done))
    }

    async fn act_out(&mut self, id: u32, act: Act, result: Option<&Reply>) -> Result<(), Stop> {
        match act {
            Act::Answer => match result {
                Some(reply) => self.answer_at_once(id, reply).await,
                None => Ok(()),
            },
            Act::Bytes(bytes) => self.send_part(id, &bytes).await,
            Act::GoAway(last, code) => self.go_away(id, last, code).await,
            Act::Reply(reply) => self.answer_at_once(id, &reply).await,
            Act::ResetStream(code) => {
                self.streams.remove(&id);
                self.note(id, What::ResetStream { code });
                let bytes = frame(RST_STREAM, 0, id, &code.0.to_be_bytes());
                self.connection.line.send(&bytes).await
            }
            Act::Start(reply) => {
                let bytes = Outgoing::start(&reply).frames(id);
                self.send_part(id, &bytes).await
            }
        }
    }

    async fn answer_at_once(&mut self, id: u32, reply: &Reply) -> Result<(), Stop> {
        self.streams.remove(&id);
        self.answer_early(id, reply).await
    }

    /// Answers a request that is still to be read.
    pub(super) async fn answer_early(&mut self, id: u32, reply: &Reply) -> Result<(), Stop> {
        let status = reply.status();
        self.note(id, What::Answered { status });
        let frames = Outgoing::whole(reply).frames(id);
        self.connection.line.send(&frames).await
    }

    async fn go_away(&mut self, id: u32, last: LastStream, code: ErrorCode) -> Result<(), Stop> {
        self.note(id, What::GoneAway { last, code });
        let last = last.id(id);
        self.last_served = self.last_served.min(last);
        let later = self.streams.range(last + 1..).map(|(later, _)| *later);
        for later in later.filter(|later| *later != id).collect::<Vec<_>>() {
            self.give_up(later);
        }
        let payload = [last.to_be_bytes(), code.0.to_be_bytes()].concat();
        let bytes = frame(GOAWAY, 0, 0, &payload);
        self.connection.line.send(&bytes).await
    }

    async fn send_part(&mut self, id: u32, bytes: &[u8]) -> Result<(), Stop> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.note(id, What::Sent { bytes: bytes.len() });
        self.connection.line.send(bytes).await
    }
}
