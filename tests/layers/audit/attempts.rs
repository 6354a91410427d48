//! A write that is sent again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::{HeaderName, Request, StatusCode};
use tower::{ServiceBuilder, ServiceExt as _};
use tower_outcome::audit::{Audit, Ended, Kind, WINDOW};
use tower_outcome_testkit::{Reply, Step};

use super::{Body, found, hyper, keyed, naive, without_keys, write};
use crate::trace::Trace;

fn broken_gateway() -> Step {
    Step::CommitThenAnswerWith(Reply::new(503))
}

/// Gives each request that passes another key.
fn fresh_keys(name: &'static str) -> impl FnMut(Request<Body>) -> Request<Body> + Clone {
    let count = Arc::new(AtomicUsize::new(0));
    move |mut request| {
        let key = format!("secret-{}", count.fetch_add(1, Ordering::Relaxed));
        request.headers_mut().insert(name, key.parse().unwrap());
        request
    }
}

#[tokio::test]
async fn between_two_layers_of_one_audit_attempts_are_counted() {
    let (audit, billing) = (Audit::new(), without_keys().await);
    billing.script([broken_gateway(), Step::CommitThenClose]);
    let client = ServiceBuilder::new()
        .layer(audit.layer())
        .layer(naive())
        .layer(audit.layer())
        .service(hyper());
    let answer = client.oneshot(write(&billing.url())).await.unwrap();
    assert_eq!(answer.status(), 201);
    assert_eq!(billing.commits(), 3);
    assert_eq!(
        found(&audit),
        [(Kind::Resent, true, 2), (Kind::Resent, true, 3)]
    );
    let findings = audit.findings();
    let after = Ended::Answered(StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(findings[0].after, Some(after));
    assert_eq!(findings[1].after, Some(Ended::Failed));
}

#[tokio::test]
async fn below_a_retry_alone_an_attempt_is_recognised_by_its_looks() {
    let (audit, billing) = (Audit::new(), without_keys().await);
    billing.script([broken_gateway(), broken_gateway()]);
    let client = ServiceBuilder::new()
        .layer(naive())
        .layer(audit.layer())
        .service(hyper());
    client.oneshot(write(&billing.url())).await.unwrap();
    assert_eq!(
        found(&audit),
        [(Kind::Resent, false, 2), (Kind::Resent, false, 3)]
    );
}

#[tokio::test]
async fn the_callers_own_repetition_is_recognised_as_well() {
    let (audit, billing) = (Audit::new(), without_keys().await);
    billing.script([broken_gateway()]);
    let client = ServiceBuilder::new()
        .layer(audit.layer())
        .layer(audit.layer())
        .service(hyper());
    for _ in 0..2 {
        let sent = client.clone().oneshot(write(&billing.url()));
        sent.await.unwrap();
    }
    assert_eq!(found(&audit), [(Kind::Resent, false, 2)]);
}

#[tokio::test]
async fn a_key_that_changes_between_attempts_is_found() {
    for certain in [true, false] {
        let (audit, billing) = (Audit::new(), without_keys().await);
        billing.script([broken_gateway()]);
        let client = ServiceBuilder::new()
            .option_layer(certain.then(|| audit.layer()))
            .layer(naive())
            .map_request(fresh_keys("idempotency-key"))
            .layer(audit.layer())
            .service(hyper());
        client.oneshot(write(&billing.url())).await.unwrap();
        assert_eq!(found(&audit), [(Kind::KeyChanged, certain, 2)]);
    }
}

#[tokio::test]
async fn the_keys_header_can_be_another() {
    let name = "x-request-token";
    let audit = Audit::new().with_key_header(HeaderName::from_static(name));
    let billing = without_keys().await;
    billing.script([broken_gateway()]);
    let client = ServiceBuilder::new()
        .layer(audit.layer())
        .layer(naive())
        .map_request(fresh_keys(name))
        .layer(audit.layer())
        .service(hyper());
    // The usual header says nothing here.
    let request = keyed(&billing.url(), "k");
    client.oneshot(request).await.unwrap();
    assert_eq!(found(&audit), [(Kind::KeyChanged, true, 2)]);
}

#[tokio::test]
async fn a_key_that_came_only_with_the_second_attempt_protects_nothing() {
    let (audit, billing) = (Audit::new(), without_keys().await);
    billing.script([broken_gateway()]);
    let client = ServiceBuilder::new().layer(audit.layer()).service(hyper());
    for request in [write(&billing.url()), keyed(&billing.url(), "k")] {
        client.clone().oneshot(request).await.unwrap();
    }
    assert_eq!(found(&audit), [(Kind::Resent, false, 2)]);
}

#[tokio::test(start_paused = true)]
async fn looks_prove_nothing_once_the_window_has_passed() {
    let audit = Audit::new();
    let send = || {
        let request = write("http://billing");
        let (mut parts, _) = request.into_parts();
        audit.start(
            &parts.method,
            &parts.uri,
            &parts.headers,
            Some(1),
            &mut parts.extensions,
        )
    };
    send().answered(StatusCode::BAD_GATEWAY);
    tokio::time::advance(WINDOW).await;
    send().answered(StatusCode::BAD_GATEWAY);
    assert_eq!(found(&audit), []);
    tokio::time::advance(WINDOW / 2).await;
    send().answered(StatusCode::OK);
    assert_eq!(found(&audit), [(Kind::Resent, false, 2)]);
}

#[tokio::test]
async fn a_finding_shows_no_query_no_body_and_no_key() {
    let (audit, billing) = (Audit::new(), without_keys().await);
    billing.script([broken_gateway()]);
    let client = ServiceBuilder::new()
        .layer(naive())
        .map_request(fresh_keys("idempotency-key"))
        .layer(audit.layer())
        .service(hyper());
    let trace = Trace::start();
    client.oneshot(write(&billing.url())).await.unwrap();
    let findings = audit.findings();
    let log = trace.text();
    for line in [
        "http.request.method POST",
        "http.request.resend_count 1",
        "http.response.status_code 503",
        "server.address \"127.0.0.1\"",
        "url.path \"/refunds\"",
        "kind \"key_changed\"",
    ] {
        assert!(log.contains(line), "{line}: {log}");
    }
    let text = format!("{findings:?} {} {audit:?} {log}", findings[0]);
    assert!(!text.contains("hush") && !text.contains("secret"), "{text}");
    let port = billing.addr().port();
    let expected =
        format!("likely key_changed: POST 127.0.0.1:{port}/refunds, attempt 2 after 503");
    assert_eq!(findings[0].to_string(), expected);
}
