//! Nothing changes by an audit.

use std::rc::Rc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use tokio_test::{assert_pending, assert_ready_ok, task};
use tower::{Layer as _, Service as _, ServiceExt as _};
use tower_outcome::audit::Audit;
use tower_test::mock;

use super::{hyper, keyed, without_keys, write};

type Answer = Response<()>;

/// An error that is neither sendable nor an error by the standard library's lights.
#[derive(Debug, PartialEq)]
struct Odd(Rc<str>);

#[tokio::test]
async fn an_error_stays_what_it_is() {
    let client = Audit::new()
        .layer()
        .layer(tower::service_fn(|_: Request<Full<Bytes>>| async {
            Err::<Answer, _>(Odd("out of paper".into()))
        }));
    let error = client.oneshot(write("http://billing")).await.unwrap_err();
    assert_eq!(error, Odd("out of paper".into()));
}

#[tokio::test]
async fn request_and_answer_arrive_as_they_are() {
    let billing = without_keys().await;
    let plain = hyper().oneshot(keyed(&billing.url(), "k")).await.unwrap();
    let client = Audit::new().layer().layer(hyper());
    let audited = client.oneshot(keyed(&billing.url(), "k")).await.unwrap();
    assert_eq!(plain.status(), audited.status());
    assert_eq!(plain.headers(), audited.headers());
    let body = audited.into_body().collect().await.unwrap().to_bytes();
    assert!(body.starts_with(br#"{"id":"re_2""#), "{body:?}");

    let received = billing.received();
    assert_eq!(received[0].headers, received[1].headers);
    assert_eq!(received[0].query, received[1].query);
    assert_eq!(received[0].body, received[1].body);
}

#[tokio::test]
async fn whoever_waits_for_readiness_is_woken_by_it() {
    let (service, mut server) = mock::pair::<Request<Full<Bytes>>, Answer>();
    let mut client = Audit::new().layer().layer(service);
    server.allow(0);
    let mut ready = task::spawn(client.ready());
    assert_pending!(ready.poll());
    server.allow(1);
    assert!(ready.is_woken());
    assert_ready_ok!(ready.poll());
}

/// The mock panics if a service is called that was not made ready, and lets only one be.
#[tokio::test]
async fn the_service_that_was_made_ready_is_the_one_that_is_called() {
    let (service, mut server) = mock::pair::<Request<Full<Bytes>>, Answer>();
    server.allow(1);
    let mut client = Audit::new().layer().layer(service);
    let ready = client.ready().await.unwrap();
    let mut sent = task::spawn(ready.call(write("http://billing")));
    assert_pending!(sent.poll());
    let (_, answering) = server.next_request().await.unwrap();
    answering.send_response(Response::new(()));
    assert!(sent.is_woken());
    assert_ready_ok!(sent.poll());
}

#[tokio::test]
async fn an_error_of_readiness_is_passed_on() {
    let (service, mut server) = mock::pair::<Request<Full<Bytes>>, Answer>();
    server.send_error("out of order");
    let mut client = Audit::new().layer().layer(service);
    let error = client.ready().await.unwrap_err();
    assert_eq!(error.to_string(), "out of order");
}
