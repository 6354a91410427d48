//! Generated clients, unchanged.

use tokio::net::TcpListener;
use tonic::Request;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus};
use tonic_health::server::health_reporter;
use tower_outcome::{Outcome, Stack, Verdict, Watch};

use crate::channel;

/// The URL of a health server that runs as long as the test's runtime.
async fn health() -> String {
    let (reporter, service) = health_reporter();
    reporter
        .set_service_status("refunds", tonic_health::ServingStatus::Serving)
        .await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let incoming = tonic::transport::server::TcpIncoming::from(listener);
    let server = tonic::transport::Server::builder().add_service(service);
    tokio::spawn(server.serve_with_incoming(incoming));
    url
}

fn question(service: &str) -> (Request<HealthCheckRequest>, Watch) {
    let watch = Watch::new();
    let mut request = Request::new(HealthCheckRequest {
        service: service.to_owned(),
    });
    request.extensions_mut().insert(watch.clone());
    (request, watch)
}

#[tokio::test]
async fn a_generated_client_works_and_its_watch_has_the_verdict() {
    let mut client = HealthClient::new(Stack::new().keep(channel(&health().await)));
    let (request, watch) = question("refunds");
    let answer = client.check(request).await.unwrap();
    assert_eq!(answer.into_inner().status(), ServingStatus::Serving);
    assert_eq!(watch.verdict().unwrap().outcome(), Outcome::Ok);
}

#[tokio::test]
async fn a_status_hides_the_verdict_that_its_watch_tells() {
    let mut client = HealthClient::new(Stack::new().keep(channel(&health().await)));
    let (request, watch) = question("nobody");
    let status = client.check(request).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::NotFound);
    assert_eq!(watch.verdict().unwrap().outcome(), Outcome::Failed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_of_a_generated_client_is_handed_on_as_it_comes() {
    let mut client = HealthClient::new(Stack::new().keep(channel(&health().await)));
    let (request, watch) = question("refunds");
    let mut stream = client.watch(request).await.unwrap().into_inner();
    let first = stream.message().await.unwrap().unwrap();
    assert_eq!(first.status(), ServingStatus::Serving);
    assert!(watch.verdict().is_none(), "the stream goes on");
    drop(stream);
    assert_eq!(watch.verdict().unwrap().outcome(), Outcome::Unknown);
}

#[tokio::test]
async fn a_keyed_call_carries_its_verdict_in_its_extensions() {
    let mut client = HealthClient::new(Stack::new().keep(channel(&health().await)));
    let (mut request, _) = question("refunds");
    request.extensions_mut().insert(crate::intent());
    let answer = client.check(request).await.unwrap();
    let verdict: &Verdict<()> = answer.extensions().get().unwrap();
    assert_eq!(verdict.outcome(), Outcome::Ok);
}
