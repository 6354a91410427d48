//! Each thing that a rule can ask for.

use http::{HeaderMap, Method, StatusCode};
use tower_outcome::Code;
use tower_outcome::classify::{self, Answer, GrpcStatus, History, Sent};
use tower_outcome::profile::Meaning;

use super::{Came, profile};

/// Whether a rule that asks for `wanted` matches.
fn matches(wanted: &str, came: &Came) -> bool {
    let rule = format!("[[rule]]\nmeans = 'partial'\n{wanted}");
    came.first(&profile(&rule)).meaning == Some(Meaning::Partial)
}

#[test]
fn a_status_is_one_of_a_list_or_of_a_class() {
    for (status, matched) in [
        (409, true),
        (500, true),
        (599, true),
        (400, false),
        (410, false),
    ] {
        let came = Came::new(status, "");
        assert_eq!(matches("status = [409, '5xx']", &came), matched, "{status}");
    }
}

#[test]
fn a_header_is_there_or_has_a_value() {
    let came = Came::new(200, "{}").with(&[("acme", "One")]);
    assert!(matches("header = [{ name = 'acme' }]", &came));
    assert!(matches(
        "header = [{ name = 'Acme', is = ['two', 'one'] }]",
        &came
    ));
    assert!(!matches("header = [{ name = 'acme', is = 'two' }]", &came));
    assert!(!matches("header = [{ name = 'other' }]", &came));
}

/// Most servers percent-encode the spaces of a gRPC message.
#[test]
fn the_text_of_a_grpc_message_is_read_as_it_is_meant() {
    let profile = profile("[[rule]]\nmeans = 'partial'\ntext = 'is in use: 100%'");
    let none = HeaderMap::new();
    for (message, meaning) in [
        ("The%20key%20is%20in%20use:%20100%25", Meaning::Partial),
        ("The key is in use: 100%", Meaning::Partial),
        ("The%20key%20is%20in%20use", Meaning::Exists),
        ("%", Meaning::Exists),
        ("%e", Meaning::Exists),
        ("%+1 is in use", Meaning::Exists),
        ("%ff", Meaning::Exists),
    ] {
        let answer = Answer::new(StatusCode::OK, &none).with_grpc(GrpcStatus::new(6, message));
        let sent = Sent::new(&Method::POST, "/billing.Refunds/Refund");
        let reading = classify::answer(&profile, &sent, &answer, History::Clean);
        assert_eq!(reading.meaning, Some(meaning), "{message}");
    }
}

