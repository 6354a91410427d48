//! The faults.

use tower_outcome_testkit::{End, Scenario, Step, TlsFault};

use crate::Protocol::{Grpc, Http1, Http2, Https};
use crate::{Protocol, Row, Staging, Truth};

mod answered;
mod http1;
mod http2;

/// Every fault.
#[must_use]
pub fn rows() -> Vec<Row> {
    let mut rows = vec![
        any("the connect hangs", Staging::Hangs, Truth::Proven),
        any(
            "the host name does not resolve",
            Staging::Nowhere,
            Truth::Proven,
        ),
        any(
            "FIN lies unseen in the idle connection",
            Staging::IdleEnd(Step::AnswerThenReleased(End::Close)),
            Truth::Noticed,
        ),
        any(
            "RST lies unseen in the idle connection",
            Staging::IdleEnd(Step::AnswerThenReleased(End::Reset)),
            Truth::Noticed,
        ),
        any(
            "408 lies unseen in the idle connection",
            Staging::IdleEnd(Step::AnswerThenReleasedSend {
                bytes: IDLE_FOR_TOO_LONG.to_vec(),
                end: End::Close,
            }),
            Truth::Noticed,
        ),
    ];
    rows.extend(Scenario::all().into_iter().filter_map(scripted));
    rows.extend(http1::rows());
    rows.extend(http2::rows());
    rows.extend(answered::rows());
    rows.extend(handshakes());
    rows
}

/// No request leaves before the handshake is over.
fn handshakes() -> [Row; 4] {
    let row = |name, fault| Row {
        name,
        protocols: &[Https],
        staging: Staging::BrokenTls(fault),
        truth: Truth::Proven,
    };
    [
        row("closes after the ClientHello", TlsFault::Close),
        row("answers the ClientHello with garbage", TlsFault::Garbage),
        row("resets after the ClientHello", TlsFault::Reset),
        row("is silent after the ClientHello", TlsFault::Silence),
    ]
}

fn scripted(scenario: Scenario) -> Option<Row> {
    Some(Row {
        name: scenario.name(),
        protocols: ALL,
        truth: truth(scenario.name())?,
        staging: Staging::Scripted(Box::new(scenario)),
    })
}

fn any(name: &'static str, staging: Staging, truth: Truth) -> Row {
    Row {
        name,
        protocols: ALL,
        staging,
        truth,
    }
}

/// What can be known of each of the testkit's scenarios; `None` of servers that lie.
fn truth(scenario: &str) -> Option<Truth> {
    Some(match scenario {
        // 307 says that nothing was done here (RFC 9110 section 15.4.8).
        "commits, redirects by 307" | "commits, redirects by 307 into a refusal" => return None,
        "refuses to connect"
        | "redirects by 307"
        | "reads the head, answers 413, then closes"
        | "answers 400"
        | "answers 422"
        | "answers 429" => Truth::Proven,
        "answers"
        | "commits, answers 103, then 201"
        | "commits, sends half a body, then closes"
        | "commits, sends half a body, then is silent" => Truth::Headed,
        "accepts, then closes"
        | "accepts, then resets"
        | "answers 503 before it has read, then closes" => Truth::Unknowable,
        "closes the idle connection"
        | "resets the idle connection"
        | "answers 408 on the idle connection" => Truth::Noticed,
        _ => Truth::Open,
    })
}

/// What a server says to a connection that was idle for too long (RFC 9110 section 15.5.9). Over
/// HTTP/2 it is nonsense.
const IDLE_FOR_TOO_LONG: &[u8] = b"HTTP/1.1 408 \r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

const ALL: &[Protocol] = &[Grpc, Http1, Http2];
