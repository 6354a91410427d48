//! A client that follows redirects and repeats by itself, trusted not to.

use tokio::net::TcpListener;
use tower_outcome::{Code, Outcome, OutcomeClient, WritesClient};
use tower_outcome_testkit::{Billing, ErrorCode, Frames, Refusing, Reply, Step};

use crate::clients::write;
use crate::once;

fn following() -> OutcomeClient {
    let client = reqwest::Client::new();
    once().over(WritesClient::trust(client)).boxed()
}

/// The answer, or the refused connect, is that of a GET which nobody asked for.
#[tokio::test]
async fn what_comes_of_a_redirect_that_was_followed_says_nothing_about_the_write() {
    let refusing = Refusing::start().unwrap();
    let nowhere = format!("{}/refunds", refusing.url());
    for status in [301, 302, 303] {
        for (location, code) in [
            ("/nothing-to-be-found", Code::Redirected),
            (nowhere.as_str(), Code::ResponseLost),
        ] {
            let billing = Billing::start_without_keys().await.unwrap();
            let redirect = Reply::new(status).with_header("location", location);
            billing.script([Step::CommitThenAnswerWith(redirect)]);
            let verdict = following().send(write(&billing.url())).await;
            assert_eq!(verdict.outcome(), Outcome::Unknown, "{status} {location}");
            assert_eq!(verdict.code(), code, "{status} {location}");
            assert_eq!(billing.commits(), 1, "{status} {location}");
        }
    }
}

/// Its body can be sent once, so that there is nothing to follow it with.
#[tokio::test]
async fn a_redirect_that_keeps_the_method_is_not_followed_even_so() {
    for status in [307, 308] {
        let billing = Billing::start_without_keys().await.unwrap();
        let redirect = Reply::new(status).with_header("location", "/refunds");
        billing.script([Step::AnswerWith(redirect)]);
        let verdict = following().send(write(&billing.url())).await;
        assert_eq!(verdict.code(), Code::RedirectRefused, "{status}");
        assert_eq!(billing.received().len(), 1, "{status}");
    }
}

/// What is refused is the GET, and the error is the same as for the write.
#[tokio::test]
async fn what_is_refused_behind_a_redirect_is_no_proof_about_the_write() {
    let billing = Billing::start_without_keys().await.unwrap();
    let redirect = Reply::new(303).with_header("location", &refusing_streams().await);
    billing.script([Step::CommitThenAnswerWith(redirect)]);
    let client = reqwest::Client::builder().http2_prior_knowledge().build();
    let client = once().over(WritesClient::trust(client.unwrap()));
    let verdict = client.send(write(&billing.url())).await;
    assert_eq!(verdict.code(), Code::ResponseLost);
    assert_eq!(billing.commits(), 1);
}

/// A server that refuses every stream.
async fn refusing_streams() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/refunds", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut connection = h2::server::handshake(socket).await.unwrap();
                while let Some(Ok((_, mut stream))) = connection.accept().await {
                    stream.send_reset(h2::Reason::REFUSED_STREAM);
                }
            });
        }
    });
    url
}

/// The client's own retry of refused streams is on, as it is unless somebody turns it off, and has
/// no body to send again. Nobody knows so of a client that is trusted: the refusal proves nothing.
#[tokio::test]
async fn a_client_that_repeats_by_itself_sends_a_write_once() {
    let client = reqwest::Client::builder().http2_prior_knowledge().build();
    let client = once().over(WritesClient::trust(client.unwrap()));
    let billing = Billing::start_without_keys().await.unwrap();
    let refused = || Frames::on_head().reset_stream(ErrorCode::REFUSED_STREAM);
    billing.script((0..3).map(|_| Step::Frames(refused())));
    let verdict = client.send(write(&billing.url())).await;
    assert_eq!(verdict.code(), Code::ResponseLost);
    assert_eq!(billing.received().len(), 1);
}
