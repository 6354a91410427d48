//! What a meaning proves, first and after something that may have left.

use http::{HeaderMap, Method, StatusCode};
use tower_outcome::classify::{self, Answer, History, KeyOrigin, Sent};
use tower_outcome::{Code, Profile};

use super::{Came, codes, profile, sent};

#[test]
fn a_refusal_speaks_for_the_request_it_answers_alone() {
    for (means, code) in [
        ("declined", Code::Declined),
        ("exists", Code::Rejected),
        ("key_invalid", Code::Rejected),
        ("key_too_old", Code::KeyExpired),
        ("maybe_mismatch", Code::Rejected),
        ("not_processed", Code::RefusedByProtocol),
        ("precondition_failed", Code::PreconditionFailed),
        ("rate_limited", Code::RateLimited),
        ("redirected", Code::RedirectRefused),
        ("rejected", Code::Rejected),
    ] {
        let got = codes(&format!("means = '{means}'"));
        assert_eq!(got, (code, Code::RejectedAfterUnknown), "{means}");
    }
}

#[test]
fn what_is_no_refusal_is_what_it_says() {
    for (means, first, later) in [
        ("created", Code::AlreadyDone, Code::DoneReplayed),
        ("done", Code::Done, Code::Done),
        ("in_flight", Code::AlreadyInProgress, Code::StillConfirming),
        (
            "indeterminate",
            Code::ConflictAmbiguous,
            Code::ConflictAmbiguous,
        ),
        ("mismatch", Code::KeyConflict, Code::KeyConflictUnresolved),
        ("partial", Code::Partial, Code::Partial),
        ("pending", Code::AcceptedPending, Code::AcceptedPending),
        ("poisoned", Code::StillConfirming, Code::StillConfirming),
        (
            "processed_or_in_flight",
            Code::ConflictAmbiguous,
            Code::StillConfirming,
        ),
    ] {
        assert_eq!(
            codes(&format!("means = '{means}'")),
            (first, later),
            "{means}"
        );
    }
}

#[test]
fn an_earlier_call_did_what_none_of_this_call_did() {
    let api = Profile::idempotency_key().with_replay_marker("replayed");
    let replay = Came::new(201, "{}").with(&[("replayed", "true")]);
    let code = |history| replay.read(&api, &sent(), history).code;
    assert_eq!(code(History::Clean), Code::AlreadyDone);
    assert_eq!(code(History::LeftInEarlierCall), Code::AlreadyDone);
    assert_eq!(code(History::LeftInThisCall), Code::DoneReplayed);
    let fresh = Came::new(201, "{}").with(&[("replayed", "false")]);
    assert_eq!(fresh.later(&api).code, Code::Done);
}

#[test]
fn what_a_proxy_sent_twice_for_a_new_call_was_done_by_that_call() {
    let api = Profile::idempotency_key().with_replay_marker("replayed");
    let proxied = api.clone().with_replaying_proxy();
    let replay = Came::new(201, "{}").with(&[("replayed", "true")]);
    let derived = sent().with_key(KeyOrigin::Derived);
    let new = derived.with_claim();
    let code = |api: &Profile, sent: &Sent<'_>, history| replay.read(api, sent, history).code;
    assert_eq!(code(&proxied, &new, History::Clean), Code::DoneReplayed);
    // Nothing sends twice, an earlier call has sent, or nobody knows whether one has.
    assert_eq!(code(&api, &new, History::Clean), Code::AlreadyDone);
    assert_eq!(
        code(&proxied, &new, History::LeftInEarlierCall),
        Code::AlreadyDone
    );
    assert_eq!(code(&proxied, &derived, History::Clean), Code::AlreadyDone);
    let chosen = new.with_key(KeyOrigin::Explicit);
    assert_eq!(code(&proxied, &chosen, History::Clean), Code::AlreadyDone);
}

#[test]
fn a_stored_refusal_settles_what_the_stored_attempt_left_open() {
    let api = profile("retention_s = 60\nreplay = [{ name = 'replayed', is = 'true' }]");
    let refused = Came::new(422, "{}").with(&[("replayed", "true")]);
    assert_eq!(refused.later(&api).code, Code::Rejected);
    let other = Came::new(422, "{}").with(&[("replayed", "no")]);
    assert_eq!(other.later(&api).code, Code::RejectedAfterUnknown);
    // The window has closed: another execution may lie between.
    let old = sent().with_key_age(std::time::Duration::from_mins(1));
    let code = refused.read(&api, &old, History::LeftInThisCall).code;
    assert_eq!(code, Code::RejectedAfterUnknown);
    // A stored failure of the provider is none of the write.
    let failed = Came::new(500, "{}").with(&[("replayed", "true")]);
    assert_eq!(failed.later(&api).code, Code::ServerError);
}

