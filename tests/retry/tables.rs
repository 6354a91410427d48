//! What other people's retry rules say, case by case, and what the policy makes of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tower::retry::budget::TpsBudget;
use tower_outcome::KeyedRetry;
use tower_outcome::retry::{MAX_RETRY_AFTER, Reason};

use crate::plain::{Answer, answer, broken, keyed, send, write};
use crate::{at_once, profile};

/// How long the policy waits after `first`.
async fn wait_after(first: Answer) -> u64 {
    let policy = at_once(2).with_total_time(Duration::from_hours(1));
    let seen = send(policy, keyed(), [first, answer(200)]).await;
    seen.seconds().pop().unwrap()
}

#[tokio::test(start_paused = true)]
async fn every_wait_of_the_table_is_granted_up_to_the_limit() {
    let now = 1_445_412_480; // Wed, 21 Oct 2015 07:28:00 GMT
    for case in cases(include_str!("../data/derived/retry_after_cases.json")) {
        let date = |seconds: u64| httpdate::fmt_http_date(at(now + seconds));
        let values: Vec<String> = match &case["value"] {
            Value::Null => Vec::new(),
            Value::Array(all) => all.iter().map(|it| text(it).to_owned()).collect(),
            value => vec![match text(value) {
                "past http-date" => httpdate::fmt_http_date(at(now - 60)),
                "future http-date +60s" => date(60),
                "future http-date +600s" => date(600),
                seconds => seconds.to_owned(),
            }],
        };
        let status = u16::try_from(case["status"].as_u64().unwrap()).unwrap();
        let first = answer(status).with("date", date(0));
        let first = values
            .into_iter()
            .fold(first, |all, value| all.with("retry-after", value));

        // An answer that is proof is not asked about, and of two values the first counts.
        let expected = match (case["expect_s"].as_u64(), &case["expect"]) {
            (Some(seconds), _) => seconds,
            (None, Value::Null) => 0,
            (None, word) if text(word) == "cap" => MAX_RETRY_AFTER.as_secs(),
            (None, word) if text(word).starts_with("first or null") => 10,
            other => panic!("no rule for {other:?}"),
        };
        assert_eq!(wait_after(first).await, expected, "{case}");
    }
}

