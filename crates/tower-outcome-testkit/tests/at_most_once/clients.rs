//! Clients that are right, and clients that are wrong in the usual ways.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};
use tower_outcome_testkit::Told;

/// How long a silent server is waited for.
const PATIENCE: Duration = Duration::from_millis(100);

/// Sends each write once.
pub(crate) fn careful() -> Client {
    patient().redirect(Policy::none()).build().unwrap()
}

/// Sends each write once, over HTTP/2. What the server refuses of it is not sent again.
pub(crate) fn speaking_http2() -> Client {
    patient()
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .http2_prior_knowledge()
        .build()
        .unwrap()
}

/// Follows redirects wherever they lead.
pub(crate) fn following() -> Client {
    patient().build().unwrap()
}

pub(crate) async fn post(client: &Client, url: &str) -> reqwest::Result<Response> {
    let body = r#"{"order":"A-1","amount":1000}"#;
    client
        .post(format!("{url}/refunds"))
        .body(body)
        .send()
        .await
}

/// Claims only what it can know.
pub(crate) fn honest(result: &reqwest::Result<Response>) -> Told {
    match result {
        Ok(answer) if answer.status().is_success() => Told::Done,
        Ok(answer) if answer.status().is_client_error() => Told::Failed,
        Err(error) if error.is_connect() => Told::Failed,
        _ => Told::Unknown,
    }
}

/// Claims nothing but what it was told.
pub(crate) fn never_guessing(result: &reqwest::Result<Response>) -> Told {
    match result {
        Ok(answer) if answer.status().is_success() => Told::Done,
        _ => Told::Unknown,
    }
}

fn patient() -> ClientBuilder {
    Client::builder().no_proxy().timeout(PATIENCE)
}
