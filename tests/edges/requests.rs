//! Versions of HTTP that the client does not speak.

use http::Version;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::{ServiceBuilder, ServiceExt as _};
use tower_outcome::transport::Wire;
use tower_outcome::{Outcome, OutcomeLayer, Stack};
use tower_outcome_testkit::Billing;

use crate::clients::{over_each, write};

#[tokio::test]
async fn a_request_in_a_version_that_hyper_does_not_write_is_refused() {
    let billing = Billing::start_without_keys().await.unwrap();
    let socket = TcpStream::connect(billing.url().trim_start_matches("http://"))
        .await
        .unwrap();
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(socket))
        .await
        .unwrap();
    let connection = tokio::spawn(connection);
    let client = ServiceBuilder::new()
        .layer(OutcomeLayer::new())
        .service(Wire::http1(sender));
    let mut request = write("");
    *request.uri_mut() = "/refunds".parse().unwrap();
    request
        .headers_mut()
        .insert("host", "billing".parse().unwrap());
    *request.version_mut() = Version::HTTP_3;
    let Ok(verdict) = client.oneshot(request).await;
    connection.abort();
    let ended = connection.await;
    assert!(
        !ended.as_ref().is_err_and(tokio::task::JoinError::is_panic),
        "the connection's task panicked; the write ended in {:?}",
        verdict.code()
    );
}

/// A request that names HTTP/3, over clients that have none.
#[tokio::test]
async fn a_version_that_the_client_has_not_is_no_false_failed() {
    for which in 0..2 {
        let (name, client) = over_each(&Stack::new()).into_iter().nth(which).unwrap();
        let billing = Billing::start_without_keys().await.unwrap();
        let mut request = write(&billing.url());
        *request.version_mut() = Version::HTTP_3;
        let verdict = client.send(request).await;
        let sent = billing.received().len();
        assert!(
            verdict.outcome() != Outcome::Failed || sent == 0,
            "{name}: {:?}",
            verdict.code()
        );
    }
}
