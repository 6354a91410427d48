//! A write that is redirected.

use http::StatusCode;
use tower::{ServiceBuilder, ServiceExt as _};
use tower_http::follow_redirect::FollowRedirectLayer;
use tower_http::follow_redirect::policy::{Policy, PolicyExt as _, Standard, clone_body_fn};
use tower_outcome::audit::{Audit, Ended, Kind};
use tower_outcome_testkit::{Reply, Step};

use super::{Body, found, hyper, without_keys, write};

fn elsewhere(status: u16) -> Reply {
    Reply::new(status).with_header("location", "/other")
}

fn following() -> FollowRedirectLayer<impl Policy<Body, hyper_util::client::legacy::Error> + Clone>
{
    let kept = clone_body_fn(|body: &Body| Some(body.clone()));
    let policy = Standard::default().and::<_, Body, hyper_util::client::legacy::Error>(kept);
    FollowRedirectLayer::with_policy(policy)
}

#[tokio::test]
async fn a_redirect_that_was_followed_between_two_layers_is_certain() {
    for (status, end) in [(303, 200), (307, 201)] {
        let (audit, billing) = (Audit::new(), without_keys().await);
        billing.script([Step::CommitThenAnswerWith(elsewhere(status))]);
        let client = ServiceBuilder::new()
            .layer(audit.layer())
            .layer(following())
            .layer(audit.layer())
            .service(hyper());
        let answer = client.oneshot(write(&billing.url())).await.unwrap();
        assert_eq!(answer.status(), end);
        assert_eq!(found(&audit), [(Kind::Redirected, true, 1)], "{status}");
        let after = Ended::Answered(StatusCode::from_u16(status).unwrap());
        assert_eq!(audit.findings()[0].after, Some(after));
        assert_eq!(&*audit.findings()[0].path, "/refunds");
    }
}

#[tokio::test]
async fn a_redirect_that_somebody_above_may_follow_is_likely() {
    let (audit, billing) = (Audit::new(), without_keys().await);
    billing.script([Step::AnswerWith(elsewhere(308))]);
    let client = ServiceBuilder::new()
        .layer(following())
        .layer(audit.layer())
        .service(hyper());
    client.oneshot(write(&billing.url())).await.unwrap();
    assert_eq!(found(&audit), [(Kind::Redirected, false, 1)]);
}

/// As a client does that keeps the extensions when it follows.
#[tokio::test]
async fn a_mark_that_comes_to_another_place_after_a_redirect_is_certain() {
    for method in ["GET", "POST"] {
        let audit = Audit::new();
        let (mut upper, _) = write("http://billing").into_parts();
        let start = |parts: &mut http::request::Parts| {
            audit.start(
                &parts.method,
                &parts.uri,
                &parts.headers,
                None,
                &mut parts.extensions,
            )
        };
        let whole = start(&mut upper);
        let mut first = upper.clone();
        start(&mut first).answered(StatusCode::TEMPORARY_REDIRECT);
        let mut second = upper.clone();
        second.method = method.parse().unwrap();
        second.uri = "http://billing/other".parse().unwrap();
        start(&mut second).answered(StatusCode::CREATED);
        whole.answered(StatusCode::CREATED);
        let followed = (Kind::Redirected, true, 2);
        assert_eq!(found(&audit), [followed], "{method}");
    }
}

#[tokio::test]
async fn a_read_that_is_redirected_is_no_finding() {
    let audit = Audit::new();
    let client = ServiceBuilder::new()
        .layer(audit.layer())
        .layer(FollowRedirectLayer::new())
        .layer(audit.layer())
        .service_fn(|request: http::Request<Body>| async move {
            let answer = http::Response::builder();
            let answer = if request.uri().path() == "/refunds" {
                answer.status(302).header("location", "/other")
            } else {
                answer
            };
            answer.body(Body::default())
        });
    let read = http::Request::get("http://billing/refunds");
    let answer = client.oneshot(read.body(Body::default()).unwrap()).await;
    assert_eq!(answer.unwrap().status(), 200);
    assert_eq!(found(&audit), []);
}
