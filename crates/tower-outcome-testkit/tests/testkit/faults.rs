//! Steps that end without a whole answer.

use tower_outcome_testkit::{Billing, End, Reply, Step, What};

use crate::client::{BODY, CREATED, Client, Ending, get, happened, head, until, write};

const ENDS: [(End, Ending); 2] = [(End::Close, Ending::Fin), (End::Reset, Ending::Reset)];

#[tokio::test]
async fn a_committed_write_can_be_closed_or_reset_without_an_answer() {
    let steps = [
        (Step::CommitThenClose, Ending::Fin, What::Closed),
        (Step::CommitThenReset, Ending::Reset, What::Reset),
    ];
    for (step, ending, what) in steps {
        let billing = Billing::start().await.unwrap();
        billing.script([step]);

        let mut client = Client::sending(&billing, write("k")).await;
        assert_eq!(client.ending().await, (String::new(), ending));
        assert_eq!(billing.commits(), 1);
        assert!(happened(&billing, 1).contains(&what));
    }
}

#[tokio::test]
async fn silence_says_nothing_and_keeps_the_connection_until_the_client_leaves() {
    let steps = [
        (Step::CommitThenSilence, 1, BODY),
        (Step::ReadAllThenSilence, 0, BODY),
        (Step::ReadHeadThenSilence, 0, ""),
    ];
    for (step, commits, body) in steps {
        let billing = Billing::start().await.unwrap();
        billing.script([step]);

        let mut client = Client::sending(&billing, write("k")).await;
        until(&billing, What::Holding).await;
        assert_eq!(billing.commits(), commits);
        assert_eq!(billing.received()[0].body, body.as_bytes());
        assert_eq!(billing.received()[0].complete, !body.is_empty());

        // The server's end follows the client's, and nothing was said before it.
        let (said, _) = client.finish().await;
        assert_eq!(said, "");
        let happened = happened(&billing, 1);
        let last = happened.len() - 2..;
        assert_eq!(happened[last], [What::Holding, What::ClientClosed]);
    }
}

#[tokio::test]
async fn a_client_that_is_killed_is_noticed_though_its_bytes_are_unread() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::ReadHeadThenSilence]);

    let client = Client::sending(&billing, write("k")).await;
    until(&billing, What::Holding).await;
    drop(client);
    until(&billing, What::ClientClosed).await;
}

#[tokio::test]
async fn the_server_outlives_a_client_that_resets() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::Answer, Step::CommitThenSilence]);

    let mut client = Client::sending(&billing, write("1") + &write("2")).await;
    client.read(1).await;
    billing.wait_commits(2).await;
    // Closed over unread bytes of the first answer, which sends RST.
    drop(client);
    until(&billing, What::ClientReset).await;

    let mut next = Client::sending(&billing, write("3")).await;
    assert!(next.answer().await.starts_with("HTTP/1.1 201 "));
}

#[tokio::test]
async fn reading_stops_after_exactly_that_many_bytes() {
    let request = write("k");
    let head = head("k").len();
    for (end, ending) in ENDS {
        for bytes in 0..request.len() {
            let billing = Billing::start().await.unwrap();
            billing.script([Step::StopAfter { bytes, end }]);

            let mut client = Client::connect(billing.addr()).await;
            if bytes > 0 {
                client.send(&request).await;
            }
            assert_eq!(client.ending().await, (String::new(), ending));
            assert!(happened(&billing, 1).contains(&What::Stopped { bytes }));
            assert_eq!(billing.commits(), 0);
            let received = billing.received();
            let body = received.first().map(|request| request.body.len());
            assert_eq!(body, bytes.checked_sub(head), "{bytes}");
            assert!(received.iter().all(|request| !request.complete));
        }
    }
}

#[tokio::test]
async fn a_request_no_longer_than_the_limit_is_read_and_not_committed() {
    let request = write("k");
    for bytes in [request.len(), request.len() + 1] {
        let billing = Billing::start().await.unwrap();
        billing.script([Step::StopAfter {
            bytes,
            end: End::Close,
        }]);

        let mut client = Client::sending(&billing, &request).await;
        assert_eq!(client.ending().await, (String::new(), Ending::Fin));
        assert!(happened(&billing, 1).contains(&What::ReadAll));
        assert!(billing.received()[0].complete);
        assert_eq!(billing.commits(), 0);
    }
}

