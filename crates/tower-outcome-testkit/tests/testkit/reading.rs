//! What counts as a request, and what of it is kept.

use tower_outcome_testkit::{Billing, Step, What};

use crate::client::{BODY, CREATED, Client, Ending, get, happened, head, until, write};

#[tokio::test]
async fn requests_are_kept_in_order_with_their_connection() {
    let billing = Billing::start().await.unwrap();

    let mut one = Client::sending(&billing, write("k1")).await;
    one.answer().await;
    let mut two = Client::sending(&billing, get("/refunds?key=k1")).await;
    two.answer().await;
    one.send(write("k2")).await;
    one.answer().await;

    let received = billing.received();
    let came: Vec<_> = received
        .iter()
        .map(|it| (it.sequence, it.connection, it.method.as_str(), it.key()))
        .collect();
    let expected = [
        (0, 1, "POST", Some("k1")),
        (1, 2, "GET", None),
        (2, 1, "POST", Some("k2")),
    ];
    assert_eq!(came, expected);
    assert_eq!(received[0].body, BODY.as_bytes());
    assert_eq!(received[0].header("Host"), Some("billing"));
    assert_eq!(received[1].path, "/refunds");
    assert_eq!(received[1].query.as_deref(), Some("key=k1"));
    assert!(received.iter().all(|it| it.complete));
}

#[tokio::test]
async fn a_chunked_body_is_read_whole() {
    let billing = Billing::start().await.unwrap();
    let (start, rest) = BODY.split_at(20);
    let chunked = format!(
        "POST /refunds HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\
         14\r\n{start}\r\n{:x}\r\n{rest}\r\n0\r\n\r\n",
        rest.len()
    );

    let mut client = Client::sending(&billing, chunked).await;
    assert_eq!(client.answer().await, CREATED);
    assert_eq!(billing.received()[0].body, BODY.as_bytes());
}

#[tokio::test]
async fn a_request_in_single_bytes_is_one_request() {
    let billing = Billing::start().await.unwrap();

    let mut client = Client::connect(billing.addr()).await;
    for byte in write("k").as_bytes() {
        client.send([*byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(client.answer().await, CREATED);
    assert_eq!(billing.received().len(), 1);
}

#[tokio::test]
async fn requests_sent_at_once_are_answered_one_by_one() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenHold]);

    let mut client = Client::sending(&billing, write("1") + &write("2")).await;
    billing.wait_commits(1).await;
    assert_eq!(billing.received().len(), 1);
    billing.release();
    client.answer().await;
    client.answer().await;
    assert_eq!(billing.commits(), 2);
}

#[tokio::test]
async fn a_client_that_waits_for_100_gets_it() {
    let billing = Billing::start().await.unwrap();
    let expecting = head("k").replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n");

    let mut client = Client::sending(&billing, expecting).await;
    assert_eq!(client.answer().await, "HTTP/1.1 100 Continue\r\n\r\n");
    client.send(BODY).await;
    assert_eq!(client.answer().await, CREATED);
}

#[tokio::test]
async fn a_connection_is_closed_when_the_client_asks_for_it() {
    let billing = Billing::start().await.unwrap();
    let last = write("k").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");

    let mut client = Client::sending(&billing, last).await;
    assert_eq!(client.ending().await, (CREATED.to_owned(), Ending::Fin));
}

#[tokio::test]
async fn a_request_cut_short_by_the_client_commits_nothing() {
    let billing = Billing::start().await.unwrap();

    let client = Client::sending(&billing, head("k") + &BODY[..10]).await;
    until(&billing, read_head()).await;
    drop(client);
    until(&billing, What::ClientClosed).await;
    let received = billing.received();
    assert_eq!(received[0].body, &BODY.as_bytes()[..10]);
    assert!(!received[0].complete);
    assert_eq!(billing.commits(), 0);
    assert_eq!(
        happened(&billing, 1),
        [What::Accepted, read_head(), What::ClientClosed]
    );
}

#[tokio::test]
async fn what_is_no_http_is_answered_400() {
    let endless = format!("POST /{} HTTP/1.1\r\n\r\n", "x".repeat(1024 * 1024));
    for nonsense in [
        "POST / HTTP/3.0\r\n\r\n",
        "POST\r\n\r\n",
        "POST / HTTP/1.1\r\nx\r\n\r\n",
        &endless,
    ] {
        let billing = Billing::start().await.unwrap();
        let mut client = Client::sending(&billing, nonsense).await;
        let refused = "HTTP/1.1 400 \r\ncontent-length: 0\r\n\r\n";
        assert_eq!(client.ending().await, (refused.to_owned(), Ending::Fin));
        assert!(happened(&billing, 1).contains(&What::Malformed));
        assert_eq!(billing.commits(), 0);
    }
}

fn read_head() -> What {
    What::ReadHead {
        method: "POST".to_owned(),
        path: "/refunds".to_owned(),
    }
}