/// A moment without a fraction of a second is read (RFC 9110 section 5.6.7), from 1970 on. Any
/// other is past or no date of HTTP, and asks for nothing.
#[tokio::test(start_paused = true)]
async fn every_date_of_the_table_is_read() {
    let table = include_str!("../data/smithy/date_time_format_test_suite.json");
    let table: Value = serde_json::from_str(table).unwrap();
    let cases = table["parse_http_date"].as_array().unwrap();
    assert_eq!(cases.len(), 86);
    for case in cases {
        let seconds: i64 = text(&case["canonical_seconds"]).parse().unwrap();
        let readable = case["canonical_nanos"] == 0 && seconds >= 0;
        let before = u64::try_from(seconds - 7).unwrap_or_default();
        let moment = text(&case["smithy_format_value"]);
        let first = answer(503)
            .with("date", httpdate::fmt_http_date(at(before)))
            .with("retry-after", moment);
        let expected = if readable { 7 } else { 0 };
        assert_eq!(wait_after(first).await, expected, "{moment}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_pushback_of_the_table_is_obeyed() {
    for case in cases(include_str!("../data/derived/grpc_pushback_cases.json")) {
        let pushed = |wait: &str| answer(503).with("grpc-retry-pushback-ms", wait);
        let value = text(&case["value"]);
        if let Some(wait) = value.strip_suffix(" then failure without pushback") {
            // The backoff begins anew: at nothing, for this policy.
            let script = [pushed(wait), answer(503), answer(200)];
            assert_eq!(send(at_once(3), keyed(), script).await.seconds(), [0, 5, 5]);
            continue;
        }
        let attempts = if case["attempt"] == "max" { 1 } else { 2 };
        let seen = send(at_once(attempts), keyed(), [pushed(value), answer(200)]).await;
        let expected: &[u64] = match text(&case["expect"]) {
            "retry after exactly 5000 ms" => &[0, 5],
            "retry at once" => &[0, 0],
            never if never.starts_with("no retry") => &[0],
            other => panic!("no rule for {other}"),
        };
        assert_eq!(seen.seconds(), expected, "{case}");
    }
}

/// With full jitter the delays of the table are ceilings, and its tokens a budget of tower's.
#[tokio::test(start_paused = true)]
async fn every_call_of_the_standard_table_makes_as_many_attempts() {
    let policy = |attempts| {
        KeyedRetry::new(attempts)
            .with_profile(profile(""))
            .with_first_delay(Duration::from_millis(50))
    };
    let budget = |retries| Arc::new(TpsBudget::new(Duration::from_secs(10), 0, retries));
    for case in cases(include_str!(
        "../data/derived/smithy_standard_retry_cases.json"
    )) {
        let script = |words: &Value| {
            let words = words.as_array().into_iter().flatten();
            let statuses: Vec<u16> = words.map(|it| text(it).parse().unwrap()).collect();
            statuses.into_iter().map(answer).collect::<Vec<_>>()
        };
        let (policy, script, sent, reason) = match text(&case["name"]) {
            // The last attempt is not even copied, so that nothing is decided about its answer.
            "eventual success" | "max attempts" => (policy(3), script(&case["script"]), 3, None),
            "quota reached after one retry" => (
                policy(3).with_budget(budget(1.0)),
                script(&case["script"]),
                2,
                Some(Reason::BudgetSpent),
            ),
            "no retry when quota zero" => (
                policy(3).with_budget(budget(0.0)),
                script(&case["script"]),
                1,
                Some(Reason::BudgetSpent),
            ),
            "dynamodb profile" => (policy(4), vec![answer(500)], 4, None),
            // Budgets that calls share and the longest wait: see `limits` and `delays`.
            "quota exhaustion with 20 tokens, 5 attempts"
            | "quota recovers after success"
            | "max backoff respected"
            | "throttling error drains and backs off" => continue,
            other => panic!("no rule for {other}"),
        };
        let seen = send(policy, keyed(), script).await;
        assert_eq!(seen.sent(), sent, "{case}");
        assert_eq!(seen.reason(), reason, "{case}");
        let ceilings = [50, 100, 200].map(Duration::from_millis);
        for (pair, ceiling) in seen.arrived.windows(2).zip(ceilings) {
            let wait = pair[1].after.saturating_sub(pair[0].after);
            assert!(wait <= ceiling + Duration::from_millis(1), "{wait:?}");
        }
    }
}

/// Where a proxy would repeat a request for its status or a reset, a write needs its key as well.
#[tokio::test(start_paused = true)]
async fn what_a_proxy_would_repeat_is_repeated_under_a_key_alone() {
    for case in cases(include_str!("../data/derived/envoy_retry_cases.json")) {
        let (event, repeated) = match text(&case["event"]) {
            // Without a record of the call, no error is proof that nothing was sent.
            "connect failure" | "remote reset" | "overflow reset" => (broken(), true),
            "409" => (answer(409), false),
            "400" => (answer(400), false),
            "200" => (answer(200), false),
            "505" => (answer(505), true),
            // The whole stack sees the body: see the laws and the wire.
            "200 head then reset" => continue,
            "second event when limit is 1" => {
                let seen = send(at_once(2), keyed(), [broken()]).await;
                assert_eq!(seen.sent(), 2, "{case}");
                continue;
            }
            other => panic!("no rule for {other}"),
        };
        let sent = if repeated { 2 } else { 1 };
        let seen = send(at_once(2), keyed(), [event.clone()]).await;
        assert_eq!(seen.sent(), sent, "{case}");
        let seen = send(at_once(2), write(), [event]).await;
        assert_eq!(seen.sent(), 1, "{case}");
    }
}

fn cases(table: &str) -> Vec<Value> {
    let mut table: Value = serde_json::from_str(table).unwrap();
    let Value::Array(cases) = table["cases"].take() else {
        panic!("the table has no cases");
    };
    cases
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn at(seconds: u64) -> std::time::SystemTime {
    std::time::UNIX_EPOCH + Duration::from_secs(seconds)
}
