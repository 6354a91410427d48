//! Over streamable HTTP, with and without sessions.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use rmcp::model::ProtocolVersion;
use rmcp::service::ClientLifecycleMode;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tower_outcome_core::MemoryLedger;
use tower_outcome_mcp::rmcp::ExecutorServer;
use tower_outcome_testkit::{Billing, Step};

use crate::support::{Client, order, server};

/// A server on a loopback port, until it is dropped.
struct Http {
    url: String,
    serving: AbortHandle,
}

impl Http {
    async fn serve(server: &ExecutorServer) -> Self {
        let server = server.clone();
        let service = StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default(),
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let router = axum::Router::new().nest_service("/mcp", service);
        let serving = tokio::spawn(async move { axum::serve(listener, router).await });
        let serving = serving.abort_handle();
        Self { url, serving }
    }

    /// A client of the protocol that has no sessions, for an account.
    async fn connect(&self, account: &'static str) -> Client {
        let versions = vec![ProtocolVersion::V_2026_07_28];
        let mode = ClientLifecycleMode::Discover {
            preferred_versions: versions,
        };
        Client::with_lifecycle(self.transport(account), mode).await
    }

    fn transport(&self, account: &'static str) -> StreamableHttpClientTransport<reqwest::Client> {
        let account = (
            HeaderName::from_static("x-account"),
            HeaderValue::from_static(account),
        );
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.url.clone());
        config.custom_headers = HashMap::from([account]);
        StreamableHttpClientTransport::with_client(reqwest::Client::new(), config)
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

#[tokio::test]
async fn a_client_that_disconnects_mid_write_and_asks_again_gets_it_once() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let http = Http::serve(&server(&billing, MemoryLedger::default())).await;

    let client = http.connect("acme").await;
    let lost = client.start("refund", order(7)).await;
    billing.wait_commits(1).await;
    client.running.cancel().await.unwrap();
    drop(lost);

    let client = http.connect("acme").await;
    let again = client.start("refund", order(7)).await;
    billing.release();
    let again = client.end("refund", again).await;
    assert_eq!(again.word(), "already_done/already_done");
    assert_eq!(again.envelope.data()["id"], "re_1");
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn another_server_on_the_same_ledger_says_that_it_is_still_being_confirmed() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenSilence]);
    let ledger = Arc::new(MemoryLedger::default());
    let first = server(&billing, Arc::clone(&ledger));
    let http = Http::serve(&first).await;

    let client = http.connect("acme").await;
    let lost = client.start("refund", order(7)).await;
    billing.wait_commits(1).await;
    client.running.cancel().await.unwrap();
    drop(lost);
    first.executor().drain(Duration::ZERO).await;

    let http = Http::serve(&server(&billing, ledger)).await;
    let client = http.connect("acme").await;
    for _ in 0..2 {
        let again = client.call("refund", order(7)).await;
        assert_eq!(again.word(), "unknown/still_confirming");
    }
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_session_of_the_older_protocol_ends_the_same_way() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenHold]);
    let http = Http::serve(&server(&billing, MemoryLedger::default())).await;

    let client = Client::over(http.transport("acme")).await;
    let mut first = client.start("refund", order(7)).await;
    billing.wait_commits(1).await;
    first.options.timeout = Some(Duration::from_millis(1));
    assert!(first.await_response().await.is_err());

    let client = Client::over(http.transport("acme")).await;
    let again = client.start("refund", order(7)).await;
    billing.release();
    assert_eq!(
        client.end("refund", again).await.word(),
        "already_done/already_done"
    );
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn the_same_wish_of_two_accounts_is_two_wishes() {
    let billing = Billing::start_without_keys().await.unwrap();
    let http = Http::serve(&server(&billing, MemoryLedger::default())).await;
    let (one, other) = (http.connect("acme").await, http.connect("umbrella").await);
    for client in [&one, &other] {
        assert_eq!(client.call("refund", order(7)).await.word(), "ok/done");
        assert_eq!(
            client.call("refund", order(7)).await.word(),
            "already_done/already_done"
        );
    }
    assert_eq!(billing.commits(), 2);
}

#[tokio::test]
async fn two_clients_at_once_get_it_once() {
    let billing = Billing::start_without_keys().await.unwrap();
    let http = Http::serve(&server(&billing, MemoryLedger::default())).await;
    let (one, other) = (http.connect("acme").await, http.connect("acme").await);
    let (one, other) = tokio::join!(one.call("refund", order(7)), other.call("refund", order(7)));
    let mut words = [one.word(), other.word()];
    words.sort();
    assert_eq!(words, ["already_done/already_done", "ok/done"]);
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_model_asks_by_key_what_became_of_it() {
    let billing = Billing::start_without_keys().await.unwrap();
    billing.script([Step::CommitThenClose]);
    let http = Http::serve(&server(&billing, MemoryLedger::default())).await;
    let client = http.connect("acme").await;
    let lost = client.call("refund", order(7)).await;
    assert_eq!(lost.word(), "unknown/response_lost");
    let asked = json!({ "key": lost.envelope.key().unwrap() });
    let told = client.call("outcome_status", asked).await;
    assert_eq!(told.word(), "unknown/still_confirming");
    assert_eq!(billing.received().len(), 1);
}
