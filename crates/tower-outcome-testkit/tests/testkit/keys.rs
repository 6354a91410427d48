//! Each key commits once, where keys are honoured.

use tokio::task::JoinSet;
use tower_outcome_testkit::{Billing, Step, What};

use crate::client::{BODY, CREATED, Client, happened, write};

#[tokio::test]
async fn a_key_that_committed_is_replayed() {
    let billing = Billing::start().await.unwrap();

    let mut client = Client::sending(&billing, write("k")).await;
    client.answer().await;
    client.send(write("k")).await;
    let marked = CREATED.replace(
        "\r\ncontent-length",
        "\r\nidempotent-replayed: true\r\ncontent-length",
    );
    assert_eq!(client.answer().await, marked);
    assert_eq!(billing.commits(), 1);
    assert_eq!(billing.commits_of("k"), 1);
    assert_eq!(billing.received().len(), 2);
    let replayed = What::Replayed {
        id: "re_1".to_owned(),
    };
    assert!(happened(&billing, 1).contains(&replayed));
}

#[tokio::test]
async fn a_replay_takes_a_step_and_fares_as_that_says() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenClose, Step::CommitThenClose]);

    for answer in ["", "", "HTTP/1.1 201 "] {
        let last = write("k").replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
        let mut client = Client::sending(&billing, last).await;
        let (read, _) = client.ending().await;
        assert_eq!(read.is_empty(), answer.is_empty());
        assert!(read.starts_with(answer));
    }
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_key_that_did_not_commit_is_free() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::ReadAllThenSilence]);

    let _unanswered = Client::sending(&billing, write("k")).await;
    billing.wait_for(|event| event.what == What::Holding).await;
    let mut client = Client::sending(&billing, write("k")).await;
    assert_eq!(client.answer().await, CREATED);
    assert_eq!(billing.commits_of("k"), 1);
}

#[tokio::test]
async fn a_key_of_another_request_is_refused() {
    let billing = Billing::start().await.unwrap();

    let mut client = Client::sending(&billing, write("k")).await;
    client.answer().await;
    let other_body = write("k").replace("1000", "9000");
    let other_path = write("k").replace("/refunds", "/payouts");
    for other in [other_body, other_path] {
        client.send(other).await;
        assert!(client.answer().await.starts_with("HTTP/1.1 422 "));
    }
    assert_eq!(billing.commits(), 1);
    let refused = happened(&billing, 1);
    assert_eq!(
        refused.iter().filter(|it| **it == What::KeyReused).count(),
        2
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_commits_once_however_many_send_it_together() {
    let billing = Billing::start().await.unwrap();

    let mut clients = JoinSet::new();
    for _ in 0..50 {
        let addr = billing.addr();
        clients.spawn(async move {
            let mut client = Client::connect(addr).await;
            client.send(write("k")).await;
            client.answer().await
        });
    }
    let answers = clients.join_all().await;
    let replayed = |answer: &&String| answer.contains("idempotent-replayed");
    assert_eq!(answers.iter().filter(replayed).count(), 49);
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_server_without_keys_commits_every_request() {
    let billing = Billing::start_without_keys().await.unwrap();

    let mut client = Client::sending(&billing, write("k")).await;
    assert_eq!(client.answer().await, CREATED);
    client.send(write("k")).await;
    assert_eq!(client.answer().await, CREATED.replace("re_1", "re_2"));
    assert_eq!(billing.commits_of("k"), 2);
    assert_eq!(billing.commits_of("another"), 0);
}

#[tokio::test]
async fn writes_without_a_key_commit_every_time() {
    let billing = Billing::start().await.unwrap();
    let unkeyed = write("").replace("idempotency-key", "x-other");

    let mut client = Client::connect(billing.addr()).await;
    for _ in 0..2 {
        client.send(&unkeyed).await;
        client.answer().await;
    }
    assert_eq!(billing.commits(), 2);
}

#[tokio::test]
async fn commits_are_counted_at_each_path_and_for_any_method() {
    let billing = Billing::start().await.unwrap();

    let mut client = Client::connect(billing.addr()).await;
    client.send(write("1")).await;
    client.answer().await;
    client.send(write("2").replace("/refunds", "/emails")).await;
    client.answer().await;
    client.send("DELETE /emails HTTP/1.1\r\n\r\n").await;
    let answer = client.answer().await;
    assert!(answer.ends_with(r#"{"id":"re_3","order":null,"amount":null}"#));

    assert_eq!(billing.commits_at("/refunds"), 1);
    assert_eq!(billing.commits_at("/emails"), 2);
    assert_eq!(billing.commits(), 3);
    assert_eq!(billing.received()[0].body, BODY.as_bytes());
}
