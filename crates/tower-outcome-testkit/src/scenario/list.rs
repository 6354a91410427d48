//! The faults that a client stack is exposed to.

use crate::{End, Reply, Step};

use super::{Scenario, Server};

pub(super) fn all() -> Vec<Scenario> {
    let mut all = vec![Scenario::new(Scenario::FAULTLESS, [Step::Answer])];
    all.extend(connecting());
    all.extend(uncommitted());
    all.extend(committed());
    all.extend(answered());
    all.extend(redirected());
    all.extend(reused());
    all
}

fn connecting() -> Vec<Scenario> {
    let silent = || Scenario::new("accepts once the write has ended", []);
    let speak = Step::SpeakFirst {
        bytes: b"HTTP/1.1 503 \r\ncontent-length: 0\r\n\r\n".to_vec(),
        end: End::Close,
    };
    vec![
        Scenario::new("refuses to connect", []).with_server(Server::Refuses),
        silent().with_server(Server::AcceptsLate),
        one("accepts, then closes", stop(0, End::Close)),
        one("accepts, then resets", stop(0, End::Reset)),
        one("answers 503 before it has read, then closes", speak),
    ]
}

fn uncommitted() -> Vec<Scenario> {
    let early = Step::EarlyAnswer {
        reply: Reply::new(413),
        end: End::Close,
    };
    vec![
        one("reads 10 bytes, then closes", stop(10, End::Close)),
        one("reads 10 bytes, then resets", stop(10, End::Reset)),
        one("reads the head, then is silent", Step::ReadHeadThenSilence),
        one("reads the head, answers 413, then closes", early),
        one("reads all, then closes", stop(usize::MAX, End::Close)),
        one("reads all, then resets", stop(usize::MAX, End::Reset)),
        one("reads all, then is silent", Step::ReadAllThenSilence),
        one(
            "reads all, answers 100, then is silent",
            Step::AnswerWith(Reply::new(100)),
        ),
    ]
}

fn committed() -> Vec<Scenario> {
    let half = |bytes, end| Step::HalfAnswer { bytes, end };
    let nonsense = Step::CommitThenSend {
        bytes: b"SSH-2.0-9\r\n".to_vec(),
        end: End::Close,
    };
    vec![
        one("commits, then closes", Step::CommitThenClose),
        one("commits, then resets", Step::CommitThenReset),
        one("commits, then is silent", Step::CommitThenSilence),
        one("commits, then sends nonsense", nonsense),
        one(
            "commits, answers 103, then is silent",
            Step::CommitThenAnswerWith(Reply::new(103)),
        ),
        one(
            "commits, sends half a head, then closes",
            half(HALF_HEAD, End::Close),
        ),
        one(
            "commits, sends half a head, then resets",
            half(HALF_HEAD, End::Reset),
        ),
        one(
            "commits, sends half a body, then closes",
            half(HALF_BODY, End::Close),
        ),
        one(
            "commits, sends half a body, then is silent",
            half(HALF_BODY, End::Hold),
        ),
        one(
            "commits, answers once the write has ended",
            Step::CommitThenHold,
        ),
        one(
            "answers 503 to the head, then commits",
            Step::EarlyAnswerThenCommit(Reply::new(503)),
        ),
    ]
}

fn answered() -> Vec<Scenario> {
    let refuse = |name, status| {
        let reply = Reply::new(status).with_header("retry-after", "0");
        one(name, Step::AnswerWith(reply))
    };
    let commit = |name, status| {
        let reply = Reply::new(status).with_header("retry-after", "0");
        one(name, Step::CommitThenAnswerWith(reply))
    };
    vec![
        one(
            "commits, answers 103, then 201",
            Step::InterimThenAnswer(Reply::new(103)),
        ),
        refuse("answers 400", 400),
        refuse("answers 408", 408),
        refuse("answers 422", 422),
        refuse("answers 429", 429),
        refuse("answers 500", 500),
        refuse("answers 503", 503),
        commit("commits, answers 500", 500),
        commit("commits, answers 502", 502),
        commit("commits, answers 503", 503),
        commit("commits, answers 504", 504),
    ]
}

fn redirected() -> Vec<Scenario> {
    let to = |status, location| Reply::new(status).with_header("location", location);
    let commit = |name, reply| one(name, Step::CommitThenAnswerWith(reply));
    vec![
        one("redirects by 307", Step::AnswerWith(to(307, "/elsewhere"))),
        commit("commits, redirects by 303", to(303, "/elsewhere")),
        commit("commits, redirects by 307", to(307, "/elsewhere")),
        commit("commits, redirects by 303 into a refusal", to(303, REFUSED)),
        commit("commits, redirects by 307 into a refusal", to(307, REFUSED)),
    ]
}

/// What happens to a connection that an earlier write has left open.
fn reused() -> Vec<Scenario> {
    let idle = |name, step| one(name, step).after_another_write();
    let next = |name, step| Scenario::new(name, [Step::Answer, step]).after_another_write();
    let stale = Step::AnswerThenSend {
        bytes: b"HTTP/1.1 408 \r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_vec(),
        end: End::Close,
    };
    vec![
        idle("closes the idle connection", Step::AnswerThen(End::Close)),
        idle("resets the idle connection", Step::AnswerThen(End::Reset)),
        idle("forgets the idle connection", Step::AnswerThen(End::Hold)),
        idle("answers 408 on the idle connection", stale),
        next(
            "reads 10 bytes after reuse, then closes",
            stop(10, End::Close),
        ),
        next("half-closes, then reads", Step::HalfCloseThenRead),
        next("half-closes, then commits", Step::HalfCloseThenCommit),
        next("commits after reuse, then closes", Step::CommitThenClose),
        next("commits after reuse, then resets", Step::CommitThenReset),
    ]
}

fn one(name: &'static str, step: Step) -> Scenario {
    Scenario::new(name, [step])
}

const fn stop(bytes: usize, end: End) -> Step {
    Step::StopAfter { bytes, end }
}

/// Ends behind the status code.
const HALF_HEAD: usize = 12;
/// Ends in the body, whose head is 69 bytes long, or 70 where the body has 100 bytes or more.
const HALF_BODY: usize = 75;
/// A reserved port (tcpmux) at which nothing listens.
const REFUSED: &str = "http://127.0.0.1:1/";
