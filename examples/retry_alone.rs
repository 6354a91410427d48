//! The retry policy alone: tower's `RetryLayer` over a plain hyper-util client with plain bodies.
//!
//! `cargo run --example retry_alone`. No other layer of this project is in the stack. A POST with a
//! key is repeated until it is answered; a POST without one is sent once, whatever comes back. Exits
//! with 1 if it is otherwise.

use std::error::Error;
use std::process::ExitCode;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::TokioExecutor;
use tower::retry::RetryLayer;
use tower::{Service, ServiceBuilder, ServiceExt as _};
use tower_outcome::{KeyedRetry, Profile};
use tower_outcome_testkit::{Billing, Reply, Step};

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    // Repeats are safe only where the provider promises to honour the key: that is what the profile
    // says. Without one nothing is ever sent twice.
    let retry = KeyedRetry::new(3).with_profile(Profile::idempotency_key());
    let client = ServiceBuilder::new()
        .layer(RetryLayer::new(retry))
        .service(Client::builder(TokioExecutor::new()).build_http());

    // With a key: the first answer is lost, the second is a gateway's, the third is billing's.
    let billing = Billing::start().await?;
    billing.script([Step::CommitThenClose, unavailable(), Step::Answer]);
    let request = Request::post(format!("{}/refunds", billing.url()))
        .header("idempotency-key", "refund-7")
        .body(Full::from(REFUND))?;
    let (status, body) = send(client.clone(), request).await?;
    let (sent, made) = (billing.received().len(), billing.commits());
    println!("with a key:    {status}, sent {sent} times, {made} refund: {body}");
    let mut as_said = (status, sent, made) == (StatusCode::CREATED, 3, 1);

    // Without: nobody can tell whether a repeat would be a second refund.
    let billing = Billing::start().await?;
    billing.script([Step::CommitThenAnswerWith(
        Reply::new(503).with_body("try later"),
    )]);
    let request = Request::post(format!("{}/refunds", billing.url())).body(Full::from(REFUND))?;
    let (status, body) = send(client, request).await?;
    let (sent, made) = (billing.received().len(), billing.commits());
    println!("without a key: {status}, sent {sent} time, {made} refund: {body}");
    as_said &= (status, sent, made) == (StatusCode::SERVICE_UNAVAILABLE, 1, 1);

    Ok(ExitCode::from(u8::from(!as_said)))
}

/// The answer's status and body.
async fn send<S>(
    client: S,
    request: Request<Full<Bytes>>,
) -> Result<(StatusCode, String), Box<dyn Error>>
where
    S: Service<Request<Full<Bytes>>, Response = Response<Incoming>, Error = legacy::Error>,
{
    let answer = client.oneshot(request).await?;
    let status = answer.status();
    let body = answer.into_body().collect().await?.to_bytes();
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}

fn unavailable() -> Step {
    Step::AnswerWith(Reply::new(503).with_body("try later"))
}

const REFUND: &str = r#"{"order":7,"amount":20}"#;
