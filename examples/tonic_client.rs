//! Every layer below a generated gRPC client, which stays as it is.
//!
//! `cargo run --example tonic_client`. The client returns a `Status` as ever; a [`Watch`] in the
//! request's extensions has the word behind it, and shows what the status hides: the same
//! `Unavailable` may mean that nothing happened, or that nobody knows. Exits with 1 if it is
//! otherwise.

use std::error::Error;
use std::process::ExitCode;

use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Endpoint, Server};
use tonic::{Code as Grpc, Request};
use tonic_health::ServingStatus;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tower_outcome::{Code, Outcome, Stack, Watch};
use tower_outcome_testkit::{Billing, Refusing, Reply, Step};

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let health = health().await?;
    let serving = check(&health, "refunds").await?;
    tell("a service that is there", serving);
    let nobody = check(&health, "nobody").await?;
    tell("one that the server does not know", nobody);

    let refusing = Refusing::start()?;
    let unsent = check(&refusing.url(), "refunds").await?;
    tell("a server that is down", unsent);

    let ailing = Billing::start().await?;
    let unavailable = Reply::grpc_status(14, "try later");
    ailing.script([Step::CommitThenAnswerWith(unavailable)]);
    let doubtful = check(&ailing.url(), "refunds").await?;
    tell("one that does it and answers so all the same", doubtful);

    let as_said = serving == (Grpc::Ok, Outcome::Ok, Code::Done)
        && nobody.0 == Grpc::NotFound
        && nobody.1 == Outcome::Failed
        && unsent == (Grpc::Unavailable, Outcome::Failed, Code::ConnectFailed)
        && doubtful == (Grpc::Unavailable, Outcome::Unknown, Code::ServerError)
        && ailing.commits() == 1;
    Ok(ExitCode::from(u8::from(!as_said)))
}

/// What the generated client says, and the word behind it.
type Ended = (Grpc, Outcome, Code);

async fn check(url: &str, service: &str) -> Result<Ended, Box<dyn Error>> {
    let channel = Endpoint::from_shared(url.to_owned())?.connect_lazy();
    // `keep` instead of `over`: the caller goes on to get tonic's own answers and errors.
    let mut client = HealthClient::new(Stack::new().keep(channel));

    let watch = Watch::new();
    let mut request = Request::new(HealthCheckRequest {
        service: service.to_owned(),
    });
    request.extensions_mut().insert(watch.clone());
    let status = match client.check(request).await {
        Ok(_) => Grpc::Ok,
        Err(status) => status.code(),
    };
    let verdict = watch.verdict().ok_or("the call has not ended")?;
    Ok((status, verdict.outcome(), verdict.code()))
}

fn tell(server: &str, (status, word, code): Ended) {
    println!("{server}: tonic says {status:?}, the word is {word}/{code}");
}

/// The URL of a health server that runs as long as this program.
async fn health() -> Result<String, Box<dyn Error>> {
    let (reporter, service) = tonic_health::server::health_reporter();
    reporter
        .set_service_status("refunds", ServingStatus::Serving)
        .await;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let server = Server::builder().add_service(service);
    tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
    Ok(url)
}
