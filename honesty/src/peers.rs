//! What people use, as its documentation begins.

use std::time::Duration;

use http::StatusCode;
use tower_outcome_matrix::Protocol::{Http1, Http2};
use tower_outcome_matrix::{Client, Write};
use tower_outcome_testkit::Told;

use crate::stack::Stack;

mod over_hyper_util;
mod over_reqwest;

/// What people use.
pub(crate) fn peers() -> Vec<Stack> {
    vec![
        hyper_util(
            "hyper-util 0.1",
            |deadline| over_hyper_util::plain(Http1, deadline),
            |deadline| over_hyper_util::plain(Http2, deadline),
        ),
        reqwest(
            "reqwest 0.13",
            |deadline| over_reqwest::plain(Http1, deadline),
            |deadline| over_reqwest::plain(Http2, deadline),
        ),
        reqwest(
            "reqwest-middleware 0.5, reqwest-retry 0.9",
            |deadline| over_reqwest::reqwest_retry(Http1, deadline),
            |deadline| over_reqwest::reqwest_retry(Http2, deadline),
        ),
        hyper_util(
            "tower 0.5, retry on errors and 5xx",
            |deadline| over_hyper_util::tower_retry(Http1, deadline),
            |deadline| over_hyper_util::tower_retry(Http2, deadline),
        ),
        hyper_util(
            "tower-resilience-retry 0.14",
            |deadline| over_hyper_util::tower_resilience(Http1, deadline),
            |deadline| over_hyper_util::tower_resilience(Http2, deadline),
        ),
        reqwest(
            "agent-effects 0.2, agent-effects-http 0.2",
            |deadline| over_reqwest::agent_effects(Http1, deadline),
            |deadline| over_reqwest::agent_effects(Http2, deadline),
        ),
    ]
}

fn hyper_util(name: &str, h1: fn(Duration) -> Write, h2: fn(Duration) -> Write) -> Stack {
    Stack {
        name: name.to_owned(),
        is_ours: false,
        clients: vec![
            Client::new("hyper-util, h1", Http1, h1),
            Client::new("hyper-util, h2", Http2, h2),
        ],
    }
}

fn reqwest(name: &str, h1: fn(Duration) -> Write, h2: fn(Duration) -> Write) -> Stack {
    Stack {
        name: name.to_owned(),
        is_ours: false,
        clients: vec![
            Client::new("reqwest, h1", Http1, h1),
            Client::new("reqwest, h2", Http2, h2),
        ],
    }
}

/// As people map it: there is no word between done and failed.
fn told(status: Option<StatusCode>) -> Told {
    if status.is_some_and(|status| status.is_success()) {
        Told::Done
    } else {
        Told::Failed
    }
}

const JSON: &str = "application/json";

#[cfg(test)]
mod tests {
    use tower_outcome_matrix::{Row, Staging, Truth, run};
    use tower_outcome_testkit::{Scenario, Step};

    use super::*;

    /// Without this a peer that does not work would look honest.
    #[tokio::test]
    async fn peers_repeat_a_write_whose_answer_is_lost_as_often_as_they_are_known_to() {
        let name = "commits, then closes, every time";
        let script = vec![Step::CommitThenClose; 9];
        let row = Row {
            name,
            protocols: &[Http1, Http2],
            staging: Staging::Scripted(Box::new(Scenario::new(name, script))),
            truth: Truth::Open,
        };
        let mut seen = Vec::new();
        for peer in peers() {
            for client in &peer.clients {
                let cell = run(&row, client).await.expect("there are ports");
                seen.push((cell.seen.told.expect("it ends"), cell.seen.commits));
            }
        }
        let known = [
            [(Told::Failed, 1), (Told::Failed, 1)],
            [(Told::Failed, 1), (Told::Failed, 1)],
            // It knows the end of a connection by an error that only HTTP/1.1 has.
            [(Told::Failed, 4), (Told::Failed, 1)],
            [(Told::Failed, 3), (Told::Failed, 3)],
            [(Told::Failed, 3), (Told::Failed, 3)],
            [(Told::Unknown, 1), (Told::Unknown, 1)],
        ];
        assert_eq!(seen, known.as_flattened());
    }
}
