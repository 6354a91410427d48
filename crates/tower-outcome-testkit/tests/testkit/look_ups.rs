//! What was committed can be asked for.

use tower_outcome_testkit::{Billing, LookUp, Step};

use crate::client::{Client, get, write};

const FOUND: &str = r#"{"found":[{"id":"re_1","order":"A-1","amount":1000,"reference":"r-1"}]}"#;
const NOTHING: &str = r#"{"found":[]}"#;

async fn ask(billing: &Billing, target: &str) -> (String, String) {
    let mut client = Client::sending(billing, get(target)).await;
    let answer = client.answer().await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].to_owned(), body.to_owned())
}

async fn with_one_refund() -> Billing {
    let billing = Billing::start().await.unwrap();
    let mut client = Client::sending(&billing, write("\"k/1\"")).await;
    client.answer().await;
    billing
}

#[tokio::test]
async fn a_refund_is_found_by_its_key_and_by_its_reference() {
    let billing = with_one_refund().await;
    let asked = [
        ("/refunds?key=%22k%2F1%22", FOUND),
        ("/refunds?reference=r-1", FOUND),
        ("/refunds?key=%22k%2F1%22&reference=r-1", FOUND),
        ("/refunds", FOUND),
        ("/refunds?key=other", NOTHING),
        ("/refunds?reference=other", NOTHING),
        ("/refunds?key=%22k%2F1%22&reference=other", NOTHING),
        ("/payouts?reference=r-1", NOTHING),
    ];
    for (target, found) in asked {
        let (status, body) = ask(&billing, target).await;
        assert_eq!((status.as_str(), body.as_str()), ("200", found), "{target}");
    }
}

#[tokio::test]
async fn what_the_service_does_not_look_up_by_is_refused() {
    let billing = with_one_refund().await;
    let asked = [
        (LookUp::Both, "200", "200"),
        (LookUp::Key, "200", "400"),
        (LookUp::Reference, "400", "200"),
    ];
    for (look_up, by_key, by_reference) in asked {
        billing.look_up_by(look_up);
        assert_eq!(ask(&billing, "/refunds?key=k").await.0, by_key);
        assert_eq!(ask(&billing, "/refunds?reference=r").await.0, by_reference);
        assert_eq!(ask(&billing, "/refunds?order=A-1").await.0, "400");
    }
}

#[tokio::test]
async fn a_look_up_takes_no_step_and_commits_nothing() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenClose]);

    for _ in 0..2 {
        assert_eq!(ask(&billing, "/refunds").await.1, NOTHING);
    }
    let mut client = Client::sending(&billing, write("k")).await;
    assert_eq!(client.ending().await.0, "");
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_lost_answer_is_found() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenReset]);

    let mut client = Client::sending(&billing, write("k")).await;
    client.ending().await;
    assert_eq!(ask(&billing, "/refunds?key=k").await.1, FOUND);
}

#[tokio::test]
async fn head_is_answered_without_a_body() {
    let billing = with_one_refund().await;
    let mut client = Client::connect(billing.addr()).await;
    client
        .send("HEAD /refunds HTTP/1.1\r\nconnection: close\r\n\r\n")
        .await;
    let (answer, _) = client.ending().await;
    let length = format!("content-length: {}\r\n\r\n", FOUND.len());
    assert!(answer.ends_with(&length), "{answer}");
}