#[test]
fn a_state_that_is_that_of_the_execution_settles_it() {
    let (first, later) = codes("means = 'declined'\nsettles = true");
    assert_eq!((first, later), (Code::Declined, Code::Declined));
    let api = profile("[[rule]]\nstatus = 409\nmeans = 'declined'\nsettles = true");
    let bare = Sent::new(&Method::POST, "/refunds");
    let code = Came::new(409, "{}")
        .read(&api, &bare, History::LeftInThisCall)
        .code;
    assert_eq!(code, Code::RejectedAfterUnknown);
}

#[test]
fn a_success_after_the_window_may_be_the_second_one() {
    let api = profile("retention_s = 60");
    let read = |age, history| {
        let sent = sent().with_key_age(std::time::Duration::from_secs(age));
        Came::new(200, "{}").read(&api, &sent, history).code
    };
    assert_eq!(read(59, History::LeftInEarlierCall), Code::Done);
    assert_eq!(
        read(60, History::LeftInEarlierCall),
        Code::ConflictAmbiguous
    );
    assert_eq!(read(60, History::Clean), Code::Done);
}

#[test]
fn a_derived_key_that_is_known_with_other_bytes_was_sent_before() {
    let derived = sent().with_key(KeyOrigin::Derived);
    let read = |means: &str, sent| {
        let api = profile(&format!("[[rule]]\nstatus = 409\nmeans = '{means}'"));
        Came::new(409, "{}").read(&api, &sent, History::Clean).code
    };
    assert_eq!(read("mismatch", derived), Code::KeyConflictUnresolved);
    assert_eq!(
        read("mismatch", derived.with_claim()),
        Code::KeyConflictUnresolved
    );
    assert_eq!(read("maybe_mismatch", derived), Code::KeyConflictUnresolved);
    assert_eq!(read("maybe_mismatch", derived.with_claim()), Code::Rejected);
}

#[test]
fn whoever_holds_the_claim_is_not_told_to_wait_for_itself() {
    let api = profile("[[rule]]\nstatus = 409\nmeans = 'in_flight'");
    let came = Came::new(409, "{}");
    let claimed = came.read(&api, &sent().with_claim(), History::Clean).code;
    assert_eq!(claimed, Code::StillConfirming);
    let bare = Sent::new(&Method::POST, "/refunds");
    assert_eq!(
        came.read(&api, &bare, History::Clean).code,
        Code::ConflictAmbiguous
    );
}

#[test]
fn nothing_is_refused_behind_a_proxy_that_repeats() {
    let api = Profile::idempotency_key().with_replaying_proxy();
    for status in [400, 401, 422, 429] {
        assert_eq!(
            Came::new(status, "{}").code(&api),
            Code::ConflictAmbiguous,
            "{status}"
        );
    }
    let named = Profile::named("paypal").unwrap().with_replaying_proxy();
    let sent = Sent::new(&Method::POST, "/v2/payments/x").with_key(KeyOrigin::Explicit);
    let code = Came::new(400, "{}")
        .read(&named, &sent, History::Clean)
        .code;
    assert_eq!(code, Code::ConflictAmbiguous, "routes as well");
}

#[test]
fn a_body_that_was_not_seen_decides_nothing() {
    let none = HeaderMap::new();
    let read = |profile: &Profile, status: u16| {
        let answer = Answer::new(StatusCode::from_u16(status).unwrap(), &none).with_lost_body();
        classify::answer(profile, &sent(), &answer, History::Clean).code
    };
    let api = profile("[[rule]]\nmeans = 'declined'\nstatus = [200, 402]\ntext = 'no'");
    assert_eq!(read(&api, 200), Code::ResponseLost);
    assert_eq!(read(&api, 201), Code::DoneBodyLost);
    assert_eq!(read(&api, 402), Code::ConflictAmbiguous);
    // The rule behind the one that asks for the body does not get its turn.
    let text = "[[rule]]\nmeans = 'created'\nstatus = 403\ntext = 'done'";
    let api = profile(&format!(
        "{text}\n[[rule]]\nmeans = 'rejected'\nstatus = 403"
    ));
    assert_eq!(read(&api, 403), Code::ConflictAmbiguous);
    assert_eq!(read(&profile(text), 403), Code::ConflictAmbiguous);
    // It could have named the key.
    assert_eq!(
        read(&Profile::idempotency_key(), 422),
        Code::ConflictAmbiguous
    );
    assert_eq!(read(&Profile::idempotency_key(), 401), Code::Rejected);
}

#[test]
fn an_attempt_without_an_answer_speaks_for_itself_alone() {
    let api = Profile::idempotency_key();
    let end = |code, history| classify::unanswered(&api, &sent(), code, history);
    assert_eq!(
        end(Code::ConnectFailed, History::Clean).code,
        Code::ConnectFailed
    );
    let later = end(Code::ConnectFailed, History::LeftInThisCall);
    assert_eq!(later.code, Code::RejectedAfterUnknown);
    assert!(later.retryable_with_same_key);
    assert_eq!(
        end(Code::ResponseLost, History::Clean).code,
        Code::ResponseLost
    );
}
