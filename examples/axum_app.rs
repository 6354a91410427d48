//! An axum handler whose write nobody can cancel halfway.
//!
//! ```text
//! cargo run --example axum_app
//! ```
//!
//! The customer's browser asks our shop for a refund, the shop asks billing. First the customer
//! closes the tab, then another one runs into the shop's own timeout. Either drops the handler in
//! the middle of its call to billing; the write goes on all the same, and whoever asks again is told
//! that it was done.

use std::error::Error;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{Request, StatusCode};
use axum::{Json, Router, routing};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tower::ServiceBuilder;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;
use tower_outcome::{
    Envelope, ForWrites as _, Intent, MemoryLedger, OutcomeClient, RequestExt as _, Stack,
};
use tower_outcome_testkit::{Billing, Step};

/// What handlers share: one nameable type, whatever is below it.
#[derive(Clone)]
struct Shop {
    billing: OutcomeClient,
    url: String,
}

/// The answer is the envelope that says what became of the refund, with the stored result in it.
async fn refund(
    State(shop): State<Shop>,
    Path(order): Path<u64>,
) -> Result<Json<Envelope>, StatusCode> {
    let refund = json!({ "order": order, "amount": 20 });
    let intent = Intent::new("acme", "refund", &refund);
    let intent = intent.map_err(|_| StatusCode::BAD_REQUEST)?;
    let request = Request::post(shop.url).body(refund.to_string());
    let request = request.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    let verdict = shop.billing.send(request.with_intent(intent)).await;
    Ok(Json(verdict.into_envelope()))
}

/// The shop, with the layers that most axum applications have.
fn app(shop: Shop) -> Router {
    let layers = ServiceBuilder::new()
        .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
        .layer(TraceLayer::new_for_http())
        .layer(PropagateRequestIdLayer::x_request_id())
        .layer(TimeoutLayer::with_status_code(
            StatusCode::GATEWAY_TIMEOUT,
            TIMEOUT,
        ));
    Router::new()
        .route("/refund/{order}", routing::post(refund))
        .layer(layers)
        .with_state(shop)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let billing = Billing::start_without_keys().await?;
    let http = reqwest::Client::builder().for_writes().build()?;
    let shop = Shop {
        billing: Stack::new()
            .with_ledger(MemoryLedger::default())
            .over(http)
            .boxed(),
        url: format!("{}/refunds", billing.url()),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/refund", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, app(shop)).into_future());
    let browser = reqwest::Client::new();

    billing.script([Step::CommitThenHold, Step::CommitThenHold]);
    let asked = browser.post(format!("{url}/7")).send();
    tokio::select! {
        _ = asked => return Err("billing holds its answer back".into()),
        () = billing.wait_commits(1) => println!("order 7: the customer closes the tab"),
    }
    billing.release();
    told_already_done(&browser, &format!("{url}/7")).await?;

    let late = browser.post(format!("{url}/8")).send().await?;
    println!("order 8: the shop says {}", late.status());
    billing.release();
    told_already_done(&browser, &format!("{url}/8")).await?;

    let (sent, refunds) = (billing.received().len(), billing.commits());
    println!("billing got {sent} requests and refunded {refunds}x");
    if late.status() != StatusCode::GATEWAY_TIMEOUT || (sent, refunds) != (2, 2) {
        return Err("it should have been 1 request and 1 refund for each order".into());
    }
    Ok(())
}

async fn told_already_done(browser: &reqwest::Client, url: &str) -> Result<(), Box<dyn Error>> {
    let answer = browser.post(url).send().await?.bytes().await?;
    let answer: Value = serde_json::from_slice(&answer)?;
    let (outcome, data) = (&answer["outcome"], &answer["data"]);
    println!("  asked again: {outcome}, {data}");
    if outcome == "already_done" {
        Ok(())
    } else {
        Err("it should have been already_done".into())
    }
}

/// Of a whole request to the shop. Longer than billing takes on a good day.
const TIMEOUT: Duration = Duration::from_secs(1);
