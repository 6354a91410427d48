//! Answers, refusals and ends that come while the request is still being sent.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::Request;
use http_body::Frame;
use http_body_util::StreamBody;
use tokio::sync::oneshot;
use tower_outcome::{Code, Outcome, OutcomeBody, OutcomeClient};
use tower_outcome_testkit::{Billing, End, ErrorCode, Frames, LastStream, Reply, Step};

use crate::clients::{over_each, over_each_http2};
use crate::{DEADLINE, once};

/// A write whose body has begun, and goes on once it is told to.
fn begun(url: &str) -> (Request<OutcomeBody>, oneshot::Sender<()>) {
    let (go_on, told) = oneshot::channel::<()>();
    let piece = || Ok::<_, Infallible>(Frame::data(Bytes::from_static(&[b'x'; 1000])));
    let rest = stream::once(async move {
        // Whoever forgets to tell it has not the whole body sent.
        if told.await.is_err() {
            std::future::pending::<()>().await;
        }
        piece()
    });
    let body = StreamBody::new(stream::iter([piece()]).chain(rest));
    let request = Request::post(format!("{url}/refunds"));
    (request.body(OutcomeBody::new(body)).unwrap(), go_on)
}

/// What each client is told of a write whose body never ends.
async fn told(clients: [(&'static str, OutcomeClient); 2], step: Step) -> [Code; 2] {
    let mut codes = [Code::HandlerPanicked; 2];
    for (code, (name, client)) in codes.iter_mut().zip(clients) {
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([step.clone()]);
        let (request, _held) = begun(&billing.url());
        *code = client.send(request).await.code();
        assert_eq!(billing.commits(), 0, "{name}");
        assert!(billing.received().len() <= 1, "{name}");
    }
    codes
}

#[tokio::test]
async fn a_whole_answer_to_half_a_request_counts() {
    let stack = once().with_deadline(DEADLINE);
    let rows = [(413, Code::Rejected), (503, Code::ServerError)];
    for (status, code) in rows {
        let early = Step::EarlyAnswer {
            reply: Reply::new(status),
            end: End::Close,
        };
        assert_eq!(told(over_each(&stack), early).await, [code; 2]);
        let frames = Frames::on_head().reply(Reply::new(status));
        let frames = frames.reset_stream(ErrorCode::NO_ERROR);
        let codes = told(over_each_http2(&stack), Step::Frames(frames)).await;
        assert_eq!(codes, [code; 2]);
    }
}

#[tokio::test]
async fn a_connection_that_ends_in_the_middle_of_a_request_proves_nothing() {
    let stack = once().with_deadline(DEADLINE);
    for end in [End::Close, End::Reset] {
        let stop = || Step::StopAfter { bytes: 200, end };
        let codes = told(over_each(&stack), stop()).await;
        assert_eq!(codes, [Code::ResponseLost; 2], "{end:?}");
        let codes = told(over_each_http2(&stack), stop()).await;
        assert_eq!(codes, [Code::ResponseLost; 2], "{end:?}");
    }
}

#[tokio::test]
async fn a_stream_that_is_refused_while_its_body_is_sent_proves_that_nothing_happened() {
    let stack = once().with_deadline(DEADLINE);
    let calm = ErrorCode::NO_ERROR;
    for frames in [
        Frames::on_head().reset_stream(ErrorCode::REFUSED_STREAM),
        Frames::on_head().go_away(LastStream::Below, calm),
    ] {
        let codes = told(over_each_http2(&stack), Step::Frames(frames)).await;
        assert_eq!(codes, [Code::RefusedByProtocol; 2]);
    }
}

#[tokio::test]
async fn a_stream_that_is_reset_while_its_body_is_sent_proves_nothing() {
    let stack = once().with_deadline(DEADLINE);
    for code in [
        ErrorCode::CANCEL,
        ErrorCode::INTERNAL_ERROR,
        ErrorCode::NO_ERROR,
    ] {
        let frames = Frames::on_head().reset_stream(code);
        let codes = told(over_each_http2(&stack), Step::Frames(frames)).await;
        assert_eq!(codes, [Code::ResponseLost; 2], "{code:?}");
    }
    let frames = Frames::on_head().go_away(LastStream::This, ErrorCode::INTERNAL_ERROR);
    let codes = told(
        over_each_http2(&stack),
        Step::Frames(frames.then(End::Close)),
    )
    .await;
    assert_eq!(codes, [Code::ResponseLost; 2]);
}

/// A gateway that gives up early does not stop what it has handed on, and a client may send on.
#[tokio::test]
async fn an_early_gateway_error_is_unknown_whatever_becomes_of_the_rest() {
    let stack = once();
    for (name, client) in over_each(&stack).into_iter().chain(over_each_http2(&stack)) {
        let billing = Billing::start_without_keys().await.unwrap();
        billing.script([Step::EarlyAnswerThenCommit(Reply::new(503))]);
        let (request, go_on) = begun(&billing.url());
        let verdict = client.send(request).await;
        assert_eq!(verdict.outcome(), Outcome::Unknown, "{name}");
        assert_eq!(verdict.code(), Code::ServerError, "{name}");
        // A client may have stopped sending by now.
        let _ = go_on.send(());
    }
}
