//! Over TLS, with HTTP/1.1 and HTTP/2 chosen by ALPN.

use std::sync::Arc;

use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tower_outcome::{Code, ForWrites as _, OutcomeClient};
use tower_outcome_testkit::{Billing, Step, Tls};

use crate::clients::write;
use crate::once;

/// Each client, trusting the certificate of `tls`.
fn over_each(tls: &Tls) -> [(&'static str, OutcomeClient); 2] {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(tls.der().to_vec())).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = HttpsConnectorBuilder::new().with_tls_config(config);
    let connector = connector.https_only().enable_all_versions().build();
    let hyper = Client::builder(TokioExecutor::new()).build(connector);

    let certificate = reqwest::Certificate::from_pem(tls.pem().as_bytes()).unwrap();
    let reqwest = reqwest::Client::builder().tls_certs_only([certificate]);
    [
        ("hyper", once().over(hyper).boxed()),
        (
            "reqwest",
            once().over(reqwest.for_writes().build().unwrap()).boxed(),
        ),
    ]
}

#[tokio::test]
async fn an_answer_over_tls_is_as_good_as_one_without() {
    for protocol in ["h2", "http/1.1"] {
        let tls = Tls::new().unwrap().with_alpn([protocol]);
        for (client, stack) in over_each(&tls) {
            let billing = Billing::start_tls_without_keys(&tls).await.unwrap();
            let verdict = stack.send(write(&billing.url())).await;
            assert_eq!(verdict.code(), Code::Done, "{client} {protocol}");
            let streams = billing.received()[0].stream.is_some();
            assert_eq!(streams, protocol == "h2", "{client}");
        }
    }
}

#[tokio::test]
async fn a_connection_that_ends_without_an_answer_is_unknown_over_tls_as_well() {
    for protocol in ["h2", "http/1.1"] {
        for step in [Step::CommitThenClose, Step::CommitThenReset] {
            let tls = Tls::new().unwrap().with_alpn([protocol]);
            for (client, stack) in over_each(&tls) {
                let billing = Billing::start_tls_without_keys(&tls).await.unwrap();
                billing.script([step.clone()]);
                let verdict = stack.send(write(&billing.url())).await;
                assert_eq!(verdict.code(), Code::ResponseLost, "{client} {protocol}");
                assert_eq!(billing.commits(), 1, "{client} {protocol}");
            }
        }
    }
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_proves_that_nothing_left() {
    let (trusted, shown) = (Tls::new().unwrap(), Tls::new().unwrap());
    for (client, stack) in over_each(&trusted) {
        let billing = Billing::start_tls_without_keys(&shown).await.unwrap();
        let verdict = stack.send(write(&billing.url())).await;
        assert_eq!(verdict.code(), Code::ConnectFailed, "{client}");
        assert!(billing.received().is_empty(), "{client}");
    }
}
