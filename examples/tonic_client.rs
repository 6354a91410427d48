//! A stack below a generated gRPC client, which stays as it is.
//!
//! ```text
//! cargo run --example tonic_client
//! ```
//!
//! The client goes on to hand out answers and `Status`. What became of each call stands in the
//! `Watch` that its request carries. The health service, which every tonic user has at hand, plays
//! the service that changes something: to the stack each gRPC call is a write.

use std::error::Error;

use serde_json::json;
use tokio::net::TcpListener;
use tonic::Request;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tower_outcome::{Code, Intent, MemoryLedger, Stack, Watch};
use tower_outcome_testkit::Refusing;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let stack = Stack::new().with_ledger(MemoryLedger::default());

    let channel = serve().await?;
    let mut client = HealthClient::new(stack.keep(channel));
    for (call, expected) in [
        ("first call", Code::Done),
        ("same call again", Code::AlreadyDone),
    ] {
        let (request, watch) = request(7)?;
        let answer = client.check(request).await?;
        println!("{call}: {:?}", answer.get_ref().status());
        tell(&watch, expected)?;
    }

    // Nobody listens there. tonic says `Unavailable`, as it would for a server that died after it
    // had done what it was asked; the word is about what left.
    let dead = Refusing::start()?;
    let channel = Endpoint::from_shared(dead.url())?.connect_lazy();
    let mut client = HealthClient::new(stack.keep(channel));
    let (request, watch) = request(8)?;
    match client.check(request).await {
        Ok(_) => return Err("nobody should have answered".into()),
        Err(status) => println!("another call, dead server: {:?}", status.code()),
    }
    tell(&watch, Code::ConnectFailed)
}

/// A request with the wish that it carries out, and a handle on what becomes of it.
fn request(order: u64) -> Result<(Request<HealthCheckRequest>, Watch), Box<dyn Error>> {
    let watch = Watch::new();
    let mut request = Request::new(HealthCheckRequest::default());
    let intent = Intent::new("acme/customer-7", "check", &json!({ "order": order }))?;
    request.extensions_mut().insert(intent);
    request.extensions_mut().insert(watch.clone());
    Ok((request, watch))
}

fn tell(watch: &Watch, expected: Code) -> Result<(), Box<dyn Error>> {
    let verdict = watch.verdict().ok_or("the call has ended")?;
    println!("  {} ({})", verdict.outcome(), verdict.code());
    println!("  {}", verdict.message());
    if verdict.code() == expected {
        Ok(())
    } else {
        Err(format!("it should have been {expected}").into())
    }
}

/// A server on loopback. The channel connects when it is first used.
async fn serve() -> Result<Channel, Box<dyn Error>> {
    let (_reporter, health) = tonic_health::server::health_reporter();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let server = Server::builder().add_service(health);
    tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
    Ok(Endpoint::from_shared(url)?.connect_lazy())
}
