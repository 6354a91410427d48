//! Which requests a ledger is given, and what of them.

use std::sync::Arc;

use http::Request;
use serde_json::json;
use tower_outcome::claim::NotEncrypted;
use tower_outcome::stored_request::MAX_STORED;
use tower_outcome::{ClaimLayer, MemoryLedger, OutcomeBody, RequestExt as _, StoredRequests};
use tower_outcome_core::ledger::{Filter, Ledger as _, StoredRequest, WriteRecord};
use tower_outcome_tools::{Executor, Tool, ToolCall};

use crate::support::{Bench, LOST, intent, order, request, requests};

impl Bench {
    async fn kept(&self, request: Request<OutcomeBody>) -> WriteRecord {
        let _ = self.client().send(request).await;
        self.entry().await.writes.remove(0)
    }
}

fn shown(request: &StoredRequest) -> String {
    String::from_utf8_lossy(request.as_bytes()).into_owned()
}

#[test]
fn a_ledger_that_does_not_encrypt_is_given_no_request() {
    let layer = ClaimLayer::new(MemoryLedger::default()).with_stored_requests(requests());
    assert_eq!(layer.err(), Some(NotEncrypted));
}

#[tokio::test]
async fn credentials_and_keys_are_not_kept_with_a_request() {
    let bench = Bench::scripted([LOST]).await;
    let mut secret = request(&bench.billing, &order());
    for name in ["authorization", "cookie", "x-api-key", "x-acme-token"] {
        secret.headers_mut().insert(name, "canary".parse().unwrap());
    }
    let mut marked = http::HeaderValue::from_static("canary");
    marked.set_sensitive(true);
    secret.headers_mut().insert("x-plain", marked);
    secret
        .headers_mut()
        .insert("acme-version", "2026-01-01".parse().unwrap());
    let write = bench.kept(secret).await;
    let kept = shown(write.request.as_ref().unwrap());
    assert!(!kept.contains("canary"), "{kept}");
    assert!(!kept.contains(&write.wire_key), "{kept}");
    assert!(
        kept.contains("acme-version") && kept.ends_with(&order().to_string()),
        "{kept}"
    );
}

#[tokio::test]
async fn requests_that_cannot_be_sent_again_are_not_kept() {
    let bench = Bench::scripted([LOST, LOST, LOST]).await;
    let url = bench.billing.url();
    let long = Request::post(format!("{url}/refunds")).body("x".repeat(MAX_STORED));
    let long = long.unwrap().with_intent(intent(&order()));
    assert_eq!(bench.kept(long).await.request, None);

    let bench = Bench::scripted([LOST]).await;
    let url = bench.billing.url().replace("//", "//user:canary@");
    let password = Request::post(format!("{url}/refunds")).body("{}".to_owned());
    let password = password.unwrap().with_intent(intent(&order()));
    let write = bench.kept(password).await;
    assert_eq!(write.request, None);
}

#[test]
fn credentials_are_told_apart_by_fingerprints_that_show_nothing() {
    let of = |requests: StoredRequests, token: &str| {
        let mut headers = http::HeaderMap::new();
        headers.insert("authorization", token.parse().unwrap());
        headers.insert("accept", "x".parse().unwrap());
        requests.credential(&headers)
    };
    let requests = || StoredRequests::new([7; 32]);
    assert_eq!(of(requests(), "a"), of(requests(), "a"));
    assert_ne!(of(requests(), "a"), of(requests(), "b"));
    assert_ne!(of(requests(), "a"), of(StoredRequests::new([8; 32]), "a"));
    assert_eq!(requests().credential(&http::HeaderMap::new()), None);
    let named = || requests().with_credential("acme");
    assert_eq!(of(named(), "a"), of(named(), "b"));
}

#[tokio::test]
async fn a_request_with_redacted_arguments_is_never_kept() {
    for (redacted, kept) in [(false, true), (true, false)] {
        let bench = Bench::scripted([LOST]).await;
        let url = bench.billing.url();
        let client = bench.client();
        let tool = Tool::write("refund", move |arguments: serde_json::Value| {
            let request = Request::post(format!("{url}/refunds")).body(arguments.to_string());
            let client = client.clone();
            async move { Ok(client.send(request.unwrap()).await.into_json()?) }
        });
        let tool = if redacted {
            tool.with_redacted("/order")
        } else {
            tool
        };
        let executor = Executor::new(Arc::clone(&bench.ledger)).with_tool(tool);
        executor
            .run(ToolCall::new("acme", "refund", json!({ "order": "A-1" })))
            .await;
        let page = bench.ledger.page(&Filter::new(9)).await.unwrap();
        let write = &page.entries[0].writes[0];
        assert_eq!(write.request.is_some(), kept);
    }
}