#[test]
fn a_member_is_compared_as_text() {
    let came = Came::new(422, r#"{"error":{"codes":[7,"704"]},"ok":false}"#);
    assert!(matches(
        "body = [{ at = '/error/codes/*', is = 704 }]",
        &came
    ));
    assert!(matches(
        "body = [{ at = '/error/codes/0', is = ['7'] }]",
        &came
    ));
    assert!(matches("body = [{ at = '/ok', is = false }]", &came));
    assert!(matches(
        "body = [{ at = '/**/codes/*', ends = '04' }]",
        &came
    ));
    assert!(!matches(
        "body = [{ at = '/error/codes/*', is = 70 }]",
        &came
    ));
    assert!(!matches(
        "body = [{ at = '/error/codes/*', ends = '05' }]",
        &came
    ));
}

#[test]
fn a_member_is_filled_or_empty() {
    let came = Came::new(200, r#"{"a":[1],"b":[],"c":null,"d":"","e":{},"f":0}"#);
    for (member, filled, empty) in [
        ("a", true, false),
        ("b", false, true),
        ("c", false, false),
        ("d", false, true),
        ("e", false, true),
        ("f", true, false),
        ("g", false, false),
    ] {
        let test = |word: &str| format!("body = [{{ at = '/{member}', {word} = true }}]");
        assert_eq!(matches(&test("filled"), &came), filled, "{member}");
        assert_eq!(matches(&test("empty"), &came), empty, "{member}");
    }
}

#[test]
fn a_member_names_what_the_path_is_a_collection_of() {
    let rule = "body = [{ at = '/object', names_route = true }]";
    assert!(matches(rule, &Came::new(200, r#"{"object":"refund"}"#)));
    assert!(!matches(rule, &Came::new(200, r#"{"object":"payment"}"#)));
    assert!(!matches(rule, &Came::new(200, "{}")));
}

#[test]
fn a_text_stands_anywhere_in_the_body_in_any_case() {
    let came = Came::new(400, "<p>Key was ALREADY used</p>");
    assert!(matches("text = ['nothing', 'already used']", &came));
    assert!(!matches("text = 'never used'", &came));
}

#[test]
fn all_that_a_rule_asks_for_has_to_hold() {
    let came = Came::new(409, r#"{"a":1,"b":2}"#).with(&[("acme", "one")]);
    let all = "status = 409\nheader = [{ name = 'acme' }]\ntext = 'a'\n";
    assert!(matches(
        &format!("{all}body = [{{ at = '/a', is = 1 }}, {{ at = '/b', is = 2 }}]"),
        &came
    ));
    assert!(!matches(
        &format!("{all}body = [{{ at = '/a', is = 1 }}, {{ at = '/b', is = 3 }}]"),
        &came
    ));
    assert!(!matches("status = 410\ntext = 'a'", &came));
    assert!(!matches(
        "status = 409\nheader = [{ name = 'other' }]",
        &came
    ));
    assert!(!matches("status = 409\ntext = 'z'", &came));
}

#[test]
fn the_first_rule_that_matches_decides() {
    let one = "[[rule]]\nmeans = 'pending'\nstatus = '2xx'\n";
    let two = "[[rule]]\nmeans = 'partial'\nstatus = 200\n";
    let came = Came::new(200, "{}");
    let first = came.first(&profile(&format!("{one}{two}")));
    assert_eq!((first.code, first.rule), (Code::AcceptedPending, Some(1)));
    assert_eq!(came.code(&profile(&format!("{two}{one}"))), Code::Partial);
    assert_eq!(came.first(&profile("")).rule, None);
}

#[test]
fn what_speaks_of_a_key_says_nothing_to_a_request_without_one() {
    let bare = Sent::new(&Method::POST, "/refunds");
    let read = |text: &str| {
        let rule = format!("[[rule]]\nstatus = 400\n{text}");
        Came::new(400, "{}")
            .read(&profile(&rule), &bare, History::Clean)
            .rule
    };
    for means in [
        "created",
        "key_invalid",
        "key_too_old",
        "maybe_mismatch",
        "mismatch",
        "poisoned",
    ] {
        assert_eq!(read(&format!("means = '{means}'")), None, "{means}");
    }
    assert_eq!(read("means = 'partial'\nkeyed = true"), None);
    assert_eq!(read("means = 'partial'\nkeyed = false"), Some(1));
    assert_eq!(read("means = 'partial'"), Some(1));
}

#[test]
fn an_answer_hands_on_what_it_names_for_a_look_up() {
    let rule = "[[rule]]\nmeans = 'created'\nstatus = 409\nfound = '/errors/*/id'";
    let came = Came::new(409, r#"{"errors":[{"id":null},{"id":"PM1"}]}"#);
    assert_eq!(came.first(&profile(rule)).found.as_deref(), Some("PM1"));
    assert_eq!(Came::new(409, "{}").first(&profile(rule)).found, None);
}

#[test]
fn a_success_has_to_look_like_one_where_the_profile_says_how() {
    let api = profile("success = [{ at = '/ok', is = true }]");
    assert_eq!(Came::new(200, r#"{"ok":true}"#).code(&api), Code::Done);
    assert_eq!(Came::new(204, "").code(&api), Code::ResponseLost);
    for body in [r#"{"ok":false}"#, "{}", "", "ok"] {
        assert_eq!(
            Came::new(200, body).code(&api),
            Code::ResponseLost,
            "{body}"
        );
    }
}
