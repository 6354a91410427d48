//! Answers over HTTP/1.1 that are not what they say, or more than they should be.

use tower_outcome_testkit::{End, Scenario, Step};

use crate::Protocol::Http1;
use crate::{Row, Staging, Truth};

pub(super) fn rows() -> Vec<Row> {
    let flood = |last: &str| EARLY_HINTS.repeat(2000) + last;
    vec![
        closes(
            "commits, answers 2000 times 103 and 201",
            flood("HTTP/1.1 201 \r\ncontent-length: 2\r\n\r\n{}"),
            Truth::Headed,
        ),
        closes(
            "commits, answers 2000 times 103, then closes",
            flood(""),
            Truth::Open,
        ),
        closes(
            "commits, sends less than it states, then closes",
            "HTTP/1.1 201 \r\ncontent-length: 100\r\n\r\n{}",
            Truth::Headed,
        ),
        closes(
            "commits, sends more than it states, then closes",
            "HTTP/1.1 201 \r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 400 \r\n\r\n",
            Truth::Headed,
        ),
        closes(
            "commits, states two lengths, then closes",
            "HTTP/1.1 201 \r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
            Truth::Open,
        ),
        closes(
            "commits, states no length, then closes",
            "HTTP/1.1 201 \r\n\r\n{}",
            Truth::Headed,
        ),
        closes(
            "commits, sends half a chunk, then closes",
            "HTTP/1.1 201 \r\ntransfer-encoding: chunked\r\n\r\n64\r\n{}",
            Truth::Headed,
        ),
        closes(
            "commits, sends a head that is too long, then closes",
            format!("HTTP/1.1 201 \r\nx: {}", "x".repeat(1024 * 1024)),
            Truth::Open,
        ),
        sends(
            "commits, switches protocols, then is silent",
            "HTTP/1.1 101 \r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
            End::Hold,
            Truth::Open,
        ),
    ]
}

fn closes(name: &'static str, answer: impl Into<String>, truth: Truth) -> Row {
    sends(name, answer, End::Close, truth)
}

fn sends(name: &'static str, answer: impl Into<String>, end: End, truth: Truth) -> Row {
    let bytes = answer.into().into_bytes();
    let scenario = Scenario::new(name, [Step::CommitThenSend { bytes, end }]);
    Row {
        name,
        protocols: &[Http1],
        staging: Staging::Scripted(Box::new(scenario)),
        truth,
    }
}

const EARLY_HINTS: &str = "HTTP/1.1 103 \r\n\r\n";
