//! A connection that speaks HTTP/1.1.

mod body;
mod head;
pub(crate) mod raw;

use tokio::sync::watch;

use crate::connection::Connection;
use crate::line::{self, Reader, Stop};
use crate::step::{Extent, First, Plan, Say, Step, Wait};
use crate::{End, Received, Reply, What};

use self::head::HeadReader;

/// Serves requests until one of them ends the connection. The first one takes the plan, if the
/// connection came with one.
pub(crate) async fn serve(
    connection: &mut Connection,
    accepted: Option<Plan>,
) -> Result<Option<End>, Stop> {
    let end = match accepted {
        Some(plan) => connection.write(plan).await,
        None => connection.requests().await,
    };
    match end {
        Err(Stop::Malformed) => connection.refuse().await,
        end => end,
    }
}

impl Connection {
    /// Serves requests until one of them ends the connection.
    async fn requests(&mut self) -> Result<Option<End>, Stop> {
        loop {
            // The script has to be asked before anything is read, so the first letter decides.
            let end = match self.line.first_byte().await? {
                b'G' | b'H' | b'O' | b'T' => self.look_up().await?,
                _ => {
                    let step = self.books.next_step();
                    self.write(step.plan()).await?
                }
            };
            if end.is_some() {
                return Ok(end);
            }
        }
    }

    async fn look_up(&mut self) -> Result<Option<End>, Stop> {
        self.line.allow(None);
        let request = self.read(Extent::All, None).await?;
        let reply = self.books.look_up(&request.received);
        if request.received.method == "HEAD" {
            self.note(What::Answered {
                status: reply.status(),
            });
            self.line.send(&reply.head()).await?;
        } else {
            self.answer(&reply).await?;
        }
        Ok(request.last.then_some(End::Close))
    }

    pub(crate) async fn write(&mut self, mut plan: Plan) -> Result<Option<End>, Stop> {
        if matches!(plan.say, Say::Frames(_)) {
            plan = Step::AnswerWith(Reply::new(505)).plan();
        }
        let early = match plan.first {
            First::Answer(reply) => Some(reply),
            First::HalfClose => {
                self.half_close().await?;
                None
            }
            First::Nothing => None,
        };
        let request = self.read_within(plan.read, early).await?;
        let releases = self.books.releases();
        if let Some(bytes) = plan.on_release {
            self.parting = Some((self.books.releases(), bytes));
        }
        let result = match &request {
            Some(request) if plan.commit => Some(self.books.commit(&request.received)),
            _ => None,
        };
        if let Some(wait) = plan.wait {
            self.hold(wait, releases).await;
        }
        match (plan.say, result) {
            (Say::Bytes(bytes), _) => self.send_part(&bytes).await?,
            (Say::InterimThenResult(interim), Some(result)) => {
                self.send_part(&interim.bytes()).await?;
                self.answer(&result).await?;
            }
            (Say::Part(bytes), Some(result)) => {
                let answer = result.bytes();
                self.send_part(&answer[..bytes.min(answer.len())]).await?;
            }
            (Say::Reply(reply), _) | (Say::Result, Some(reply)) => self.answer(&reply).await?,
            (Say::ResultThen(bytes), Some(result)) => {
                self.answer(&result).await?;
                self.send_part(&bytes).await?;
            }
            (Say::Silence, _) => return Ok(Some(End::Hold)),
            (Say::Frames(_) | Say::Nothing, _)
            | (Say::InterimThenResult(_) | Say::Part(_) | Say::Result | Say::ResultThen(_), None) =>
                {}
        }
        let last = request.is_none_or(|request| request.last);
        Ok(plan.end.or(last.then_some(End::Close)))
    }

    /// Reads a request as far as the step goes; `None` if it had to stop in the middle.
    async fn read_within(
        &mut self,
        extent: Extent,
        early: Option<Reply>,
    ) -> Result<Option<Request>, Stop> {
        let Extent::Bytes(bytes) = extent else {
            self.line.allow(None);
            return self.read(extent, early).await.map(Some);
        };
        self.line.allow(Some(bytes));
        match self.read(extent, early).await {
            Err(Stop::Allowance) => {
                self.note(What::Stopped { bytes });
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    /// Reads a request; between head and body goes what is to be said early.
    async fn read(&mut self, extent: Extent, early: Option<Reply>) -> Result<Request, Stop> {
        let mut reader = HeadReader::default();
        self.line.fill(&mut reader).await?;
        let head = reader.parse()?;
        let mut body = head.body()?;
        let mut request = Request {
            last: !head.keeps_alive(),
            received: self.books.receive(Received {
                sequence: 0,
                connection: self.number,
                stream: None,
                method: head.method,
                path: head.path,
                query: head.query,
                headers: head.headers,
                body: Vec::new(),
                complete: body.is_complete(),
            }),
        };
        if extent == Extent::Head {
            return Ok(request);
        }
        let received = &mut request.received;
        let expects = received.header("expect");
        if let Some(early) = early {
            self.answer(&early).await?;
        } else if !body.is_complete()
            && expects.is_some_and(|it| it.eq_ignore_ascii_case("100-continue"))
        {
            self.send_part(CONTINUE).await?;
        }
        let end = self.line.fill(&mut body).await;
        received.complete = end.is_ok();
        received.body = body.into_bytes();
        self.books.receive_body(received);
        end.map(|()| request)
    }

    /// Waits, with an eye on the client. Its leaving is noted and ends nothing: it may have closed
    /// its own side only.
    async fn hold(&mut self, wait: Wait, mut releases: watch::Receiver<usize>) {
        self.note(What::Holding);
        let mut closing = self.books.closing();
        let over = async {
            match wait {
                // The first cannot fail: the sender lives in the books.
                Wait::Release => tokio::select! {
                    _ = releases.changed() => {}
                    () = line::closing(&mut closing) => {}
                },
                Wait::Time(time) => tokio::time::sleep(time).await,
            }
        };
        tokio::pin!(over);
        let left = tokio::select! {
            biased;
            () = &mut over => return,
            left = self.line.client_left() => left,
        };
        self.note_left(&left);
        over.await;
    }

    /// Answers what is not HTTP/1.1.
    async fn refuse(&mut self) -> Result<Option<End>, Stop> {
        self.note(What::Malformed);
        self.answer(&Reply::new(400)).await?;
        Ok(Some(End::Close))
    }

    async fn answer(&mut self, reply: &Reply) -> Result<(), Stop> {
        self.note(What::Answered {
            status: reply.status(),
        });
        self.line.send(&reply.bytes()).await
    }
}

/// A request that was read as far as its step goes.
struct Request {
    received: Received,
    /// Whether the client wants the connection closed after it.
    last: bool,
}

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