#[tokio::test]
async fn stopping_after_no_bytes_waits_for_the_next_write_on_an_open_connection() {
    let billing = Billing::start().await.unwrap();

    let mut client = Client::sending(&billing, write("1")).await;
    client.answer().await;
    billing.script([Step::StopAfter {
        bytes: 0,
        end: End::Close,
    }]);
    client.send(get("/refunds")).await;
    assert!(client.answer().await.starts_with("HTTP/1.1 200 "));
    client.send(write("2")).await;
    assert_eq!(client.ending().await, (String::new(), Ending::Fin));
    assert_eq!(billing.commits(), 1);
}

#[tokio::test]
async fn an_answer_is_cut_after_exactly_that_many_bytes() {
    for (end, ending) in ENDS {
        for bytes in 0..=CREATED.len() {
            let billing = Billing::start().await.unwrap();
            billing.script([Step::HalfAnswer { bytes, end }]);

            let mut client = Client::sending(&billing, write("k")).await;
            let start = CREATED[..bytes].to_owned();
            assert_eq!(client.ending().await, (start, ending));
            assert_eq!(billing.commits(), 1);
        }
    }
}

#[tokio::test]
async fn half_an_answer_can_be_followed_by_silence() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::HalfAnswer {
        bytes: 20,
        end: End::Hold,
    }]);

    let mut client = Client::sending(&billing, write("k")).await;
    assert_eq!(client.read(20).await, CREATED[..20]);
    until(&billing, What::Holding).await;
    assert_eq!(client.finish().await.0, "");
}

#[tokio::test]
async fn an_early_answer_comes_before_the_body_was_sent() {
    for (end, ending) in ENDS {
        let billing = Billing::start().await.unwrap();
        billing.script([Step::EarlyAnswer {
            reply: Reply::new(413),
            end,
        }]);

        let mut client = Client::sending(&billing, head("k")).await;
        let answer = "HTTP/1.1 413 \r\ncontent-length: 0\r\n\r\n".to_owned();
        assert_eq!(client.ending().await, (answer, ending));
        assert_eq!(billing.received()[0].body, b"");
        assert_eq!(billing.commits(), 0);
    }
}

#[tokio::test]
async fn an_early_answer_survives_a_body_that_nobody_reads() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::EarlyAnswer {
        reply: Reply::new(413),
        end: End::Close,
    }]);

    let size = 8 * 1024 * 1024;
    let head = format!("POST /refunds HTTP/1.1\r\ncontent-length: {size}\r\n\r\n");
    let mut client = Client::sending(&billing, head).await;
    client.send(vec![b'x'; size]).await;
    let (answer, ending) = client.ending().await;
    assert!(answer.starts_with("HTTP/1.1 413 "));
    assert_eq!(ending, Ending::Fin);
}

#[tokio::test]
async fn a_server_can_speak_first() {
    for (end, ending) in ENDS {
        let billing = Billing::start().await.unwrap();
        billing.script([Step::SpeakFirst {
            bytes: b"HTTP/1.1 503 \r\n\r\n".to_vec(),
            end,
        }]);

        let mut client = Client::connect(billing.addr()).await;
        let said = "HTTP/1.1 503 \r\n\r\n".to_owned();
        assert_eq!(client.ending().await, (said, ending));
        assert_eq!(billing.received(), []);
    }
}

#[tokio::test]
async fn a_committed_write_can_be_answered_with_nonsense() {
    let billing = Billing::start().await.unwrap();
    billing.script([Step::CommitThenSend {
        bytes: b"HTTP/9.9 maybe\r\n".to_vec(),
        end: End::Close,
    }]);

    let mut client = Client::sending(&billing, write("k")).await;
    let said = "HTTP/9.9 maybe\r\n".to_owned();
    assert_eq!(client.ending().await, (said, Ending::Fin));
    assert_eq!(billing.commits(), 1);
}
