//! The faults that only HTTP/2 has.

use tower_outcome_testkit::{End, ErrorCode, Frames, LastStream, Reply, Scenario, Step};

use crate::Protocol::{Grpc, Http2};
use crate::{Row, Staging, Truth};

pub(super) fn rows() -> Vec<Row> {
    let mut rows = resets();
    rows.extend(shutdowns());
    rows.extend(others());
    rows
}

/// Only `REFUSED_STREAM` is a promise (RFC 9113 section 8.7).
fn resets() -> Vec<Row> {
    let refused = ErrorCode::REFUSED_STREAM;
    let reset = |name, code| {
        let frames = Frames::on_commit().reset_stream(code);
        row(name, frames, Truth::Open)
    };
    vec![
        row(
            "refuses the stream at its head",
            Frames::on_head().reset_stream(refused),
            Truth::Proven,
        ),
        row(
            "refuses the stream at its end",
            Frames::on_request().reset_stream(refused),
            Truth::Proven,
        ),
        reset("commits, resets by NO_ERROR", ErrorCode::NO_ERROR),
        reset(
            "commits, resets by INTERNAL_ERROR",
            ErrorCode::INTERNAL_ERROR,
        ),
        reset("commits, resets by CANCEL", ErrorCode::CANCEL),
        reset(
            "commits, resets by ENHANCE_YOUR_CALM",
            ErrorCode::ENHANCE_YOUR_CALM,
        ),
        reset(
            "commits, resets by HTTP_1_1_REQUIRED",
            ErrorCode::HTTP_1_1_REQUIRED,
        ),
        row(
            "resets by INTERNAL_ERROR",
            Frames::on_request().reset_stream(ErrorCode::INTERNAL_ERROR),
            Truth::Open,
        ),
    ]
}

/// A GOAWAY speaks only of the streams behind the one that it names (RFC 9113 section 6.8).
fn shutdowns() -> Vec<Row> {
    let (calm, error) = (ErrorCode::NO_ERROR, ErrorCode::INTERNAL_ERROR);
    let away = |last, code| Frames::on_request().go_away(last, code);
    let committed = |last, code| Frames::on_commit().go_away(last, code);
    vec![
        row(
            "goes away below the stream, then closes",
            away(LastStream::Below, calm).then(End::Close),
            Truth::Proven,
        ),
        row(
            "goes away below the stream",
            away(LastStream::Below, calm),
            Truth::Proven,
        ),
        row(
            "goes away below the stream by an error, then closes",
            away(LastStream::Below, error).then(End::Close),
            Truth::Proven,
        ),
        row(
            "goes away with a grace, then below the stream",
            away(LastStream::Max, calm).go_away(LastStream::Zero, calm),
            Truth::Proven,
        ),
        row(
            "commits, goes away at the stream, then closes",
            committed(LastStream::This, calm).then(End::Close),
            Truth::Open,
        ),
        row(
            "commits, goes away at the stream, then resets",
            committed(LastStream::This, error).then(End::Reset),
            Truth::Open,
        ),
        row(
            "commits, goes away with a grace, then closes",
            committed(LastStream::Max, calm).then(End::Close),
            Truth::Open,
        ),
        row(
            "answers, and goes away at the stream",
            Frames::on_commit().answer().go_away(LastStream::This, calm),
            Truth::Headed,
        ),
        idle(
            "goes away on the idle connection",
            Frames::on_commit().answer().go_away(LastStream::This, calm),
        ),
    ]
}

fn others() -> Vec<Row> {
    let half = || Reply::new(201).with_body("{\"id\":");
    let waiting = |name, frames: Frames| Row {
        name,
        protocols: &[Grpc, Http2],
        staging: Staging::OneStream(Step::Frames(frames)),
        truth: Truth::Unknowable,
    };
    vec![
        row(
            "commits, breaks the protocol",
            Frames::on_commit().malformed(),
            Truth::Open,
        ),
        row(
            "commits, sends half a body, resets the stream",
            Frames::on_commit()
                .start(half())
                .reset_stream(ErrorCode::INTERNAL_ERROR),
            Truth::Headed,
        ),
        row(
            "allows no stream once one is open",
            Frames::on_commit().bytes(NO_STREAM).answer(),
            Truth::Headed,
        ),
        waiting(
            "closes while the write waits for a stream",
            Frames::on_commit().then(End::Close),
        ),
        waiting(
            "goes away while the write waits for a stream",
            Frames::on_commit()
                .go_away(LastStream::Max, ErrorCode::NO_ERROR)
                .then(End::Close),
        ),
    ]
}

fn row(name: &'static str, frames: Frames, truth: Truth) -> Row {
    let scenario = Scenario::new(name, [Step::Frames(frames)]);
    scripted(scenario, truth)
}

fn idle(name: &'static str, frames: Frames) -> Row {
    let scenario = Scenario::new(name, [Step::Frames(frames)]);
    scripted(scenario.after_another_write(), Truth::Noticed)
}

fn scripted(scenario: Scenario, truth: Truth) -> Row {
    Row {
        name: scenario.name(),
        protocols: &[Grpc, Http2],
        staging: Staging::Scripted(Box::new(scenario)),
        truth,
    }
}

/// SETTINGS with a `SETTINGS_MAX_CONCURRENT_STREAMS` of zero (RFC 9113 section 6.5.2).
const NO_STREAM: [u8; 15] = *b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\0";
