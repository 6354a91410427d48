//! Times that run out before anything was sent, and timeouts of the client's own.

use std::time::Duration;

use http::Request;
use tower_outcome::{Code, ForWrites as _, Outcome, OutcomeBody};
use tower_outcome_testkit::{Billing, Step, Unreachable};

use crate::clients::{over_each, write};
use crate::{DEADLINE, once};

fn delete(url: &str) -> Request<OutcomeBody> {
    let request = Request::delete(format!("{url}/refunds/7"));
    request.body(().into()).unwrap()
}

/// With no time left no connection is even made.
#[tokio::test]
async fn a_deadline_that_has_passed_before_the_call_contacts_nobody() {
    for (client, stack) in over_each(&once().with_deadline(Duration::ZERO)) {
        let billing = Billing::start_without_keys().await.unwrap();
        let verdict = stack.send(write(&billing.url())).await;
        assert_eq!(verdict.code(), Code::TimeoutBeforeSend, "{client}");
        assert_eq!(billing.timeline(), [], "{client}");
    }
}

/// reqwest says the same of both: "operation timed out", and neither a connect nor a body.
#[tokio::test]
async fn a_timeout_of_the_clients_own_failed_where_the_request_never_left_and_only_there() {
    let http = reqwest::Client::builder().timeout(DEADLINE).for_writes();
    let client = once().over(http.build().unwrap());
    let unreachable = Unreachable::start().await.unwrap();
    let billing = Billing::start_without_keys().await.unwrap();
    for make in [write, delete] {
        let verdict = client.send(make(&unreachable.url())).await;
        assert_eq!(verdict.outcome(), Outcome::Failed, "{}", verdict.code());

        billing.script([Step::CommitThenSilence]);
        let verdict = client.send(make(&billing.url())).await;
        assert_eq!(verdict.code(), Code::ResponseLost);
    }
    assert_eq!(billing.commits(), 2);
}

/// The same of the stack's deadline, for a request without a body as well.
#[tokio::test]
async fn a_request_without_a_body_that_was_carried_out_in_silence_is_unknown() {
    for (client, stack) in over_each(&once().with_deadline(DEADLINE)) {
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::CommitThenSilence]);
        let verdict = stack.send(delete(&billing.url())).await;
        assert_eq!(verdict.code(), Code::TimeoutAfterSend, "{client}");
        assert_eq!(billing.commits(), 1, "{client}");
    }
}
