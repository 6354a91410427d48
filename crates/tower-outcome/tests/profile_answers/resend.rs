//! Whether a resend under the same key can do no harm, and bring news.

use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};
use tower_outcome::classify::{self, Answer, History, Sent};
use tower_outcome::{Code, Profile};

use super::{Came, profile, sent};

fn after_500(text: &str) -> bool {
    Came::new(500, "{}")
        .first(&profile(text))
        .retryable_with_same_key
}

#[test]
fn what_a_server_error_leaves_under_a_key_decides() {
    assert!(after_500(""));
    assert!(after_500("stored_failures = 'redrive'"));
    assert!(after_500("stored_failures = 'latest_state'"));
    assert!(after_500("stored_failures = 'poison'"));
    assert!(
        !after_500("stored_failures = 're_execute'"),
        "it would run again"
    );
    assert!(
        !after_500("stored_failures = 'replay'"),
        "it would be told again"
    );
}

#[test]
fn what_a_gateway_says_is_not_what_is_stored() {
    let came = Came::new(502, "");
    let read = |text| came.first(&profile(text)).retryable_with_same_key;
    assert!(read("stored_failures = 'replay'"));
    assert!(!read("stored_failures = 're_execute'"));
    let replayed = Came::new(502, "").with(&[("replayed", "true")]);
    let api = profile("replay = [{ name = 'replayed' }]");
    assert!(!replayed.first(&api).retryable_with_same_key);
}

#[test]
fn a_provider_that_asks_for_another_attempt_or_for_none_is_heard() {
    let read = |status, hint, text: &str| {
        let came = Came::new(status, "{}").with(&[("again", hint)]);
        let api = profile(&format!("hint = 'again'\n{text}"));
        came.first(&api).retryable_with_same_key
    };
    assert!(!read(500, "false", ""));
    assert!(!read(429, "false", ""));
    assert!(read(500, "true", "stored_failures = 'replay'"));
    assert!(!read(500, "true", "stored_failures = 're_execute'"));
    assert!(!read(400, "true", ""));
}

#[test]
fn a_server_that_pushes_back_for_good_is_heard() {
    let read = |value| {
        let came = Came::new(429, "").with(&[("grpc-retry-pushback-ms", value)]);
        came.first(&profile("")).retryable_with_same_key
    };
    assert!(read("1500"));
    assert!(!read("-1"));
    assert!(!read("soon"));
}

#[test]
fn a_rule_may_know_better() {
    let read = |resend| {
        let rule = format!("[[rule]]\nmeans = 'declined'\nstatus = 402\nresend = {resend}");
        Came::new(402, "{}")
            .first(&profile(&rule))
            .retryable_with_same_key
    };
    assert!(read(true));
    assert!(!read(false));
}

#[test]
fn each_meaning_says_whether_more_can_be_heard() {
    let read = |means: &str, history| {
        let rule = format!("[[rule]]\nmeans = '{means}'\nstatus = 409");
        let came = Came::new(409, "{}").read(&profile(&rule), &sent(), history);
        came.retryable_with_same_key
    };
    for (means, first, later) in [
        ("created", false, false),
        ("declined", false, true),
        ("done", false, false),
        ("exists", false, false),
        ("in_flight", true, true),
        ("indeterminate", true, true),
        ("key_invalid", false, false),
        ("key_too_old", false, false),
        ("maybe_mismatch", false, false),
        ("mismatch", false, false),
        ("not_processed", true, true),
        ("partial", false, false),
        ("pending", false, false),
        ("poisoned", false, false),
        ("precondition_failed", false, false),
        ("processed_or_in_flight", true, true),
        ("rate_limited", true, true),
        ("redirected", true, true),
        ("rejected", false, true),
    ] {
        assert_eq!(read(means, History::Clean), first, "{means}");
        assert_eq!(read(means, History::LeftInThisCall), later, "{means}");
    }
}

#[test]
fn a_provider_that_drives_work_on_has_said_its_last_word() {
    let came = Came::new(400, "{}");
    assert!(came.later(&profile("")).retryable_with_same_key);
    assert!(
        !came
            .later(&profile("stored_failures = 'redrive'"))
            .retryable_with_same_key
    );
}

#[test]
fn a_body_that_was_lost_can_be_had_again_unless_the_head_says_where_it_is() {
    let read = |headers: &HeaderMap| {
        let answer = Answer::new(StatusCode::CREATED, headers).with_lost_body();
        classify::answer(
            &Profile::idempotency_key(),
            &sent(),
            &answer,
            History::Clean,
        )
    };
    let bare = read(&HeaderMap::new());
    assert_eq!(
        (bare.code, bare.retryable_with_same_key),
        (Code::DoneBodyLost, true)
    );
    let located = read(&super::headers(&[("location", "/refunds/7")]));
    assert_eq!(
        (located.code, located.retryable_with_same_key),
        (Code::DoneBodyLost, false)
    );
}

#[test]
fn no_key_no_resend_and_none_outside_its_window_or_place() {
    let api = profile("retention_s = 60");
    let lost = |sent: Sent<'_>| {
        let end = classify::unanswered(&api, &sent, Code::ResponseLost, History::Clean);
        end.retryable_with_same_key
    };
    assert!(lost(sent()));
    assert!(lost(sent().with_key_age(Duration::from_secs(59))));
    assert!(!lost(sent().with_key_age(Duration::from_mins(1))));
    assert!(!lost(sent().moving_on()));
    assert!(!lost(Sent::new(&Method::POST, "/refunds")));
    // Nobody says for how long: not beyond the call itself.
    let aged = sent().with_key_age(Duration::from_secs(1));
    let end = classify::unanswered(&profile(""), &aged, Code::ResponseLost, History::Clean);
    assert!(!end.retryable_with_same_key);
    let forever = profile("retention_s = 'forever'");
    let end = classify::unanswered(&forever, &aged, Code::ResponseLost, History::Clean);
    assert!(end.retryable_with_same_key);
}

#[test]
fn a_key_that_the_provider_did_not_look_at_protects_nothing() {
    let api = profile("ignored_key = { name = 'key-status', is = 'ignored' }");
    let came = Came::new(503, "").with(&[("key-status", "ignored")]);
    assert!(!came.first(&api).retryable_with_same_key);
    let honoured = Came::new(503, "").with(&[("key-status", "seen")]);
    assert!(honoured.first(&api).retryable_with_same_key);
}
