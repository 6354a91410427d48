//! An axum application whose handler makes a refund, among tower-http's usual layers.
//!
//! `cargo run --example axum_app`. A request that runs into the application's timeout, and one whose
//! caller disconnects, both drop the handler in the middle of the refund. The refund goes on, and
//! who asks again is told `already_done`. Exits with 1 if it is otherwise.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{Request, StatusCode};
use axum::{Json, Router, routing::post};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tower::ServiceBuilder;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;
use tower_outcome::{
    Envelope, ForWrites as _, Intent, MemoryLedger, OutcomeClient, RequestExt as _, Stack,
};
use tower_outcome_testkit::{Billing, Step};

/// The application's state. The client has one nameable type, whatever lies below it.
#[derive(Clone)]
struct App {
    refunds: String,
    billing: OutcomeClient,
    handler_left: Arc<Notify>,
}

async fn refund(
    State(app): State<App>,
    Path(order): Path<u64>,
) -> Result<Json<Envelope>, StatusCode> {
    let _leaving = Leaving(app.handler_left);
    let arguments = json!({ "order": order, "amount": 20 });
    let intent = Intent::new("acme", "refund", &arguments).map_err(|_| StatusCode::BAD_REQUEST)?;
    let request = Request::post(app.refunds)
        .body(arguments.to_string())
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    let verdict = app.billing.send(request.with_intent(intent)).await;
    Ok(Json(verdict.into_envelope()))
}

fn router(app: App) -> Router {
    let limit = Duration::from_secs(1);
    let layers = ServiceBuilder::new()
        .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
        .layer(TraceLayer::new_for_http())
        .layer(PropagateRequestIdLayer::x_request_id())
        // It drops the handler. That is fine out here: the write is in a task of its own.
        .layer(TimeoutLayer::with_status_code(
            StatusCode::GATEWAY_TIMEOUT,
            limit,
        ));
    let routes = Router::new().route("/refund/{order}", post(refund));
    routes.layer(layers).with_state(app)
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let billing = Billing::start().await?;
    let http = reqwest::Client::builder().for_writes().build()?;
    let stack = Stack::new().with_ledger(MemoryLedger::default());
    let handler_left = Arc::new(Notify::new());
    let app = App {
        refunds: format!("{}/refunds", billing.url()),
        billing: stack.over(http).boxed(),
        handler_left: Arc::clone(&handler_left),
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/refund", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, router(app)).into_future());
    let browser = reqwest::Client::new();

    billing.script([Step::CommitThenHold, Step::CommitThenHold]);
    let answer = browser.post(format!("{url}/7")).send().await?;
    let status = answer.status();
    println!("order 7: billing is slower than the application: {status}");
    let mut as_said = status == 504 && answer.headers().contains_key("x-request-id");
    handler_left.notified().await;
    billing.release();
    as_said &= is_already_done(&browser, &format!("{url}/7")).await?;
    handler_left.notified().await;

    tokio::select! {
        _ = browser.post(format!("{url}/8")).send() => as_said = false,
        () = billing.wait_commits(2) => {}
    }
    handler_left.notified().await;
    println!("order 8: the caller closed the tab, and its handler is gone");
    billing.release();
    as_said &= is_already_done(&browser, &format!("{url}/8")).await?;

    let (sent, made) = (billing.received().len(), billing.commits());
    println!("four requests for two orders: billing got {sent} and made {made} refunds");
    Ok(ExitCode::from(u8::from(!as_said || (sent, made) != (2, 2))))
}

/// Asks again, and shows what the application says.
async fn is_already_done(browser: &reqwest::Client, url: &str) -> Result<bool, Box<dyn Error>> {
    let answer = browser.post(url).send().await?;
    let envelope: Value = serde_json::from_str(&answer.text().await?)?;
    let (word, data) = (&envelope["outcome"], &envelope["data"]);
    println!("  asked again: {word} {data}");
    Ok(word == "already_done")
}

/// Tells the story when the handler is gone, however it went.
struct Leaving(Arc<Notify>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}
