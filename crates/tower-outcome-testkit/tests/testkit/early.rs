//! Steps that say something before or after it is due.

use tower_outcome_testkit::{Billing, End, Reply, Step, What};

use crate::client::{BODY, CREATED, Client, Ending, happened, head, until, write};

#[tokio::test]
async fn an_interim_answer_comes_before_the_answer() {
    let billing = Billing::start().await.unwrap();
    let hints = Reply::new(103).with_header("link", "</a>");
    billing.script([Step::InterimThenAnswer(hints)]);

    let mut client = Client::sending(&billing, write("k")).await;
    let interim = "HTTP/1.1 103 \r\nlink: </a>\r\n\r\n";
    assert_eq!(client.answer().await, interim);
    assert_eq!(client.answer().await, CREATED);
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn an_interim_answer_can_be_all_there_is() {
    for (step, commits) in [
        (Step::AnswerWith(Reply::new(100)), 0),
        (Step::CommitThenAnswerWith(Reply::new(100)), 1),
    ] {
        let billing = Billing::start().await.unwrap();
        billing.script([step]);

        let mut client = Client::sending(&billing, write("k")).await;
        let interim = "HTTP/1.1 100 \r\n\r\n".to_owned();
        assert_eq!(client.finish().await, (interim, Ending::Fin));
        assert_eq!(billing.commits(), commits);
    }
}

#[tokio::test]
async fn an_idle_connection_can_be_told_that_it_was_idle() {
    let billing = Billing::start().await.unwrap();
    let stale = b"HTTP/1.1 408 \r\nconnection: close\r\n\r\n";
    billing.script([Step::AnswerThenSend {
        bytes: stale.to_vec(),
        end: End::Close,
    }]);

    let mut client = Client::sending(&billing, write("k")).await;
    assert_eq!(client.answer().await, CREATED);
    let stale = String::from_utf8(stale.to_vec()).unwrap();
    assert_eq!(client.ending().await, (stale, Ending::Fin));
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn a_server_that_has_closed_its_half_reads_on() {
    let steps = [(Step::HalfCloseThenCommit, 1), (Step::HalfCloseThenRead, 0)];
    for (step, commits) in steps {
        let billing = Billing::start().await.unwrap();
        billing.script([step]);

        let mut client = Client::connect(billing.addr()).await;
        assert_eq!(client.ending().await, (String::new(), Ending::Fin));
        client.send(write("k")).await;
        drop(client);
        until(&billing, What::ClientClosed).await;
        assert_eq!(billing.commits(), commits);
        assert!(billing.received()[0].complete);
        let closed = |what: &&What| **what == What::Closed;
        assert_eq!(happened(&billing, 1).iter().filter(closed).count(), 1);
    }
}

#[tokio::test]
async fn an_answer_can_come_before_the_body_and_the_commit_after_it() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::EarlyAnswerThenCommit(Reply::new(503))]);

    let mut client = Client::sending(&billing, head("k")).await;
    assert!(client.answer().await.starts_with("HTTP/1.1 503 "));
    assert_eq!(billing.commits(), 0);
    client.send(BODY).await;
    billing.wait_commits(1).await;

    client.send(write("next")).await;
    assert!(client.answer().await.starts_with("HTTP/1.1 201 "));
}
