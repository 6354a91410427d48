//! Why the policy decided, for whoever asks or reads logs.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use tower::{BoxError, Layer as _, service_fn};
use tower_outcome::retry::{Decision, Reason};
use tower_outcome::transport::Wire;
use tower_outcome::{Client, KeyedRetry, OutcomeBody, Profile, RequestExt as _, Stack, Watch};

use crate::plain::{answer, broken, keyed, read, send, write};
use crate::{at_once, intent, profile};

/// The last decision about a write to a provider that answers by `script`; 0 is a lost answer.
async fn decided(
    profile: Profile,
    retry: KeyedRetry,
    with_key: bool,
    body: impl Into<OutcomeBody>,
    script: &[u16],
) -> Decision {
    let script: VecDeque<u16> = script.iter().copied().collect();
    let script = Arc::new(Mutex::new(script));
    let provider = service_fn(move |_: Request<OutcomeBody>| {
        let status = script.lock().unwrap().pop_front().unwrap();
        std::future::ready(match status {
            0 => Err(BoxError::from("reset")),
            status => Ok(Response::builder()
                .status(status)
                .body(Full::<Bytes>::default())
                .unwrap()),
        })
    });
    let stack = Stack::new().with_profile(profile).with_retry(retry);
    let client = Client::new(stack.layer(Wire::unknown(provider)));
    let watch = Watch::new();
    let request = Request::post("http://acme.test/refunds").extension(watch.clone());
    let request = request.body(body.into()).unwrap();
    let _verdict = if with_key {
        client.send(request.with_intent(intent())).await
    } else {
        client.send(request).await
    };
    watch.call().unwrap().last_decision().unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_last_decision_can_be_asked_for_afterwards() {
    let honoured = Profile::idempotency_key;
    for (profile, with_key, script, attempt, reason) in [
        (honoured(), true, &[0, 200][..], 2, Reason::Answered),
        (honoured(), true, &[422], 1, Reason::Answered),
        (honoured(), true, &[503, 503, 503], 3, Reason::AttemptsSpent),
        (honoured(), true, &[307], 1, Reason::NoNews),
        (honoured(), true, &[401], 1, Reason::RefusedAgain),
        (honoured(), false, &[503], 1, Reason::Unkeyed),
        (Profile::generic(), true, &[503], 1, Reason::Unkeyed),
        (
            profile("stored_failures = 're_execute'"),
            true,
            &[500],
            1,
            Reason::RunsAgain,
        ),
        (
            profile("retention_s = 60"),
            true,
            &[503],
            1,
            Reason::KeyMayBeForgotten,
        ),
        (
            profile("min_delay_s = 10"),
            true,
            &[503],
            1,
            Reason::DeadlineNear,
        ),
    ] {
        let decision = decided(profile, at_once(3), with_key, "{}", script).await;
        let told = (decision.attempt, decision.reason, decision.wait);
        assert_eq!(told, (attempt, reason, None), "{script:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_the_deadline_would_end_is_not_begun() {
    let began = tokio::time::Instant::now();
    let late = profile("min_delay_s = 10");
    decided(late, at_once(3), true, "{}", &[503]).await;
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_streaming_body_is_sent_once() {
    // Its end is not there when the call is made.
    let half = Full::<Bytes>::from("{").with_trailers(std::future::pending());
    let body = OutcomeBody::new(half);
    let decision = decided(Profile::idempotency_key(), at_once(3), true, body, &[503]).await;
    assert_eq!(decision.reason, Reason::Unreplayable);
}

#[tokio::test(start_paused = true)]
async fn alone_the_reason_stands_beside_the_answer() {
    let kept = at_once(2).with_profile(profile("stored_failures = 're_execute'"));
    let seen = send(kept, keyed(), [answer(500)]).await;
    assert_eq!(seen.reason(), Some(Reason::RunsAgain));
    let seen = send(at_once(2), keyed(), [answer(200)]).await;
    assert_eq!(seen.reason(), None);
}

#[tokio::test(start_paused = true)]
async fn every_decision_is_logged_with_its_attempt() {
    let trace = crate::trace::Trace::start();
    send(at_once(3), keyed(), [broken(), answer(503), answer(200)]).await;
    send(at_once(3), read(), [answer(429), answer(200)]).await;
    send(at_once(3), write(), [answer(503)]).await;
    let text = trace.text();
    for line in [
        "attempt 1\nreason key_protects\n",
        "attempt 3\nreason attempts_spent\n",
        "attempt 2\nreason key_protects\n",
        "attempt 1\nreason reads\n",
        "attempt 2\nreason answered\n",
        "attempt 1\nreason unkeyed\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert!(!text.contains("refund-7"), "{text}");
}

#[test]
fn no_two_reasons_are_spelt_alike() {
    let mut names: Vec<_> = Reason::ALL.iter().map(|it| it.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Reason::ALL.len());
}
