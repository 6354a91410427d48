//! What holds for any API.

use http::{HeaderMap, Method, StatusCode};
use tower_outcome::classify::{self, Answer, GrpcStatus, History, KeyOrigin, Sent};
use tower_outcome::{Code, Profile};

use super::{Came, headers, sent};

const PLAIN: Profile = Profile::generic();

#[test]
fn a_page_is_not_the_answer_of_an_api() {
    let page =
        Came::new(200, "<p>Sign in</p>").with(&[("content-type", "text/html; charset=utf-8")]);
    assert_eq!(page.code(&PLAIN), Code::ResponseLost);
    let bare = Came::new(200, "\n <!DOCTYPE html><title>Sign in</title>");
    assert_eq!(bare.code(&PLAIN), Code::ResponseLost);
    let xml = Came::new(200, "<RunInstancesResponse/>");
    assert_eq!(xml.code(&PLAIN), Code::Done);
    let json = Came::new(200, "<html").with(&[("content-type", "application/json")]);
    assert_eq!(json.code(&PLAIN), Code::Done);
}

#[test]
fn a_body_that_names_the_key_speaks_of_it() {
    let api = Profile::idempotency_key();
    let body = r#"{"title":"The Idempotency-Key is already used"}"#;
    assert_eq!(Came::new(422, body).code(&api), Code::KeyConflict);
    assert_eq!(Came::new(409, body).code(&api), Code::AlreadyInProgress);
    assert_eq!(Came::new(422, "{}").code(&api), Code::Rejected);
    assert_eq!(Came::new(409, "{}").code(&api), Code::ConflictAmbiguous);
    let derived = sent().with_key(KeyOrigin::Derived);
    let other = Came::new(400, r#"{"title":"Idempotency-Key has another request"}"#);
    assert_eq!(
        other.read(&api, &derived, History::Clean).code,
        Code::KeyConflictUnresolved
    );
    let missing = Came::new(400, r#"{"title":"Idempotency-Key is missing"}"#);
    assert_eq!(
        missing.read(&api, &derived, History::Clean).code,
        Code::Rejected
    );
    // Without a key it cannot be about ours.
    let bare = Sent::new(&Method::POST, "/refunds");
    let code = Came::new(409, body).read(&api, &bare, History::Clean).code;
    assert_eq!(code, Code::ConflictAmbiguous);
}

#[test]
fn an_expectation_that_was_refused_kept_the_body_at_home() {
    let expects = headers(&[("expect", "100-continue")]);
    let came = Came::new(417, "");
    let read = |sent: &Sent<'_>| came.read(&PLAIN, sent, History::Clean).code;
    assert_eq!(read(&sent().with_headers(&expects)), Code::Rejected);
    assert_eq!(read(&sent()), Code::ConflictAmbiguous);
}

#[test]
fn a_condition_that_was_declared_makes_412_a_proof() {
    let conditions = headers(&[("if-none-match", "*")]);
    let came = Came::new(412, "");
    let read = |sent: &Sent<'_>| came.read(&PLAIN, sent, History::Clean).code;
    assert_eq!(
        read(&sent().with_headers(&conditions)),
        Code::PreconditionFailed
    );
    assert_eq!(read(&sent()), Code::ConflictAmbiguous);
}

#[test]
fn what_came_over_the_wrong_connection_or_too_early_may_be_sent_again() {
    for status in [421, 425] {
        let first = Came::new(status, "").first(&PLAIN);
        assert_eq!(first.code, Code::Rejected, "{status}");
        assert!(first.retryable_with_same_key, "{status}");
    }
}

#[test]
fn a_grpc_status_decides_whatever_the_head_says() {
    let none = HeaderMap::new();
    let read = |code: u32, history| {
        let status = GrpcStatus::new(code, "");
        let answer = Answer::new(StatusCode::OK, &none).with_grpc(status);
        classify::answer(&PLAIN, &sent(), &answer, history).code
    };
    let after = Code::RejectedAfterUnknown;
    for (code, first, later) in [
        (0, Code::Done, Code::Done),
        (1, Code::ServerError, Code::ServerError),
        (2, Code::ServerError, Code::ServerError),
        (3, Code::Rejected, after),
        (4, Code::TimeoutAfterSend, Code::TimeoutAfterSend),
        (5, Code::Rejected, after),
        (6, Code::Rejected, after),
        (7, Code::Rejected, after),
        (8, Code::RateLimited, after),
        (9, Code::PreconditionFailed, after),
        (10, Code::ConflictAmbiguous, Code::ConflictAmbiguous),
        (11, Code::Rejected, after),
        (12, Code::Rejected, after),
        (13, Code::ServerError, Code::ServerError),
        (14, Code::ServerError, Code::ServerError),
        (15, Code::ServerError, Code::ServerError),
        (16, Code::Rejected, after),
        (99, Code::ServerError, Code::ServerError),
    ] {
        assert_eq!(read(code, History::Clean), first, "{code}");
        assert_eq!(read(code, History::LeftInThisCall), later, "{code}");
    }
}

/// The texts are those of grpc-go, the C core and tonic.
#[test]
fn an_answer_that_is_too_long_to_be_sent_refuses_nothing() {
    let none = HeaderMap::new();
    let read = |code, message| {
        let status = GrpcStatus::new(code, message);
        let answer = Answer::new(StatusCode::OK, &none).with_grpc(status);
        classify::answer(&PLAIN, &sent(), &answer, History::Clean).code
    };
    for (code, sending, receiving) in [
        (
            8,
            "grpc: trying to send message larger than max (9 vs. 4)",
            "grpc: received message larger than max (9 vs. 4)",
        ),
        (
            8,
            "Sent message larger than max (9 vs. 4)",
            "Received message larger than max (9 vs. 4)",
        ),
        (
            11,
            "Error, encoded message length too large: found 9 bytes, the limit is: 4 bytes",
            "Error, decoded message length too large: found 9 bytes, the limit is: 4 bytes",
        ),
    ] {
        assert_eq!(read(code, sending), Code::ServerError, "{sending}");
        assert_eq!(read(code, receiving), read(code, ""), "{receiving}");
    }
}

#[test]
fn a_grpc_answer_without_its_status_is_lost() {
    let came = Came::new(200, "").with(&[("content-type", "application/grpc+proto")]);
    assert_eq!(came.code(&PLAIN), Code::ResponseLost);
}

#[test]
fn a_grpc_status_is_found_among_the_fields() {
    let fields = headers(&[("grpc-status", "7"), ("grpc-message", "no")]);
    let status = GrpcStatus::in_fields(&fields).unwrap();
    assert_eq!((status.code(), status.message()), (7, "no"));
    assert_eq!(GrpcStatus::in_fields(&HeaderMap::new()), None);
    assert_eq!(
        GrpcStatus::in_fields(&headers(&[("grpc-status", "no")])),
        None
    );
}
