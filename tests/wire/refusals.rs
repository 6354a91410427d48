//! What HTTP/2 refuses by a promise, and where the promise is not taken.

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use tower::{Layer as _, service_fn};
use tower_outcome::transport::Wire;
use tower_outcome::{BoxError, Client, Code, Outcome, OutcomeBody, Profile, Stack};
use tower_outcome_testkit::{Billing, ErrorCode, Frames, LastStream, Reply, Step};

use crate::clients::{over_each_http2, write};
use crate::{DEADLINE, once};

fn refusals() -> [Frames; 2] {
    let calm = ErrorCode::NO_ERROR;
    [
        Frames::on_head().reset_stream(ErrorCode::REFUSED_STREAM),
        Frames::on_request().go_away(LastStream::Below, calm),
    ]
}

/// What a refused write ends in, for each client and refusal.
async fn refused(stack: &Stack, write: impl Fn(&str) -> Request<OutcomeBody>) -> Vec<Code> {
    let mut codes = Vec::new();
    for (_, client) in over_each_http2(stack) {
        for frames in refusals() {
            let billing = Billing::start_without_keys().await.unwrap();
            billing.script([Step::Frames(frames)]);
            codes.push(client.send(write(&billing.url())).await.code());
            assert_eq!(billing.received().len(), 1);
        }
    }
    codes
}

#[tokio::test]
async fn a_refusal_of_the_protocol_proves_that_nothing_happened() {
    let codes = refused(&once(), write).await;
    assert_eq!(codes, [Code::RefusedByProtocol; 4]);
}

/// hyper reports the end of a connection for a request that has not been asked for its body, and
/// may still send it. So an empty body is asked as well, or its refusals would prove nothing.
#[tokio::test]
async fn a_refusal_of_a_write_without_a_body_is_as_good() {
    let delete = |url: &str| {
        let request = Request::delete(format!("{url}/refunds/7"));
        request.body(().into()).unwrap()
    };
    let codes = refused(&once(), delete).await;
    assert_eq!(codes, [Code::RefusedByProtocol; 4]);
}

#[tokio::test]
async fn where_refusals_are_doubted_they_prove_nothing() {
    let doubting = [
        Profile::generic().doubting_refusals(),
        Profile::generic().with_replaying_proxy(),
    ];
    for profile in doubting {
        let codes = refused(&once().with_profile(profile), write).await;
        assert_eq!(codes, [Code::ResponseLost; 4]);
    }
}

/// It may have sent the request before, as this one does after a 503, and what is refused is the
/// last one.
#[tokio::test]
async fn what_refuses_the_last_request_of_an_unknown_client_proves_nothing() {
    for frames in refusals() {
        let billing = Billing::start_without_keys().await.unwrap();
        let lost = Step::CommitThenAnswerWith(Reply::new(503));
        billing.script([lost, Step::Frames(frames)]);
        let client = legacy::Client::builder(TokioExecutor::new())
            .http2_only(true)
            .build_http::<Full<Bytes>>();
        let repeating = service_fn(move |request: Request<OutcomeBody>| {
            let client = client.clone();
            async move {
                let (parts, body) = request.into_parts();
                let body = Full::new(body.collect().await?.to_bytes());
                let again = Request::from_parts(parts.clone(), body.clone());
                let first = client.request(Request::from_parts(parts, body)).await?;
                if first.status() == 503 {
                    return Ok::<_, BoxError>(client.request(again).await?);
                }
                Ok(first)
            }
        });
        let client = Client::new(once().layer(Wire::unknown(repeating)));
        let verdict = client.send(write(&billing.url())).await;
        assert_eq!(verdict.code(), Code::ResponseLost);
        assert_eq!((billing.commits(), billing.received().len()), (1, 2));
    }
}

/// The request is in hyper's hands by then, and whether its stream was opened nobody tells.
#[tokio::test]
async fn a_write_that_waits_for_a_stream_which_is_never_allowed_is_unknown() {
    for (client, stack) in over_each_http2(&once().with_deadline(DEADLINE)) {
        let billing = Billing::start_without_keys().await.unwrap();
        let answer = Frames::on_commit().bytes(NO_STREAM).answer();
        billing.script([Step::Frames(answer)]);
        let first = stack.send(write(&billing.url())).await;
        assert_eq!(first.code(), Code::Done, "{client}");

        let second = stack.send(write(&billing.url())).await;
        assert_eq!(second.code(), Code::TimeoutAfterSend, "{client}");
        assert_eq!(billing.received().len(), 1, "{client}");
    }
}

/// The first request may be ahead of the settings, and where it is not, nobody tells.
async fn to_a_server_without_streams() {
    for (client, stack) in over_each_http2(&once().with_deadline(DEADLINE)) {
        let billing = Billing::start_without_keys().await.unwrap();
        billing.allow_streams(0);
        let verdict = stack.send(write(&billing.url())).await;
        assert_ne!(verdict.outcome(), Outcome::Failed, "{client}");
        assert_eq!(
            verdict.outcome().is_done(),
            billing.commits() == 1,
            "{client}"
        );
    }
}

#[tokio::test]
async fn a_write_to_a_server_that_allows_no_stream_is_never_called_failed() {
    to_a_server_without_streams().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_to_a_server_that_allows_no_stream_is_never_called_failed_on_many_threads() {
    to_a_server_without_streams().await;
}

/// SETTINGS with a `SETTINGS_MAX_CONCURRENT_STREAMS` of zero (RFC 9113 section 6.5.2).
const NO_STREAM: [u8; 15] = *b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\0";
