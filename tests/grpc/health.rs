//! A client made by tonic's generator, unchanged.

use tokio::io::DuplexStream;
use tonic::Request;
use tonic::transport::{Channel, Endpoint, Server};
use tonic_health::ServingStatus;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::server::HealthReporter;
use tower_outcome::{Code, Outcome, Verdict, Watch};

use crate::billing::over;
use crate::{intent, once, watched};

/// A server, and a channel to it.
fn server() -> (HealthReporter, Channel) {
    let (reporter, service) = tonic_health::server::health_reporter();
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let incoming = futures_util::stream::iter([Ok::<DuplexStream, std::io::Error>(theirs)]);
    let server = Server::builder().add_service(service);
    tokio::spawn(async move { server.serve_with_incoming(incoming).await });
    (
        reporter,
        over(&Endpoint::from_static("http://health"), ours),
    )
}

/// A question about the whole server.
fn question() -> (Request<HealthCheckRequest>, Watch) {
    watched(HealthCheckRequest::default())
}

#[tokio::test]
async fn a_generated_client_works_unchanged_and_its_word_is_ok() {
    let (_reporter, channel) = server();
    let mut client = HealthClient::new(once().keep(channel));

    let (request, watch) = question();
    let answer = client.check(request).await.unwrap();
    assert_eq!(answer.get_ref().status(), SERVING);
    assert_eq!(watch.verdict().unwrap().code(), Code::Done);
}

#[tokio::test]
async fn the_answer_to_a_call_with_a_wish_carries_its_verdict() {
    let (_reporter, channel) = server();
    let mut client = HealthClient::new(once().keep(channel));

    let (mut request, watch) = question();
    request.extensions_mut().insert(intent());
    let answer = client.check(request).await.unwrap();
    assert_eq!(answer.get_ref().status(), SERVING);
    let verdict = answer.extensions().get::<Verdict<()>>().unwrap();
    assert_eq!(verdict.code(), Code::Done);
    assert_eq!(verdict.key(), Some(intent().key()));
    assert_eq!(watch.verdict().unwrap().code(), Code::Done);
}

#[tokio::test]
async fn an_interceptor_above_may_add_the_wish() {
    let (_reporter, channel) = server();
    let add = |mut request: Request<()>| {
        request.extensions_mut().insert(intent());
        Ok(request)
    };
    let mut client = HealthClient::with_interceptor(once().keep(channel), add);

    let (request, watch) = question();
    client.check(request).await.unwrap();
    let verdict = watch.verdict().unwrap();
    assert_eq!(verdict.code(), Code::Done);
    assert_eq!(verdict.key(), Some(intent().key()));
}

#[tokio::test]
async fn an_unknown_service_is_the_servers_status_and_our_word() {
    let (_reporter, channel) = server();
    let mut client = HealthClient::new(once().keep(channel));

    let (mut request, watch) = question();
    request.get_mut().service = "billing".into();
    let status = client.check(request).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::NotFound);
    assert_eq!(watch.verdict().unwrap().code(), Code::Rejected);
}

#[tokio::test]
async fn a_generated_stream_brings_its_messages_as_they_come() {
    let (reporter, channel) = server();
    let mut client = HealthClient::new(once().keep(channel));

    let (request, watch) = question();
    let mut answers = client.watch(request).await.unwrap().into_inner();
    let first = answers.message().await.unwrap().unwrap();
    assert_eq!(first.status(), SERVING);
    assert!(watch.verdict().is_none(), "the stream has not ended");

    reporter
        .set_service_status("", ServingStatus::NotServing)
        .await;
    let second = answers.message().await.unwrap().unwrap();
    assert_ne!(second.status(), SERVING);

    drop(answers);
    let verdict = watch.verdict().unwrap();
    assert_eq!(verdict.code(), Code::ResponseLost);
    assert_eq!(verdict.outcome(), Outcome::Unknown);
}

const SERVING: tonic_health::pb::health_check_response::ServingStatus =
    tonic_health::pb::health_check_response::ServingStatus::Serving;
