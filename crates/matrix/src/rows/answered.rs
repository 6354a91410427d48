//! Answers over HTTP/2 that something follows, or that contradict themselves.

use tower_outcome_testkit::{End, ErrorCode, Frames, LastStream, Reply, Scenario, Step};

use crate::Protocol::{Grpc, Http2};
use crate::{Protocol, Row, Staging, Truth};

pub(super) fn rows() -> Vec<Row> {
    let mut rows = whole();
    rows.extend(begun());
    rows.extend(malformed());
    rows.extend(two_statuses());
    rows
}

/// What comes behind the end of a stream says nothing about it (RFC 9113 section 5.1).
fn whole() -> Vec<Row> {
    let reset = |name, code| {
        let frames = Frames::on_commit().answer().reset_stream(code);
        row(name, frames, Truth::Open)
    };
    let calm = ErrorCode::NO_ERROR;
    vec![
        reset("answers, then resets by NO_ERROR", calm),
        reset("answers, then resets by CANCEL", ErrorCode::CANCEL),
        reset(
            "answers, then refuses the stream",
            ErrorCode::REFUSED_STREAM,
        ),
        row(
            "answers, then goes away below the stream",
            Frames::on_commit()
                .answer()
                .go_away(LastStream::Below, calm)
                .then(End::Close),
            Truth::Open,
        ),
    ]
}

/// A stream that an answer has begun on was processed, whatever is said of it afterwards.
fn begun() -> Vec<Row> {
    let calm = ErrorCode::NO_ERROR;
    let half = || Frames::on_commit().start(Reply::new(201).with_body("{\"id\":"));
    let hinted = || Frames::on_commit().start(Reply::new(103));
    vec![
        row(
            "commits, sends half a body, goes away below the stream, then closes",
            half().go_away(LastStream::Below, calm).then(End::Close),
            Truth::Headed,
        ),
        row(
            "commits, sends half a body, goes away at the stream, then closes",
            half().go_away(LastStream::This, calm).then(End::Close),
            Truth::Headed,
        ),
        row(
            "commits, sends half a body, refuses the stream",
            half().reset_stream(ErrorCode::REFUSED_STREAM),
            Truth::Headed,
        ),
        row(
            "commits, answers 103, resets by INTERNAL_ERROR",
            hinted().reset_stream(ErrorCode::INTERNAL_ERROR),
            Truth::Open,
        ),
        row(
            "commits, answers 103, goes away at the stream, then closes",
            hinted().go_away(LastStream::This, calm).then(End::Close),
            Truth::Open,
        ),
        row(
            "commits, answers 1000 times 103 and the answer",
            Frames::on_commit().bytes(EARLY_HINTS.repeat(1000)).answer(),
            Truth::Open,
        ),
        row(
            "commits, goes away with a grace, then at the stream, then closes",
            Frames::on_commit()
                .go_away(LastStream::Max, calm)
                .go_away(LastStream::This, calm)
                .then(End::Close),
            Truth::Open,
        ),
    ]
}

fn malformed() -> Vec<Row> {
    let states = |length: &str| {
        let reply = Reply::new(201).with_header("content-length", length);
        Frames::on_commit().reply(reply.with_body("{}"))
    };
    vec![
        row(
            "commits, sends less than it states",
            states("100"),
            Truth::Open,
        ),
        row(
            "commits, sends more than it states",
            states("1"),
            Truth::Open,
        ),
        row(
            "commits, sends a body before its head",
            Frames::on_commit()
                .bytes(*b"\0\0\x02\0\0\0\0\0\x01{}")
                .answer(),
            Truth::Open,
        ),
    ]
}

/// A refusal of a call that is said to have succeeded as well.
fn two_statuses() -> Vec<Row> {
    let message = || Reply::grpc(b"\x0a\x04re_1");
    let row = |name, reply| Row {
        protocols: &[Grpc],
        ..row(name, Frames::on_commit().reply(reply), Truth::Open)
    };
    vec![
        row(
            "commits, denies it in the head, sends a message",
            message().with_header("grpc-status", "7"),
        ),
        row(
            "commits, denies it in the head and not in the trailers",
            message()
                .with_body("")
                .with_header("grpc-status", "7")
                .with_trailer("grpc-status", "0"),
        ),
        row(
            "commits, denies it and not in the trailers",
            message()
                .with_body("")
                .with_trailer("grpc-status", "7")
                .with_trailer("grpc-status", "0"),
        ),
    ]
}

fn row(name: &'static str, frames: Frames, truth: Truth) -> Row {
    let scenario = Scenario::new(name, [Step::Frames(frames)]);
    Row {
        name,
        protocols: OVER_HTTP2,
        staging: Staging::Scripted(Box::new(scenario)),
        truth,
    }
}

const OVER_HTTP2: &[Protocol] = &[Grpc, Http2];

/// A head of the first stream with `:status` 103 alone, and no end.
const EARLY_HINTS: &[u8] = b"\0\0\x05\x01\x04\0\0\0\x01\x08\x03103";
