//! What holds for every profile and every answer.

use http::{HeaderMap, Method, StatusCode};
use proptest::prelude::*;
use tower_outcome::classify::{self, Answer, GrpcStatus, History, KeyOrigin, Sent};
use tower_outcome::{Code, Outcome, Profile};

use super::headers;

fn some_profile() -> impl Strategy<Value = Profile> {
    let names: Vec<&str> = Profile::names().collect();
    let built_in = proptest::sample::select(names).prop_map(|name| Profile::named(name).unwrap());
    prop_oneof![
        8 => built_in,
        1 => Just(Profile::generic()),
        1 => Just(Profile::idempotency_key()),
    ]
}

fn some_headers() -> impl Strategy<Value = HeaderMap> {
    let pairs = vec![
        ("content-type", "application/json"),
        ("content-type", "text/html"),
        ("content-type", "application/grpc"),
        ("idempotency-status", "ignored"),
        ("idempotency-replay", "1"),
        ("location", "/1"),
        ("repeatability-result", "rejected"),
        ("retry-after", "1"),
        ("stripe-should-retry", "true"),
        ("transient-error", "true"),
        ("x-ratelimit-remaining", "0"),
    ];
    proptest::sample::subsequence(pairs, 0..4).prop_map(|pairs| headers(&pairs))
}

fn some_body() -> impl Strategy<Value = Option<&'static str>> {
    proptest::sample::select(BODIES).prop_map(|body| (body != "lost").then_some(body))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Without a key nothing settles what an earlier attempt left open, and with one only the
    /// provider's word for that very execution does: its marker, or a state that a rule knows.
    #[test]
    fn nothing_is_called_failed_once_something_may_have_left(
        profile in some_profile(),
        status in 200_u16..600,
        headers in some_headers(),
        body in some_body(),
        grpc in proptest::option::weighted(0.1, 0_u32..18),
        keyed: bool,
        earlier: bool,
        method in proptest::sample::select(vec![Method::POST, Method::PUT, Method::DELETE]),
    ) {
        let mut sent = Sent::new(&method, "/v1/refunds");
        if keyed {
            sent = sent.with_key(KeyOrigin::Explicit);
        }
        let mut answer = Answer::new(StatusCode::from_u16(status).unwrap(), &headers);
        answer = match body {
            Some(body) => answer.with_body(body.as_bytes()),
            None => answer.with_lost_body(),
        };
        if let Some(code) = grpc {
            answer = answer.with_grpc(GrpcStatus::new(code, ""));
        }
        let history = if earlier { History::LeftInEarlierCall } else { History::LeftInThisCall };
        let reading = classify::answer(&profile, &sent, &answer, history);
        if reading.code.outcome() == Outcome::Failed {
            prop_assert!(keyed, "{reading:?}");
            prop_assert!(reading.replayed || reading.code == Code::Declined, "{reading:?}");
            prop_assert!(reading.replayed || reading.rule.is_some(), "{reading:?}");
        }
        prop_assert!(reading.code.outcome() != Outcome::Skipped, "{reading:?}");
        prop_assert!(keyed || !reading.retryable_with_same_key, "{reading:?}");
    }

    /// Behind a proxy that repeats, no lone 4xx is proof.
    #[test]
    fn no_lone_refusal_counts_behind_a_proxy_that_repeats(
        profile in some_profile(),
        status in 400_u16..500,
        body in some_body(),
    ) {
        let none = HeaderMap::new();
        let profile = profile.with_replaying_proxy();
        let sent = Sent::new(&Method::POST, "/v1/refunds");
        let answer = Answer::new(StatusCode::from_u16(status).unwrap(), &none);
        let answer = answer.with_body(body.unwrap_or_default().as_bytes());
        let reading = classify::answer(&profile, &sent, &answer, History::Clean);
        prop_assert!(reading.code.outcome() != Outcome::Failed, "{reading:?}");
    }
}

const BODIES: &[&str] = &[
    "",
    "lost",
    "{}",
    "<html>",
    "<Error>",
    r#"{"approved":false,"status":"FAILED","Data":{"Status":"RJCT"}}"#,
    r#"{"data":{"a":{"userErrors":[{"code":"IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED"}]}}}"#,
    r#"{"data":{"a":{"userErrors":[{"code":"INVALID"}]},"b":{"userErrors":[]}}}"#,
    r#"{"details":[{"issue":"ORDER_ALREADY_CAPTURED"}]}"#,
    r#"{"error":{"errorId":"IdempotencyKeyAlreadyExists","paymentStatus":"FAILED"}}"#,
    r#"{"error":{"errors":[{"reason":"idempotent_creation_conflict"}],"type":"invalid_state"}}"#,
    r#"{"errorCode":"704","resultCode":"Refused"}"#,
    r#"{"errors":{"transaction":{"errors":[{"code":"915234"}]}}}"#,
    r#"{"name":"invalid_idempotent_request","title":"Idempotency-Key is used"}"#,
    r#"{"ok":false,"error":"fatal_error"}"#,
    r#"{"reason":"AlreadyExists","type":"invalid_operation_error","id":"1"}"#,
    "IDEMPOTENCY_UNAVAILABLE already exists, was already used",
];
