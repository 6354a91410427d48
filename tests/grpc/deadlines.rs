//! Channels that cannot connect, and servers that do not answer.

use tonic::transport::Endpoint;
use tower_outcome::{Code, Outcome, Stack};
use tower_outcome_testkit::{Billing, Refusing, Step, Unreachable};

use crate::channel::{Refunds, refund};
use crate::{DEADLINE, behind, channel};

#[tokio::test]
async fn a_dead_port_failed_and_the_status_has_our_error_behind_it() {
    let refusing = Refusing::start().unwrap();
    let mut client = Refunds::over(&Stack::new(), channel(&refusing.url()));
    let (request, watch) = refund();
    let status = client.refund(request).await.unwrap_err();
    assert_eq!(behind(&status).unwrap().code(), Code::ConnectFailed);
    assert_eq!(watch.verdict().unwrap().code(), Code::ConnectFailed);
}

#[tokio::test]
async fn a_server_that_holds_its_answer_leaves_the_call_unknown_until_it_comes() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let stack = Stack::new().with_deadline(DEADLINE);
    let mut client = Refunds::over(&stack, channel(&billing.url()));
    let (mut request, watch) = refund();
    request.extensions_mut().insert(crate::intent());
    let status = client.refund(request).await.unwrap_err();
    assert_eq!(behind(&status).unwrap().code(), Code::TimeoutAfterSend);
    assert_eq!(watch.verdict().unwrap().code(), Code::TimeoutAfterSend);

    billing.release();
    let late = watch.call().unwrap().settled().await;
    assert_eq!(late.code(), Code::Done);
}

#[tokio::test]
async fn a_connect_that_hangs_failed_where_the_endpoint_limits_it() {
    let unreachable = Unreachable::start().await.unwrap();
    let endpoint = Endpoint::from_shared(unreachable.url()).unwrap();
    let channel = endpoint.connect_timeout(DEADLINE / 3).connect_lazy();
    let stack = Stack::new().with_deadline(DEADLINE * 10);
    let mut client = Refunds::over(&stack, channel);
    let (request, watch) = refund();
    client.refund(request).await.unwrap_err();
    assert_eq!(watch.verdict().unwrap().code(), Code::ConnectFailed);
}

/// The channel keeps the request in a queue of its own while it connects: the caller has to be told
/// that nobody knows, and the proof comes once the channel lets go of it.
#[tokio::test]
async fn a_connect_that_hangs_without_a_limit_is_unknown_and_proven_later() {
    let unreachable = Unreachable::start().await.unwrap();
    let endpoint = Endpoint::from_shared(unreachable.url()).unwrap();
    let channel = endpoint.connect_timeout(DEADLINE * 3).connect_lazy();
    let stack = Stack::new().with_deadline(DEADLINE);
    let mut client = Refunds::over(&stack, channel);
    let (request, watch) = refund();
    client.refund(request).await.unwrap_err();
    assert_eq!(watch.verdict().unwrap().code(), Code::TimeoutAfterSend);

    let late = watch.call().unwrap().settled().await;
    assert_eq!(late.outcome(), Outcome::Failed);
}
