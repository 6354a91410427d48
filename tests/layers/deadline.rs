//! A call that runs out of time ends in `failed` only if its request can never leave.

use std::time::Duration;

use tokio_test::{assert_pending, assert_ready_err, assert_ready_ok, task};
use tower::{Layer as _, Service as _};
use tower_outcome::{Code, DeadlineLayer, Outcome, Seen};
use tower_test::mock;

use crate::support::{Reply, call, left, paid, queued, read, write};

const LIMIT: Duration = Duration::from_secs(2);

macro_rules! over_server {
    () => {{
        let (service, server) = mock::pair::<_, Reply>();
        (DeadlineLayer::new(LIMIT).layer(service), server)
    }};
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_time_is_passed_on() {
    let (mut client, mut server) = over_server!();
    let mut call = task::spawn(client.call(write()));
    assert_pending!(call.poll());
    left(&mut server).await.1.send_response(paid());
    assert_eq!(
        assert_ready_ok!(call.poll()).body().bytes().unwrap(),
        "paid"
    );
}

#[tokio::test(start_paused = true)]
async fn silence_after_the_request_left_is_unknown() {
    let (mut client, mut server) = over_server!();
    let mut call = task::spawn(client.call(write()));
    assert_pending!(call.poll());
    let _unanswered = left(&mut server).await;
    tokio::time::advance(LIMIT).await;
    // Nobody below says that the doubt is taken down: the grace for it runs out.
    assert_pending!(call.poll());
    tokio::time::advance(tower_outcome::deadline::GRACE).await;
    let error = assert_ready_err!(call.poll());
    assert_eq!(error.code(), Code::TimeoutAfterSend);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_has_not_left_when_time_runs_out_failed_and_never_will() {
    let (mut client, mut server) = over_server!();
    let mut waiting = task::spawn(client.call(write()));
    assert_pending!(waiting.poll());
    let (request, _answering) = queued(&mut server).await;
    tokio::time::advance(LIMIT + tower_outcome::deadline::GRACE).await;
    assert_pending!(waiting.poll());
    tokio::time::advance(tower_outcome::deadline::GRACE).await;
    let error = assert_ready_err!(waiting.poll());
    assert_eq!(error.code(), Code::TimeoutBeforeSend);
    assert!(call(&request).gate().pass().is_err());
    assert_eq!(call(&request).look(), Seen::Never);
}

#[tokio::test(start_paused = true)]
async fn the_time_spent_waiting_for_readiness_is_part_of_the_call() {
    let (mut client, mut server) = over_server!();
    server.allow(0);
    let mut waiting = task::spawn(client.call(write()));
    assert_pending!(waiting.poll());
    tokio::time::advance(LIMIT).await;
    assert!(waiting.is_woken());
    let error = assert_ready_err!(waiting.poll());
    assert_eq!(error.code(), Code::TimeoutBeforeSend);
    server.allow(1);
    assert_pending!(server.poll_request());
}

#[tokio::test(start_paused = true)]
async fn a_read_that_takes_too_long_failed() {
    let (mut client, mut server) = over_server!();
    let mut waiting = task::spawn(client.call(read()));
    assert_pending!(waiting.poll());
    let _unanswered = queued(&mut server).await;
    tokio::time::advance(LIMIT).await;
    let error = assert_ready_err!(waiting.poll());
    assert_eq!(
        (error.outcome(), error.code()),
        (Outcome::Failed, Code::ReadFailed)
    );
}

#[tokio::test(start_paused = true)]
async fn a_read_that_finds_no_room_goes_as_soon_as_there_is_some() {
    let (mut client, mut server) = over_server!();
    server.allow(0);
    let mut waiting = task::spawn(client.call(read()));
    assert_pending!(waiting.poll());
    assert_pending!(server.poll_request());
    server.allow(1);
    assert!(waiting.is_woken());
    assert_pending!(waiting.poll());
    queued(&mut server).await.1.send_response(paid());
    assert_ready_ok!(waiting.poll());
}

#[tokio::test(start_paused = true)]
async fn a_read_over_a_service_that_is_gone_failed() {
    let (mut client, mut server) = over_server!();
    server.send_error("the pool is closed");
    let mut waiting = task::spawn(client.call(read()));
    let error = assert_ready_err!(waiting.poll());
    assert_eq!(error.code(), Code::ReadFailed);
}
