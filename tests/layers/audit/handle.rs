//! The calls that the layer itself makes, in the hands of somebody else.

use http::request::Parts;
use http::{Request, StatusCode};
use tower_outcome::audit::{Audit, Kind, MAX_FINDINGS, MAX_RECENT, Watch};

use super::found;

fn parts(uri: &str) -> Parts {
    Request::post(uri).body(()).unwrap().into_parts().0
}

fn start(audit: &Audit, parts: &mut Parts) -> Watch {
    let Parts {
        method,
        uri,
        headers,
        extensions,
        ..
    } = parts;
    audit.start(method, uri, headers, Some(2), extensions)
}

/// As in clients whose middleware hands one set of extensions to every attempt.
#[test]
fn attempts_that_share_their_extensions_are_counted() {
    let audit = Audit::new();
    let mut request = parts("http://billing/refunds");
    for _ in 0..3 {
        start(&audit, &mut request).answered(StatusCode::BAD_GATEWAY);
    }
    assert_eq!(
        found(&audit),
        [(Kind::Resent, true, 2), (Kind::Resent, true, 3)]
    );
    // That was all of this one: another one that looks the same is its first repetition.
    start(&audit, &mut parts("http://billing/refunds")).answered(StatusCode::CREATED);
    assert_eq!(audit.findings()[2].attempt, 4);
    start(&audit, &mut parts("http://billing/refunds")).answered(StatusCode::CREATED);
    assert_eq!(audit.findings().len(), 3);
}

#[test]
fn attempts_at_the_same_time_are_counted() {
    let audit = Audit::new();
    let mut upper = parts("http://billing/refunds");
    let whole = start(&audit, &mut upper);
    let first = start(&audit, &mut upper.clone());
    let second = start(&audit, &mut upper.clone());
    second.answered(StatusCode::CREATED);
    whole.answered(StatusCode::CREATED);
    drop(first);
    assert_eq!(found(&audit), [(Kind::Resent, true, 2)]);
    assert_eq!(audit.findings()[0].after, None);
}

#[test]
fn layers_on_top_of_each_other_count_an_attempt_once() {
    let audit = Audit::new();
    let mut request = parts("http://billing/refunds");
    let watches: Vec<_> = (0..4).map(|_| start(&audit, &mut request)).collect();
    for watch in watches.into_iter().rev() {
        watch.answered(StatusCode::SERVICE_UNAVAILABLE);
    }
    assert_eq!(found(&audit), []);
}

/// As a middleware does that fetches a token first.
#[test]
fn another_request_made_out_of_ones_extensions_is_another_write() {
    let audit = Audit::new();
    let mut request = parts("http://billing/refunds");
    let whole = start(&audit, &mut request);
    let mut token = parts("http://login/token");
    token.extensions = request.extensions.clone();
    start(&audit, &mut token).answered(StatusCode::SERVICE_UNAVAILABLE);
    start(&audit, &mut request).answered(StatusCode::CREATED);
    whole.answered(StatusCode::CREATED);
    assert_eq!(found(&audit), []);
}

#[test]
fn an_error_of_a_known_kind_that_sent_nothing_is_no_finding() {
    let audit = Audit::new();
    let mut request = parts("http://billing/refunds");
    let unsent = tower_outcome::Error::from(
        tower_outcome_core::Intent::new("", "refund", &serde_json::json!({})).unwrap_err(),
    );
    start(&audit, &mut request).failed(&unsent);
    assert_eq!(found(&audit), []);
    let broken = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
    start(&audit, &mut request).failed(&broken);
    assert_eq!(found(&audit), [(Kind::Unanswered, true, 2)]);
}

#[test]
fn the_latest_findings_are_kept_and_the_others_counted() {
    let audit = Audit::new();
    for number in 0..MAX_FINDINGS + 3 {
        let uri = format!("http://billing/refunds/{number}");
        drop(start(&audit, &mut parts(&uri)));
    }
    let findings = audit.findings();
    assert_eq!(findings.len(), MAX_FINDINGS);
    assert_eq!(&*findings[0].path, "/refunds/3");
    assert_eq!(audit.dropped(), 3);
}

#[test]
fn the_latest_unsuccessful_writes_are_remembered() {
    let audit = Audit::new();
    for number in 0..=MAX_RECENT {
        let uri = format!("http://billing/refunds/{number}");
        start(&audit, &mut parts(&uri)).answered(StatusCode::BAD_GATEWAY);
    }
    start(&audit, &mut parts("http://billing/refunds/0")).answered(StatusCode::CREATED);
    assert_eq!(found(&audit), []);
    let last = format!("http://billing/refunds/{MAX_RECENT}");
    start(&audit, &mut parts(&last)).answered(StatusCode::CREATED);
    assert_eq!(found(&audit), [(Kind::Resent, false, 2)]);
}
